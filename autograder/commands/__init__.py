"""What the command line prints: one module for each command that does more than call a function."""
