# make demo   set up, cluster an embedded data set, write labels and a picture to out/
# make test   set up, check style, imports and types, run the tests
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
SOURCES = pyproject.toml CMakeLists.txt $(wildcard native/*)

.PHONY: demo test lint clean

demo: $(VENV)/.demo
	$(BIN)/python -m diffpeaks.demo

test: lint
	$(BIN)/python -m pytest -q

lint: $(VENV)/.dev
	$(BIN)/ruff check src tests benchmarks examples
	$(BIN)/ruff format --quiet --check src tests benchmarks examples
	$(BIN)/lint-imports --no-logo
	$(BIN)/mypy

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.demo: $(VENV)/bin/python $(SOURCES)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[plot]"
	touch $@

$(VENV)/.dev: $(VENV)/bin/python $(SOURCES)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[dev]"
	touch $@ $(VENV)/.demo

clean:
	rm -rf $(VENV) build out
