"""Questions to students about their own submissions, whose keys are found by running them in the sandbox."""
