"""Many notebooks and many submissions: building an assignment, and the whole cycle with a simulated class."""
