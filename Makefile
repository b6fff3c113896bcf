# `make demo` needs Python 3.11 or newer and make, nothing else. Another Python: make PYTHON=python3.13
PYTHON ?= python3
JOBS ?= 4
VENV := .venv
BIN := $(VENV)/bin
AGREE := $(BIN)/python -m slotwise.benchmarks.experiments engines_agree --faults deep
DEEP := deep-tiny deep-mid-size deep-presolve deep-widely-scaled
PYTEST := $(BIN)/python -m pytest -n $(JOBS) --dist loadfile --no-loadscope-reorder
SPHINX := $(BIN)/python -m sphinx --quiet --fresh-env --fail-on-warning --keep-going --nitpicky
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

.PHONY: demo test test-all test-deep $(DEEP) check docs docs-links wheel-check storm-peer storm-1-peer storm-cluster storm-jar storm-loop kafka yarn clean

demo: $(VENV)/.installed
	$(BIN)/slotwise grade rstorm --methods round-robin,r-storm,r-storm-1.0,r-storm-pseudocode \
		--time-limit 20 --out demo
	$(BIN)/slotwise report demo
	@echo "The report, one page for any browser:"; ls $(CURDIR)/demo/*.html

# About five minutes on two cores: without the tests marked slow.
test: export SLOTWISE_TESTS = fast
# A quarter of an hour: everything but what is marked deep.
test-all: export SLOTWISE_TESTS = all
test-all: $(VENV)/spark.jsa
# More processes than cores, for many tests wait; another number: make test JOBS=8. A file's tests
# run in one process, for they share what is costly to make, in the order of tests/conftest.py. Many
# tests start an interpreter, so bytecode is kept.
test test-all: $(VENV)/.installed-dev
	PYTHONDONTWRITEBYTECODE= $(PYTEST)

# Spark's classes as Java has them in memory: tests start dozens of JVMs, and reading the classes from
# the archive takes each of them seconds less. The pipe ends when Java does.
$(VENV)/spark.jsa: $(VENV)/.installed-dev
	@echo "Archiving Spark's classes (half a minute)"
	@SPARK_SUBMIT_OPTS="-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xlog:disable -XX:ArchiveClassesAtExit=$(CURDIR)/$@" \
		$(BIN)/slotwise measure docs/examples/logs --instance docs/examples/word-count.json \
		--master 'local[2]' --quiet 2>&1 | tail -n 1
	@test -f $@ || echo "Java makes no archive here: tests read the classes one by one"

# Hours. Stopped, it goes on where it was; `make clean` makes it begin again, as changed code should.
# The families at the same time, then the tests in as many processes.
test-deep: $(VENV)/.installed-dev
	$(MAKE) --jobs=$(JOBS) --keep-going $(DEEP)
	SLOTWISE_TESTS=deep PYTHONDONTWRITEBYTECODE= $(PYTEST)
	rm -rf deep
$(DEEP): $(VENV)/.installed-dev
	@mkdir -p deep
	$(AGREE) --family $(@:deep-%=%) --rows deep/$(@:deep-%=%).jsonl $(ASKED)
deep-tiny: ASKED := --count 20000
deep-mid-size: ASKED := --count 500 --time-limit 5
deep-presolve: ASKED := --count 2001
deep-widely-scaled: ASKED := --count 5000

check: $(VENV)/.installed-dev
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

# The pages as HTML. A link between them that leads nowhere is a warning, and each warning an error.
docs: $(VENV)/.installed-docs
	$(SPHINX) --builder html docs docs/_build/html
	@echo "The pages, for any browser:"; ls $(CURDIR)/docs/_build/html/index.html

# Links to other sites, which needs the internet.
docs-links: $(VENV)/.installed-docs
	$(SPHINX) --builder linkcheck docs docs/_build/linkcheck

wheel-check: $(VENV)/.installed-dev
	.ci/wheel-check $(BIN)/python

# Apache Storm's own scheduler, to compare with: needs Maven and Java 17 or newer. storm-1-peer has
# release 1.0.6, whose strategy came from R-Storm's first author. storm-cluster is a Storm in one
# process, and storm-jar has the plans inside Storm.
storm-cluster: FLUX := org.apache.maven.plugins:maven-dependency-plugin:2.10:get -Dtransitive=false \
	-Dartifact=org.apache.storm:flux-core:2.8.3 -Ddest=tests/storm_cluster/target/lib/flux-core.jar
storm-cluster: STORM_POM := tests/storm_cluster/pom.xml
storm-jar: STORM_POM := heuristics/external/storm_programs/planned/pom.xml
storm-peer: STORM_POM := heuristics/external/storm_programs/pom.xml
storm-1-peer: STORM_POM := heuristics/external/storm_programs/storm_1/pom.xml
storm-peer storm-1-peer storm-cluster storm-jar:
	@command -v mvn >/dev/null || { echo "make $@ needs Maven (mvn) and Java 17 or newer" >&2; exit 1; }
	mvn --quiet --batch-mode --file $(STORM_POM) package
# The parent of flux-core's description is not published, so that it cannot be a dependency.
	if [ $@ = storm-cluster ]; then mvn --quiet --batch-mode $(FLUX); fi

# Snapshot, plan, apply and roll back on a Storm in one process, for 33 instances: ten minutes.
storm-loop: storm-cluster storm-jar
	SLOTWISE_TESTS=deep $(BIN)/python -m pytest --verbose tests/models/importers/test_storm_loop.py

# Apache Kafka, and Spark's connector to it, to follow a topic in tests: needs Maven.
kafka:
	@command -v mvn >/dev/null || { echo "make $@ needs Maven (mvn)" >&2; exit 1; }
	mvn --quiet --batch-mode --file tests/kafka/pom.xml package

# Apache Hadoop's small cluster of YARN and HDFS, for Spark in tests: needs Maven.
yarn:
	@command -v mvn >/dev/null || { echo "make $@ needs Maven (mvn)" >&2; exit 1; }
	mvn --quiet --batch-mode --file tests/yarn/pom.xml package

clean:
	rm -rf tests/kafka/target tests/yarn/target tests/storm_cluster/target heuristics/external/storm_programs/planned/target build dist *.egg-info demo deep docs/_build docs/reference/generated heuristics/external/storm_programs/target heuristics/external/storm_programs/storm_1/target $(VENV)

# Without isolation the build uses the pinned setuptools, and nothing is fetched twice.
$(VENV)/.installed: pyproject.toml constraints.txt
	@said=$$($(PYTHON) -c 'import sys; print("%d.%d" % sys.version_info[:2]); sys.exit(3 * (sys.version_info < (3, 11)))' 2>&1); \
		code=$$?; case $$code in \
			0) exit 0 ;; \
			3) why="$(PYTHON) is Python $$said" ;; \
			*) why="$(PYTHON) does not run (exit code $$code: $$(echo "$$said" | tr -s '\n' ' ' | sed 's/ $$//'))" ;; \
		esac; \
		echo "$$why; slotwise needs Python 3.11 or newer: make PYTHON=python3.12 $(MAKECMDGOALS)" >&2; exit 1
	@echo "Setting up $(VENV) (about a minute)"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(PIP) setuptools
	@$(PIP) --no-build-isolation -e .
	@$(BIN)/python -m slotwise.pipeline.spark.java || \
		{ echo "Adding Java as a Python package"; $(PIP) --no-build-isolation -e '.[java]'; }
	@touch $@

$(VENV)/.installed-dev: $(VENV)/.installed
	@$(PIP) --no-build-isolation -e '.[dev,java]'
	@touch $@

$(VENV)/.installed-docs: $(VENV)/.installed
	@$(PIP) --no-build-isolation -e '.[docs]'
	@touch $@
