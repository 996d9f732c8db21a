"""What the commands print: one module for each command that does more than call a function."""
