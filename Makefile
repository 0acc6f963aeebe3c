# Every target makes what it needs, in an environment of its own, and may be the first command ever typed.
PYTHON ?= python3
# What share of the large counts `make soak` runs: 1 takes hours, 0.02 minutes.
SOAK ?= 1
# Which papers' tables `make reproduce` measures.
PAPER ?= mide probe histograms roc streams personal
# Where the papers' data have stand-ins. Named by nobody, it is a folder that may lie beside this one, or none; then the
# tables are those of made-up data only. The command itself reads THRESHER_DATA.
DATA ?= $(if $(THRESHER_DATA),,$(wildcard ../shared/data))
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet install
# An editable install leaves no bytecode behind: then every command would compile what it loads.
COMPILED := $(BIN)/python -m compileall -q src
NO_PACKAGES := Packages could not be installed: the first run needs a package index (PyPI, or one set in PIP_INDEX_URL).

.DEFAULT_GOAL := help
.PHONY: help demo test check bench audit reproduce diagnostic-pictures soak clean

help:  ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 24

demo: $(VENV)/.core  ## a priced, promised decision on made-up data; options: ARGS="--seed 7"
	@$(BIN)/thresher demo $(ARGS)

test: $(VENV)/.test  ## install what the tests need, run them all
	@$(BIN)/python -m pytest --numprocesses=2

check: $(VENV)/.check  ## lint, types, import rules
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(VENV)/.bench  ## speed as ratios to other libraries, measured in one run
	@$(COMPILED)
	@for bench in bench/*.py; do PYTHONPATH=. $(BIN)/python "$$bench" || exit 1; echo; done

audit: $(VENV)/.core  ## put all mechanisms on trial, and all broken ones; options: ARGS="--seed 7"
	@$(BIN)/thresher audit $(ARGS)

reproduce: $(VENV)/.core  ## the papers' tables measured anew; PAPER=mide, DATA=folder of public data sets, ARGS="--runs 10"
	@for paper in $(PAPER); do $(BIN)/python -m papers $$paper $(if $(DATA),--data "$(DATA)") $(ARGS) || exit 1; echo; done

diagnostic-pictures: $(VENV)/.diagnostics  ## the pictures of docs/diagnostics.md made anew; DATA=folder adds public data
	@$(BIN)/python -m papers.pictures.diagnostic_pictures $(if $(DATA),--data "$(DATA)") $(ARGS)

soak: $(VENV)/.test  ## the same tests with many seeds and larger counts
	@$(BIN)/python -m pytest --numprocesses=2 --soak=$(SOAK)

clean:  ## remove all that the other targets made
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache build dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/.made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Thresher needs Python 3.11 or newer; name one with: make PYTHON=python3.12 ...")'
	@echo "Setting up $(VENV) (once) ..."
	@$(PYTHON) -m venv $(VENV) || { echo "No virtual environment could be made: is this Python's venv module installed?"; exit 1; }
	@touch $@

$(VENV)/.core: pyproject.toml $(VENV)/.made
	@$(PIP) --editable . || { echo "$(NO_PACKAGES)" >&2; exit 1; }
	@$(COMPILED)
	@touch $@

$(VENV)/.test $(VENV)/.check $(VENV)/.bench $(VENV)/.diagnostics: $(VENV)/.%: pyproject.toml $(VENV)/.made
	@$(PIP) --editable '.[$*]' || { echo "$(NO_PACKAGES)" >&2; exit 1; }
	@$(COMPILED)
	@touch $@
