# make demo   set up, cluster an embedded data set, write labels and a picture to out/
# make test   set up, check style, imports and types, run the tests
# make docs   set up, build the site of the documentation into docs/_build/html and check its links
# make sanitize   run the tests of the compiled core under the address and undefined-behaviour sanitizers
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
SOURCES = pyproject.toml CMakeLists.txt $(wildcard native/* native/kernels/*)

.PHONY: demo test lint docs sanitize clean

demo: $(VENV)/.demo
	$(BIN)/python -m diffpeaks.demo

test: lint
	$(BIN)/python -m pytest -q

lint: $(VENV)/.dev
	$(BIN)/ruff check src tests benchmarks examples docs/_site
	$(BIN)/ruff format --quiet --check src tests benchmarks examples docs/_site
	$(BIN)/lint-imports --no-logo
	$(BIN)/mypy

SITE = docs/_build/html

docs: $(VENV)/.dev
	$(BIN)/python -m sphinx -W --keep-going --fresh-env --quiet -c docs/_site -d docs/_build/doctrees . $(SITE)
	$(BIN)/python docs/_site/check_links.py $(SITE)

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.demo: $(VENV)/bin/python $(SOURCES)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[plot]"
	touch $@

$(VENV)/.dev: $(VENV)/bin/python $(SOURCES)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[dev]"
	touch $@ $(VENV)/.demo

SANITIZED = build/sanitized
NATIVE_TESTS = $(addprefix tests/,graph neighbors density forest cuts baselines results/test_edits.py results/test_sweeps.py \
	test_bad_input.py test_clusterers.py test_edge_cases.py)
# these weigh the process, and sanitizers make it heavier
NOT_SANITIZED = $(addprefix --ignore=tests/,graph/test_graph_file.py neighbors/test_plan.py)

sanitize:
	$(PYTHON) -m venv $(SANITIZED)
	$(SANITIZED)/bin/python -m pip install --quiet --disable-pip-version-check \
		-C cmake.define.DIFFPEAKS_SANITIZE=ON -C build-dir=build/sanitize ".[dev]"
	LD_PRELOAD="$$(gcc -print-file-name=libasan.so) $$(gcc -print-file-name=libstdc++.so)" ASAN_OPTIONS=detect_leaks=0 \
		$(SANITIZED)/bin/python -m pytest -q -p no:cacheprovider $(NATIVE_TESTS) $(NOT_SANITIZED)

clean:
	rm -rf $(VENV) build out docs/_build docs/gallery docs/reference
