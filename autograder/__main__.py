"""`python -m autograder` runs the command line."""

from autograder.cli import main

main()
