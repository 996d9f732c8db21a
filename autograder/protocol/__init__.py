"""Questions out, answers back as data: the codec between the student's process and ours, and what answers there."""
