"""A simulated class: students who make every known mistake, and the demo of a whole term."""
