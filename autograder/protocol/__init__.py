"""Questions out, answers back as data: what answers in the student's process, and the encoding between the two."""
