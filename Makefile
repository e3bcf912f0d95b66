# `make demo` runs the main job, `make test` the tests; both set up a virtual environment first.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Without bytecode of all that is installed, which takes longer than the rest: Python compiles what is imported.
PIP_FLAGS := --quiet --disable-pip-version-check --no-compile --constraint constraints.txt
# EXAMPLES=500 shortens the demo; each length has a folder of its own.
EXAMPLES ?=
DEMO := demo$(if $(EXAMPLES),/$(EXAMPLES)-examples)

.PHONY: help setup test test-library test-long test-all lint docs notebooks demo queue clean

help:
	@echo "make demo   train AOE and its rivals on divisors and conics, print the tables ($(DEMO)/report/table.md)"
	@echo "make test   run all tests but the long ones: a few minutes on two cores"
	@echo "make test-library  those of the library alone"
	@echo "make test-long  run the long ones"
	@echo "make test-all  run the tests, those of large data sets and of Transformers itself too (nightly)"
	@echo "make queue BUDGET=150m  train what experiments/queue.txt lists, with low priority, and stop after that time"
	@echo "make lint   ruff and mypy"
	@echo "make docs   build the site of the documentation (site/index.html)"
	@echo "make notebooks  run the notebooks of examples/ again, and write their outputs"
	@echo "make clean  remove the virtual environment, the site and the demo's files"

setup: $(VENV)/installed

$(VENV)/installed: pyproject.toml lab/pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "adelic needs Python 3.11 or later, this is " \
		+ sys.version.split()[0] + "; name another one: make PYTHON=python3.12 ...")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install $(PIP_FLAGS) --editable '.[dev]' --editable './lab[tune,fabric,ray,tensorboard]'
	@touch $@

# Each worker takes its share of the tests in order, so that a module's fixtures are made once; who is done first helps the
# others. Each collects all tests, too, and loads all libraries: one a core is fastest, but for long tests, some of which wait
# for other processes.
test: setup
	$(BIN)/python -m pytest --numprocesses 2 --dist worksteal

test-library: setup
	$(BIN)/python -m pytest --numprocesses 2 --dist worksteal src tests --ignore tests/lab --ignore tests/experiments

test-long: setup
	$(BIN)/python -m pytest --numprocesses 3 --dist worksteal -m 'long and not slow'

# Without a network, the tests that need more say so, and are skipped; the others run.
test-all: setup
	-$(BIN)/python -m pip install $(PIP_FLAGS) --editable '.[nightly]'
	$(BIN)/python -m pytest --numprocesses 2 --dist worksteal -m ''

lint: setup
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

# Strict: a broken link or anchor is an error. The variable turns a notice of the theme's authors off.
docs: setup
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict

notebooks: setup
	$(BIN)/python examples/run.py examples/*.ipynb

demo: setup
	$(BIN)/adelic reproduce number-theory --quick $(if $(EXAMPLES),--max-examples $(EXAMPLES)) \
		--runs-dir $(DEMO)/runs --results-dir $(DEMO)/results --report $(DEMO)/report

queue: setup
	OMP_NUM_THREADS=1 $(BIN)/python experiments/run_queue.py experiments/queue.txt $(if $(BUDGET),--budget $(BUDGET))

clean:
	rm -rf $(VENV) demo site
