# Each target installs what it needs into its own virtual environment, so any of them may be the first command.
PYTHON ?= python3
# The share of the large counts that `make soak` runs: 1 takes hours, 0.02 takes minutes.
SOAK ?= 1
# The papers whose tables `make reproduce` measures.
PAPER ?= mide probe histograms roc streams personal
# A folder of public data sets that stand in for the papers' data. If nobody names one, a folder beside this one is used if
# it exists; otherwise the tables are about made-up data only. The command itself reads THRESHER_DATA.
DATA ?= $(if $(THRESHER_DATA),,$(wildcard ../shared/data))
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet install
# An editable install compiles nothing, so without this step each command would compile what it loads.
COMPILED := $(BIN)/python -m compileall -q src
NO_PACKAGES := Packages could not be installed: the first run needs a package index (PyPI, or one set in PIP_INDEX_URL).

.DEFAULT_GOAL := help
.PHONY: help demo test check bench audit reproduce diagnostic-pictures soak clean

help:  ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 28

demo: $(VENV)/.core  ## ask about a made-up hospital: plan, answer, ledger; options: ARGS="--seed 7"
	@$(BIN)/thresher demo $(ARGS)

test: $(VENV)/.test  ## install what the tests need, and run them all
	@$(BIN)/python -m pytest --numprocesses=2

check: $(VENV)/.check  ## check style, types and import rules
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(VENV)/.bench  ## measure speed as ratios to other libraries, in one run
	@$(COMPILED)
	@for bench in bench/*.py; do PYTHONPATH=. $(BIN)/python "$$bench" || exit 1; echo; done

audit: $(VENV)/.core  ## try to refute all mechanisms, and catch the broken ones; options: ARGS="--seed 7"
	@$(BIN)/thresher audit $(ARGS)

reproduce: $(VENV)/.core  ## measure the papers' tables again; PAPER=mide, DATA=folder of public data sets, ARGS="--runs 10"
	@for paper in $(PAPER); do $(BIN)/python -m papers $$paper $(if $(DATA),--data "$(DATA)") $(ARGS) || exit 1; echo; done

diagnostic-pictures: $(VENV)/.diagnostics  ## draw the pictures of docs/diagnostics.md again; DATA=folder adds public data
	@$(BIN)/python -m papers.pictures.diagnostic_pictures $(if $(DATA),--data "$(DATA)") $(ARGS)

soak: $(VENV)/.test  ## run the same tests with many seeds and larger counts
	@$(BIN)/python -m pytest --numprocesses=2 --soak=$(SOAK)

clean:  ## remove what the other targets made
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
