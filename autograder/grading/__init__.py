"""One submitted notebook: repair, plan of questions, run, verdicts, report. Knows neither nbgrader nor the class."""
