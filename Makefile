# `make demo` and `make test` set up their environment by themselves: python3 with venv is all they need.
# Another Python gets an environment of its own: `make test PYTHON=python3.13`.
PYTHON ?= python3
VENV ?= $(if $(filter python3,$(PYTHON)),.venv,.venv-$(notdir $(PYTHON)))
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --constraint constraints.txt
PYTEST := OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest --numprocesses auto --dist worksteal
EXTRAS := dev,spark,java,browser,docs,pdf
INTEROP := $(VENV)-interop
SYNTHETIC := $(VENV)-synthetic

.PHONY: demo test test-all slow interop nightly docs proofs lint lock bench mutants synthetic clean

demo: $(VENV)/.demo
	$(BIN)/discreet demo

test: $(VENV)/.dev lint
	$(PYTEST)

test-all: $(VENV)/.all test docs slow interop

slow: $(VENV)/.all
	$(PYTEST) -m slow

nightly: $(VENV)/.all
	$(PYTEST) -m nightly

# causal-learn, pgmpy and DoWhy want versions of their own, and discreet comes from its wheel
interop: $(INTEROP)/.ready
	rm -rf $(INTEROP)/wheel
	$(BIN)/python -m hatchling build -t wheel -d $(CURDIR)/$(INTEROP)/wheel
	$(INTEROP)/bin/python -m pip install --quiet --no-deps --force-reinstall $(INTEROP)/wheel/*.whl
	$(INTEROP)/bin/python -m pip check
	OPENBLAS_NUM_THREADS=1 $(INTEROP)/bin/python -m pytest -c tests/interop/pytest.ini tests/interop

docs: $(VENV)/.all
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo "site/index.html"

proofs: $(VENV)/.all
	$(BIN)/python docs/proofs.py site/theory/proofs.pdf

lint: $(VENV)/.dev
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

bench: $(VENV)/.dev
	$(BIN)/python benchmarks/counting.py
	$(BIN)/python benchmarks/end_to_end.py
	$(BIN)/python benchmarks/many_rows.py

# hours: small faults in the code on which privacy rests, before audits and tests; what is done is not done again
mutants: $(VENV)/.dev
	$(BIN)/python benchmarks/mutants.py map
	$(BIN)/python benchmarks/mutants.py run
	$(BIN)/python benchmarks/mutants.py report

# mbi and causal-learn, for `discreet experiment synthetic`
synthetic: $(SYNTHETIC)/.ready
	$(SYNTHETIC)/bin/python benchmarks/synthesize.py check

%/bin/python:
	$(PYTHON) -m venv $*

$(VENV)/.demo: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(PIP) --editable .
	touch $@

$(VENV)/.dev: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(PIP) --editable ".[dev]"
	touch $@

# one install for everything: with `make test-all` alone, what `test` needs is there already
$(VENV)/.all: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(PIP) --editable ".[$(EXTRAS)]"
	touch $(VENV)/.dev $@

$(INTEROP)/.ready: tests/interop/requirements.txt | $(VENV)/.dev $(INTEROP)/bin/python
	$(INTEROP)/bin/python -m pip install --quiet --disable-pip-version-check --no-compile --no-deps --requirement $<
	touch $@

$(SYNTHETIC)/.ready: benchmarks/synthetic/requirements.txt | $(SYNTHETIC)/bin/python
	$(SYNTHETIC)/bin/python -m pip install --quiet --disable-pip-version-check --no-compile --no-deps --requirement $<
	touch $@

lock: $(VENV)/.all
	$(PIP) --editable ".[$(EXTRAS),peers]"
	$(BIN)/python -m pip list --format freeze --exclude discreet --exclude pip --exclude setuptools > constraints.txt

clean:
	rm -rf .venv .venv-* site .mypy_cache .pytest_cache .ruff_cache .hypothesis
