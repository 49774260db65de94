# Every target makes what it needs: an environment in .venv, the packages in it, the Delta JARs. Nothing else is touched.
PYTHON  ?= python3
# of the environment with the highest versions in `make versions`
PYTHON_NEWEST ?= $(PYTHON)
VENV    := .venv
BIN     := $(VENV)/bin
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

.DEFAULT_GOAL := help
# Another Spark on this machine is none of ours.
unexport SPARK_HOME SPARK_CONF_DIR PYSPARK_SUBMIT_ARGS PYSPARK_PYTHON PYSPARK_DRIVER_PYTHON
.PHONY: help test test-begins deep near spark property faults soak conformance packages databricks wheel dist wheelhouse sbom versions demo integration bench bench-full lint check docs clean java
.NOTPARALLEL:

help: ## what can be made
	@sed -n 's/^\([a-z-]*\):.*## /\1|/p' $(MAKEFILE_LIST) | while IFS='|' read name what; do printf '  make %-12s %s\n' "$$name" "$$what"; done

# Two processes: one has all tests with an embedded Spark, the other begins with those that ask for Spark's meaning.
LANES := -n 2 --dist loadfile --no-loadscope-reorder

test: test-begins java check lint $(VENV)/.compiled $(VENV)/.jars ## types, lint, then the default test suite: about ten minutes
	$(BIN)/python -m pytest $(LANES) -m "not long and not deep" --every-rule frozen --every-rule directed --budget test \
	  $(addprefix tests/,functional property golden unit) $(PYTEST_ARGS)

test-begins:
	@echo "Checks types, format and lint, then runs the tests in two processes: about twelve minutes on two cores, with the first set-up."

# The random cases of the day; the same ones again: make deep SEED=20261128
SEED ?= $(shell date +%Y%m%d)
# No test begins later; those that are left out on a slow machine are others every day.
MINUTES ?= 0

deep: java $(VENV)/.compiled $(VENV)/.jars ## what `make test` leaves out, and new random cases every day: about forty minutes; SEED=20261128 MINUTES=30
	@echo "Random cases are drawn from seed $(SEED). The same ones again: make deep SEED=$(SEED)"
	$(BIN)/python -m pytest $(LANES) -m "(deep or random) and not long" --budget deep --minutes $(MINUTES) \
	  --hypothesis-profile=daily --hypothesis-seed=$(SEED) $(addprefix tests/,property functional install golden unit) $(PYTEST_ARGS)

near: java $(VENV)/.compiled $(VENV)/.jars ## the tests that are nearest to a file, for two minutes: make near FILE=dbt_idivm/operators/select.py
	@test -f "$(FILE)" || { echo "Say which file was changed: make near FILE=dbt_idivm/operators/select.py"; exit 1; }
	$(BIN)/python -m pytest -n 2 --dist load -m "not long and not deep" --near $(FILE) -q $(addprefix tests/,property golden unit) $(PYTEST_ARGS)

spark: java $(VENV)/.dev $(VENV)/.jars ## every test on Spark + Delta, of which the default suite has a part: about an hour
	$(BIN)/python -m pytest -n 2 --dist loadscope --no-loadscope-reorder $(addprefix tests/,functional install) $(PYTEST_ARGS)

property: java $(VENV)/.compiled ## 100,000 random cases of maintenance against recomputation, on two engines, and what they reached: hours
	$(BIN)/python -m pytest -n 2 --dist worksteal tests/property --hypothesis-profile=long \
	  --every-rule random --every-rule directed -q $(PYTEST_ARGS)

faults: java $(VENV)/.dev $(VENV)/.jars ## interrupt refreshes at every statement, kill dbt thirty times, and count the results
	$(BIN)/python -m pytest $(addprefix tests/functional/,test_crashes.py test_crashes_servers.py test_crashes_warehouse.py test_two_runs_warehouse.py test_kills.py test_other_writers.py) --every-point --points 1000 -q $(PYTEST_ARGS)
	$(BIN)/python -m pytest $(addprefix tests/functional/,test_source_changes.py test_concurrent_runs.py test_age.py) -q $(PYTEST_ARGS)

soak: java $(VENV)/.dev $(VENV)/.jars ## two hours of batches, edits, interruptions, two writers, upkeep and changes of sources; ARGS="--minutes 10 --seed 7"
	$(BIN)/python -m tests.soak $(ARGS)

conformance: java $(VENV)/.dev $(VENV)/.jars ## dbt's own tests of adapters, embedded, over a Spark Thrift Server and over Spark Connect
	@$(BIN)/python -m pytest tests/conformance -n 2 --dist loadscope -q -W default --disable-warnings $(PYTEST_ARGS); failed=$$?; \
	  for server in thrift connect; do \
	    $(BIN)/python -m pytest tests/conformance -q -W default --disable-warnings --server $$server $(PYTEST_ARGS) || failed=1; \
	  done; exit $$failed

