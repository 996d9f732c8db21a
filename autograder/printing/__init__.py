"""An exam on paper: sheets for seats, their keys, and the table that ties both to students and seeds."""
