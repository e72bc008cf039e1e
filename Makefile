# Everything runs from .venv; nothing is installed outside this folder.

PYTHON ?= python3
BIN := .venv/bin
# A Debian without python3-venv has pip all the same.
VENV := $(PYTHON) -m venv .venv 2>/dev/null || \
	(rm -rf .venv && $(PYTHON) -m pip install -q --target .bootstrap virtualenv && \
	PYTHONPATH=.bootstrap $(PYTHON) -m virtualenv -q .venv)

.PHONY: install serve test test-full check faults soak bench docs clean

install: .venv/serve.done

serve: install
	@exec $(BIN)/chorus serve

# Most tests wait for something: three at a time. Those that take times have the machine for themselves.
test: .venv/test.done
	rm -f .coverage .coverage.*
	$(BIN)/coverage run -m pytest -n 3 --dist worksteal -m "not measured"
	$(BIN)/coverage run -m pytest -m measured tests/faults
	$(BIN)/coverage combine -q
	$(BIN)/coverage report --fail-under=95

test-full: .venv/test.done
	$(BIN)/pytest --long --timeout 1200

faults: .venv/test.done
	$(BIN)/pytest --long --timeout 1200 -v tests/faults

soak: .venv/test.done
	$(BIN)/python -m tests.load.soak

check: .venv/test.done
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: .venv/test.done
	$(BIN)/python -m tests.load.encoders
	$(BIN)/python -m tests.load.gate
	$(BIN)/python -m tests.load.scripts
	$(BIN)/python -m tests.load.refusals
	$(BIN)/python -m tests.load.overhead
	$(BIN)/python -m tests.load.adaptive
	$(BIN)/python -m tests.load.metering

docs: .venv/test.done
	$(BIN)/python docs/build.py

clean:
	rm -rf .venv .bootstrap

.venv/serve.done: pyproject.toml
	@test -x $(BIN)/python || { echo "creating .venv"; $(VENV); }
	@echo "installing chorus (once; about half a minute)"
	@$(BIN)/python -m pip install -q --disable-pip-version-check -e .
	@touch $@

.venv/test.done: pyproject.toml .venv/serve.done
	@$(BIN)/python -m pip install -q --disable-pip-version-check -e ".[test,check]"
	@touch $@
