# From a fresh clone: `make demo` or `make test`. Each sets up what it needs in .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SHELL := /bin/bash
PYTEST := OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n auto --dist loadfile

.PHONY: demo test test-fast lint lint-fast check-docs check-tests docs bench proof same golden renew clean

demo: $(VENV)/.installed
	$(BIN)/dalenius demo

# Everything, side by side: where tests wait for a server, the others use the processor.
test: $(VENV)/.installed-dev
	$(MAKE) --jobs=3 --keep-going check-tests lint check-docs

# What answers within two minutes on two cores: no types, no examples of the documentation, no test that is marked slow.
test-fast: lint-fast
	$(PYTEST) -q -m "not slow"

check-tests: $(VENV)/.installed-dev
	$(PYTEST)

lint: lint-fast
	$(BIN)/mypy

lint-fast: $(VENV)/.installed-dev
	$(BIN)/ruff check src tests scripts benchmarks examples
	$(BIN)/ruff format --check src tests scripts benchmarks examples
	$(BIN)/python scripts/check_layers.py
	$(BIN)/python scripts/check_size.py

check-docs: $(VENV)/.installed-dev
	$(BIN)/python scripts/check_docs.py
	OPENBLAS_NUM_THREADS=1 $(BIN)/python scripts/run_docs.py README.md docs/*.md docs/*/*.md
	$(BIN)/python -m pytest -q -p no:cacheprovider --doctest-modules src/dalenius

# The documentation as a site that needs no network and no server: open site/index.html.
docs: $(VENV)/.installed-dev
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet

bench: $(VENV)/.installed-dev
	$(BIN)/python benchmarks/run.py

# Releases with several modes, 200 seeds each: up to an hour. Writes docs/proof.md, and fails if any answer was falsely certain.
proof: $(VENV)/.installed-dev
	PYTHONPATH=. OPENBLAS_NUM_THREADS=1 $(BIN)/python scripts/proof.py --write

# Does an older revision print and write the same on 200 made-up cases? For example: make same BASE=HEAD~1
same: $(VENV)/.installed-dev
	$(BIN)/python scripts/same.py $(BASE)

# After a change of output that is meant: write the golden files anew, then read their diff.
golden: $(VENV)/.installed-dev
	PYTHONPATH=. OPENBLAS_NUM_THREADS=1 $(BIN)/python scripts/golden.py

# After a new part or a change of output that is meant: write the golden files, and every page that scripts write, anew. Then read
# the diff. The picture of the README is renewed by `scripts/write_picture.py` alone.
renew: $(VENV)/.installed-dev
	set -e; for script in scripts/write_*.py; do \
	  [ $$script = scripts/write_picture.py ] || PYTHONPATH=. $(BIN)/python $$script; done
	PYTHONPATH=. OPENBLAS_NUM_THREADS=1 $(BIN)/python scripts/golden.py

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip

$(VENV)/.installed: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet -e .
	touch $@

$(VENV)/.installed-dev: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet -e '.[dev]'
	touch $@ $(VENV)/.installed

clean:
	rm -rf $(VENV) demo .pytest_cache .mypy_cache .ruff_cache .hypothesis
