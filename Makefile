# make demo   set up, cluster an embedded data set, write labels and a picture to out/
# make test   set up, check style, imports and types, run the tests
# make test-minimum   run the tests with the oldest versions of packages that pyproject.toml allows
# make lint-page   check the JavaScript of the explorer and of reports; needs npm
# make docs   set up, build the site of the documentation into docs/_build/html and check its links
# make benchmarks-smoke   run a small share of the benchmarks, to see that they run; results in build/benchmarks-smoke
# make wheels   build the sdist and Linux wheels into dist/, try them on every Python at hand, or on PYTHONS="..."
# make sanitize   run the tests of the compiled core under the address and undefined-behaviour sanitizers
# make sanitize-threads   run those that loop on several threads under the thread sanitizer
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
SOURCES = pyproject.toml CMakeLists.txt benchmarks/paper/pyproject.toml $(wildcard native/* native/kernels/*)

.PHONY: demo test test-minimum lint lint-page docs benchmarks-smoke wheels sanitize sanitize-threads clean

demo: $(VENV)/.demo
	$(BIN)/python -m diffpeaks.cli.demonstration

test: lint
	$(BIN)/python -m pytest -q

MINIMUM = build/minimum

# deprecations are no errors there: old packages call what newer ones beside them have deprecated;
# where array-api-compat is installed, the estimator checks of scikit-learn 1.6 need SCIPY_ARRAY_API=1
test-minimum:
	$(PYTHON) -m venv $(MINIMUM)
	$(PYTHON) packaging/minimum.py > $(MINIMUM)/constraints.txt
	$(MINIMUM)/bin/python -m pip install --quiet --disable-pip-version-check \
		-c $(MINIMUM)/constraints.txt ".[dev]" ./benchmarks/paper
	SCIPY_ARRAY_API=1 $(MINIMUM)/bin/python -m pytest -q -p no:cacheprovider -W default::DeprecationWarning tests

PYTHON_SOURCES = src tests benchmarks examples docs/_site packaging

lint: $(VENV)/.dev
	$(BIN)/ruff check $(PYTHON_SOURCES)
	$(BIN)/ruff format --quiet --check $(PYTHON_SOURCES)
	$(BIN)/lint-imports --no-logo
	$(BIN)/mypy

ESLINT = packaging/javascript

lint-page:
	npm install --prefix $(ESLINT) --silent --no-package-lock
	$(ESLINT)/node_modules/.bin/eslint -c $(ESLINT)/eslint.config.mjs \
		src/diffpeaks/explorer/page src/diffpeaks/report/templates

SITE = docs/_build/html

docs: $(VENV)/.dev
	$(BIN)/python -m sphinx -W --keep-going --fresh-env --quiet -c docs/_site -d docs/_build/doctrees . $(SITE)
	$(BIN)/python docs/_site/check_links.py $(SITE)

SMOKE = build/benchmarks-smoke

benchmarks-smoke: $(VENV)/.dev
	mkdir -p $(SMOKE)
	$(BIN)/python benchmarks/scaling/after_graph.py --samples 20000 --repeats 1 | tee $(SMOKE)/after_graph.jsonl
	$(BIN)/python benchmarks/scaling/kd_tree.py --samples 20000 --features 2 --dtypes float32 --repeats 1 --sides ours scipy_plain \
		| tee $(SMOKE)/kd_tree.jsonl
	$(BIN)/python benchmarks/peers/run.py --sets digits --systems diffpeaks "scikit-learn HDBSCAN" --repeats 1 \
		--output $(SMOKE)/peers.jsonl
	$(BIN)/python benchmarks/peers/table.py $(SMOKE)/peers.jsonl
	$(BIN)/diffpeaks paper table1 --read --results benchmarks/results/paper.jsonl --output $(SMOKE)/paper

wheels:
	$(PYTHON) packaging/wheels.py $(PYTHONS)

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
	rm -rf $(VENV) build dist out docs/_build docs/gallery docs/reference
