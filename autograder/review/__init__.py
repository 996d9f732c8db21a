"""The grader's queue in the browser: cards of held answers, a rubric to click, and the server that hands them out."""