packages: java $(VENV)/.dev $(VENV)/.jars ## models of public dbt packages, maintained through mixed batches; PACKAGES=folder with them, else dbt deps
	$(BIN)/python -m pytest tests/packages -q -W default --disable-warnings $(PYTEST_ARGS)

databricks: java $(VENV)/.databricks $(VENV)/.jars ## projects over dbt-databricks on a stand-in for a cluster and for a SQL warehouse
	PYTHONPATH=$(CURDIR) $(VENV)/databricks/bin/python -m pytest tests/functional/test_databricks.py -q -W default $(PYTEST_ARGS)

wheel: java $(VENV)/.dev $(VENV)/.jars ## build the wheel into dist/; install it with pip and uv on each Python from 3.11 on that is here, and use it
	$(BIN)/python -m hatchling build -d dist
	$(BIN)/python -m pytest tests/install --from-index -rs $(PYTEST_ARGS)

dist: $(BIN)/python ## the sdist and the wheel of a release, into dist/
	@$(INSTALL) 'hatchling>=1.27'
	rm -f dist/*.whl dist/*.tar.gz
	$(BIN)/python -m hatchling build -d dist

# What a user installs, so without the constraints. `pip wheel` builds the packages that have no wheel: pyspark, for one.
WHEELHOUSE := dist/wheelhouse
wheelhouse: $(BIN)/python ## a wheel of each package that [embedded] needs, into dist/wheelhouse; install them without an index, and use them
	rm -rf $(WHEELHOUSE) $(VENV)/wheelhouse
	$(BIN)/python -m pip wheel --quiet --disable-pip-version-check -w $(WHEELHOUSE) '.[embedded]'
	$(PYTHON) -m venv $(VENV)/wheelhouse
	$(VENV)/wheelhouse/bin/python -m pip install --quiet --disable-pip-version-check --no-index --find-links $(WHEELHOUSE) 'dbt-idivm[embedded]'
	$(VENV)/wheelhouse/bin/python -m pip check
	$(VENV)/wheelhouse/bin/idivm --version
	$(VENV)/wheelhouse/bin/idivm explain tests/install/order_names/model.sql --schema tests/install/order_names/schema.yml > $(VENV)/wheelhouse/explained.txt
	@grep -q '^MERGE INTO' $(VENV)/wheelhouse/explained.txt || { cat $(VENV)/wheelhouse/explained.txt; exit 1; }
	@echo "$$(ls $(WHEELHOUSE) | wc -l) wheels, $$(du -sh $(WHEELHOUSE) | cut -f1), with $$(ls $(WHEELHOUSE) | grep -i '^dbt_core-')"
	@touch $(VENV)/.wheelhouse

$(VENV)/.wheelhouse: pyproject.toml
	@$(MAKE) --no-print-directory wheelhouse

sbom: $(VENV)/.wheelhouse ## what the extra [embedded] installs: a bill of materials (CycloneDX) and a table of licences, into dist/sbom
	@$(PYTHON) -m venv $(VENV)/sbom
	@$(VENV)/sbom/bin/python -m pip install --quiet --disable-pip-version-check 'cyclonedx-bom>=7' 'pip-licenses>=5'
	mkdir -p dist/sbom
	$(VENV)/sbom/bin/cyclonedx-py environment --pyproject pyproject.toml --output-reproducible --output-format JSON --output-file dist/sbom/sbom.cdx.json $(VENV)/wheelhouse/bin/python
	$(VENV)/sbom/bin/pip-licenses --python $(VENV)/wheelhouse/bin/python --format markdown --with-urls --output-file dist/sbom/licences.md

versions: java $(VENV)/.dev $(VENV)/.jars ## the tests with the lowest and the highest declared versions, in new environments, and over servers of other Sparks; ARGS="only=servers conformance=whole"
	$(BIN)/python tests/install/versions.py $(VENV)/versions $(PYTHON) $(PYTHON_NEWEST) $(ARGS)

demo: java $(VENV)/.demo $(VENV)/.jars ## six maintained models over three years of flights, four rounds of changes
	@$(BIN)/python examples/nycflights/demo.py
	@echo "Last, and once: a class archive, so that Spark starts faster from now on (a minute; Ctrl-C leaves it out) .."
	@$(BIN)/python -m dbt.adapters.idivm.prepare --fast-start

integration: java $(VENV)/.integration $(VENV)/.jars ## a retail warehouse of 250 models through six batches of change; ARGS="--target thrift" or connect for a server
	@$(BIN)/python integration_tests/run.py $(ARGS)

# How planning grows with the model is measured without Spark: `python -m benchmarks.planner`.
bench: java $(VENV)/.bench $(VENV)/.jars ## refreshes timed beside rebuilds and beside the cheapest possible MERGE: about twenty minutes
	$(BIN)/python -m benchmarks --suite bench $(BENCH_ARGS)

bench-full: java $(VENV)/.bench $(VENV)/.jars ## the same at the sizes of the papers: hours, and 100 GB of disk
	$(BIN)/python -m benchmarks --suite full --memory 8g $(BENCH_ARGS)

lint: $(VENV)/.dev ## ruff
	$(BIN)/ruff check .
	$(BIN)/ruff format --check --quiet . || { echo "Run: $(BIN)/ruff format ."; exit 1; }

check: $(VENV)/.dev ## types
	$(BIN)/mypy

docs: $(VENV)/.dev ## the pages and pictures that are made from the code, then the site: build/site/index.html
	$(BIN)/python -m dbt_idivm.docs
	$(BIN)/python -m tests.conformance.table
	$(BIN)/python -m tests.packages.table
	$(BIN)/python -m tests.functional.drifts
	$(BIN)/python -m tests.functional.readers
	$(BIN)/python -m benchmarks.pictures
	@$(MAKE) --no-print-directory $(VENV)/.docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict -f docs/site/mkdocs.yml
	@echo "Open build/site/index.html."

clean: ## remove the environment and everything that tools left here
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# Before anything is installed; `prepare` below also checks the version. Spark's scripts prefer JAVA_HOME, and use no other if it is set.
java:
	@test -z "$$JAVA_HOME" || test -x "$$JAVA_HOME/bin/java" || \
	  { echo "JAVA_HOME is $$JAVA_HOME, but there is no bin/java in it: set it to a Java 17 or 21, or unset it."; exit 1; }
	@test -n "$$JAVA_HOME" || command -v java > /dev/null || \
	  { echo "Java 17 or 21 is needed and none was found: install it (Debian, Ubuntu: openjdk-17-jre-headless) or set JAVA_HOME."; exit 1; }
	@test -z "$(SPARK_HOME)" || echo "SPARK_HOME is $(SPARK_HOME); it is not used here: Spark is that of pyspark in $(VENV)."

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || \
	  { echo "This project needs Python 3.11 or newer, and '$(PYTHON)' is not: make PYTHON=/path/to/python3.11 .."; exit 1; }
	@echo "Making an environment in $(VENV) .."
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); \
	  echo "'$(PYTHON) -m venv' failed: on Debian and Ubuntu it is in the package python3-venv."; exit 1; }

$(VENV)/.dev: $(BIN)/python pyproject.toml constraints.txt
	@echo "Installing the project with its test tools (once) .."
	@$(INSTALL) -e '.[dev]'
	@touch $@

# sqlglot's compiled build, where there is a wheel of it: random tests take a quarter less time. `make versions` tests both builds.
$(VENV)/.compiled: $(VENV)/.dev
	@$(INSTALL) --only-binary :all: "sqlglotc==$$($(BIN)/python -c 'import sqlglot; print(sqlglot.__version__)')" 2> /dev/null || \
	  echo "No compiled sqlglot for this platform or its version: the tests take a little longer."
	@touch $@

$(VENV)/.demo: $(BIN)/python pyproject.toml constraints.txt
	@echo "Installing the project with the demo's data (once) .."
	@$(INSTALL) -e '.[pyspark,demo]'
	@touch $@

$(VENV)/.integration: $(BIN)/python pyproject.toml constraints.txt
	@echo "Installing the project (once) .."
	@$(INSTALL) -e '.[pyspark,pyhive]'
	@touch $@

$(VENV)/.docs: $(VENV)/.dev pyproject.toml constraints.txt
	@echo "Installing the tools of the site (once) .."
	@$(INSTALL) -e '.[docs]'
	@touch $@

# Apart: dbt-databricks asks for an older dbt-spark, and for another dbt-core.
$(VENV)/.databricks: pyproject.toml
	@echo "Making an environment with dbt-databricks (once) .."
	@$(PYTHON) -m venv $(VENV)/databricks
	@$(VENV)/databricks/bin/python -m pip install --quiet --disable-pip-version-check '.[databricks,pyspark]' pytest hypothesis
	@touch $@

$(VENV)/.bench: $(BIN)/python pyproject.toml constraints.txt
	@echo "Installing the project with the tools of its benchmarks (once) .."
	@$(INSTALL) -e '.[bench]'
	@touch $@

# Needs one of these installs, whichever the target above asked for first; so it has no prerequisite of its own.
$(VENV)/.jars:
	@echo "Looking for Java and for the Delta JARs that fit the installed Spark (downloaded once) .."
	@$(BIN)/python -m dbt.adapters.idivm.prepare
	@touch $@
