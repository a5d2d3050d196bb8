# make demo   set up, cluster an embedded data set, write labels and a picture to out/
# make test   set up, check style, imports and types, run the tests
# make docs   set up, build the site of the documentation into docs/_build/html and check its links
# make sanitize   run the tests of the compiled core under the address and undefined-behaviour sanitizers
# make sanitize-threads   run those that loop on several threads under the thread sanitizer
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
SOURCES = pyproject.toml CMakeLists.txt benchmarks/paper/pyproject.toml $(wildcard native/* native/kernels/*)

.PHONY: demo test lint docs sanitize sanitize-threads clean

demo: $(VENV)/.demo
	$(BIN)/python -m diffpeaks.cli.demonstration

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
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[dev]" -e ./benchmarks/paper
	touch $@ $(VENV)/.demo

NATIVE_TESTS = $(addprefix tests/,native graph neighbors density forest cuts maps baselines \
	results/test_edits.py results/test_sweeps.py test_bad_input.py test_clusterers.py test_edge_cases.py)
# those that loop on several threads
THREAD_TESTS = $(addprefix tests/,native/test_loops.py neighbors/test_trees.py density/test_smoothing.py forest)
# these weigh the process, and sanitizers make it heavier
NOT_SANITIZED = $(addprefix --ignore=tests/,graph/test_graph_file.py neighbors/test_plan.py)

# an environment with the core as the sanitizers want it
define install_sanitized
	$(PYTHON) -m venv $(SANITIZED)
	$(SANITIZED)/bin/python -m pip install --quiet --disable-pip-version-check \
		-C cmake.define.DIFFPEAKS_SANITIZE=$(SANITIZERS) -C build-dir=$(SANITIZED)/core ".[dev]" ./benchmarks/paper
endef
SANITIZED_PYTEST = $(SANITIZED)/bin/python -m pytest -q -p no:cacheprovider
STANDARD_LIBRARY = $$(gcc -print-file-name=libstdc++.so)

sanitize: SANITIZED = build/sanitized
sanitize: SANITIZERS = address,undefined
sanitize:
	$(install_sanitized)
	LD_PRELOAD="$$(gcc -print-file-name=libasan.so) $(STANDARD_LIBRARY)" ASAN_OPTIONS=detect_leaks=0 \
		$(SANITIZED_PYTEST) $(NATIVE_TESTS) $(NOT_SANITIZED)

# BLAS on one thread: it is not built with the sanitizer, which would take what it synchronises for races
sanitize-threads: SANITIZED = build/sanitized-threads
sanitize-threads: SANITIZERS = thread
sanitize-threads:
	$(install_sanitized)
	LD_PRELOAD="$$(gcc -print-file-name=libtsan.so) $(STANDARD_LIBRARY)" TSAN_OPTIONS=halt_on_error=1 \
		OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(SANITIZED_PYTEST) $(THREAD_TESTS)

clean:
	rm -rf $(VENV) build out docs/_build docs/gallery docs/reference
