"""Our models and their peers side by side, one command each: `python -m benchmarks.models`."""
