"""Auto-graded exercises and exams for a deep-learning course."""
