# `make demo` and `make test` set up their environment by themselves: python3 with venv is all they need.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PYTEST := OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest --numprocesses auto --dist worksteal

.PHONY: demo test test-all docs lint lock bench clean

demo: $(VENV)/.demo
	$(BIN)/discreet demo

test: $(VENV)/.dev lint
	$(PYTEST)

test-all: test $(VENV)/.peers docs
	$(PYTEST) -m slow

docs: $(VENV)/.docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo "site/index.html"

lint: $(VENV)/.dev
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

bench: $(VENV)/.dev
	$(BIN)/python benchmarks/counting.py
	$(BIN)/python benchmarks/end_to_end.py
	$(BIN)/python benchmarks/many_rows.py

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.demo: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable .
	touch $@

$(VENV)/.dev: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[dev]"
	touch $@

$(VENV)/.peers: $(VENV)/.dev
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[dev,peers,spark,java,browser]"
	touch $@

$(VENV)/.docs: $(VENV)/.dev
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[dev,docs]"
	touch $@

lock: $(VENV)/.peers $(VENV)/.docs
	$(BIN)/python -m pip list --format freeze --exclude discreet --exclude pip --exclude setuptools > constraints.txt

clean:
	rm -rf $(VENV) site .mypy_cache .pytest_cache .ruff_cache .hypothesis
