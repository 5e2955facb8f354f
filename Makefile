# `make demo` shows it, `make test` tests it; each sets up all it needs.  PYTHON=... chooses the Python.
SHELL := /bin/bash
.DEFAULT_GOAL := help
.PHONY: help environment kernels demo test test-slow test-nightly interfaces launch-tests jazzy-tests lint docs audit bench lock clean

PYTHON ?=
BENCH ?= model
ARGS ?=
SOURCES ?=
run := .venv/bin/python

# A ROS installation or another environment that happens to be sourced must not be mixed in.
unexport PYTHONPATH PYTHONHOME VIRTUAL_ENV AMENT_PREFIX_PATH COLCON_PREFIX_PATH
unexport RMW_IMPLEMENTATION ROS_DISTRO _ROS_WHEELS_BOOTSTRAP_COMPLETE
ifneq ($(AMENT_PREFIX_PATH)$(_ROS_WHEELS_BOOTSTRAP_COMPLETE),)
unexport LD_LIBRARY_PATH
endif
# Without bytecode every process that a test starts would compile the package anew.
unexport PYTHONDONTWRITEBYTECODE

help:
	@echo 'make demo    see what it does'
	@echo 'make test    run the tests            (ARGS="-k interval" chooses)'
	@echo 'make test-slow     run what else has to pass: loops of processes, more cases of each test'
	@echo 'make test-nightly  run the longest tests: whole loops in real time, many more seeds'
	@echo 'make interfaces    actions for a ROS from wheels; prints what to put on PYTHONPATH'
	@echo 'make launch-tests  launch files and commands of the real ros2 (SOURCES=folder; says which)'
	@echo 'make jazzy-tests   nodes, and starting them, on rclpy of Jazzy in an environment of its own'
	@echo 'make lint    ruff and mypy --strict'
	@echo 'make docs    build the documentation site in build/site, with warnings as errors'
	@echo 'make audit   look up known vulnerabilities of every locked package'
	@echo 'make bench   print figures            (BENCH=model, ARGS=--quick)'
	@echo 'make lock    make requirements.lock anew from requirements.in'
	@echo 'make clean   delete what was built    (.venv stays; rm -r .venv makes the next command set it up anew)'

environment:
	@PYTHON='$(PYTHON)' tools/setup_environment.sh

# What tests and loops would compile twice, each process for itself.
kernels: environment
	@$(run) -m safe_sysid.cli warm-up

demo: environment
	@$(run) -m safe_sysid.cli demo $(ARGS)

test: environment kernels
	@echo 'test: pytest'
	@$(run) -m pytest -q -n auto --dist loadfile $(ARGS)

test-slow: environment kernels
	@echo 'test: pytest -m slow'
	@$(run) -m pytest -q -n auto --dist loadfile -m 'slow and not nightly' $(ARGS)

# One after the other: loops in real time leave no core for a second one.
test-nightly: environment kernels
	@echo 'test: pytest -m nightly'
	@$(run) -m pytest -q -m nightly $(ARGS)

interfaces: environment
	@$(run) tools/interfaces.py

# SOURCES: folder with clones of ros2/launch, ros2/launch_ros and ros2/ros2cli
launch-tests: environment
	@tools/launch_tests.sh '$(SOURCES)' $(ARGS)

jazzy-tests: environment
	@tools/jazzy_tests.sh $(ARGS)

lint: environment
	@echo 'lint: ruff format --check'
	@$(run) -m ruff format --quiet --check .
	@echo 'lint: ruff check'
	@$(run) -m ruff check --quiet .
	@echo 'lint: mypy --strict'
	@$(run) -m mypy --no-error-summary

# Not --quiet: --strict counts only warnings that are printed.
docs: environment
	@echo 'docs: mkdocs build --strict, into build/site'
	@NO_MKDOCS_2_WARNING=1 $(run) -m mkdocs build --strict

audit: environment
	@$(run) tools/audit.py

bench: environment
	@$(run) -m safe_sysid.cli bench $(BENCH) $(ARGS)

lock: environment
	@echo 'lock: newest versions that fit together on Python 3.10 and later'
	@$(run) -m uv pip compile --quiet --upgrade --universal --python-version 3.10 \
	    --no-python-downloads --no-annotate --generate-hashes --custom-compile-command 'make lock' \
	    requirements.in --output-file requirements.lock

clean:
	@echo 'clean: build, install and log folders, caches'
	@rm -rf build install log *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	@find . -path ./.venv -prune -o -name __pycache__ -type d -print0 | xargs -0 -r rm -rf
