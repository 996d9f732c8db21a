"""After the exam: how the class did, marks for other systems and back from them, and answers that are alike."""
