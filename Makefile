# Everything is done with the interpreter of .venv; nothing needs an activated environment.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# One more than the cores of a small machine: many tests wait for a process to end.
JOBS ?= 3
# Tests run side by side and compute on small tensors: one thread each. A file's tests run in one worker: what they share
# is made once.
test rest: export OMP_NUM_THREADS := 1
# Of the hundreds of interpreters that tests start, only the first one compiles our modules.
test rest: export PYTHONDONTWRITEBYTECODE :=
PYTEST := $(BIN)/pytest -n $(JOBS) --dist loadfile --durations=20
# The markers of pyproject.toml.
NEEDS := answers or browser or compiler or environment or site or training

.PHONY: help setup demo test rest docs lint constraints audit clean

help:            ## what can be made
	@grep -hE '^[a-z]+: .*##' $(MAKEFILE_LIST) | sed -E 's/: .*## */\t/' | expand -t 12

setup: $(VENV)/.installed   ## make .venv with everything a developer needs

# With another interpreter, beside the first: make PYTHON=/usr/bin/python3 VENV=/tmp/venv setup demo
# The constraints pin what is installed; pyproject.toml says which ranges work.
$(VENV)/.installed: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; assert sys.version_info >= (3, 11), "Python 3.11 or newer is needed, this is " + sys.version' 
	@$(PYTHON) -c 'import venv, ensurepip' || { echo "This Python cannot make environments: install its venv package (Debian: apt-get install python3-venv)"; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[development]'
	@touch $@

demo: setup      ## a whole term with a simulated class, in a temporary folder
	$(BIN)/autograder demo

audit: setup     ## check every problem before release
	$(BIN)/autograder audit

lint: setup      ## style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

constraints: setup ## whether the pinned versions fit every Python that pyproject.toml admits (needs the package index)
	$(BIN)/python .ci/constraints.py

test: setup lint ## style, types and every test that needs no more than this environment
	$(PYTEST) -m 'not ($(NEEDS))'

rest: setup      ## the tests that need minutes, a browser, a compiler, another environment, the site or training
	$(PYTEST) -m '$(NEEDS)'

docs: setup      ## the documentation site, docs/_site/index.html; a warning is an error
	$(BIN)/sphinx-build --quiet --fail-on-warning --keep-going docs docs/_site

clean:           ## remove the environment and caches
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache
