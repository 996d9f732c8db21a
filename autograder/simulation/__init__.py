"""A simulated class: personas that make every known mistake, and the demo that takes them through a term."""
