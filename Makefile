# What one does with this project. Each target installs from Debian what it lacks, or says what to install (exit code 69).

SWIFT = $(shell Tests/Scripts/find_swift)
SOURCES = Sources Tests Package.swift
# One set of flags for building and testing, so that neither undoes the other's work.
CHECKED = -Xswiftc -warnings-as-errors -Xcc -Werror -Xcxx -Werror
RELEASE = --configuration release
RELEASE_TESTS = $(RELEASE) -Xswiftc -enable-testing
# The checks run on Debian's Python, which is what has Debian's jsonschema.
PYTHON = /usr/bin/python3
# The rival in Go uses Debian's sources of golang.org/x/net, and no network.
GO_BUILD = GO111MODULE=off GOFLAGS= GOPATH=/usr/share/gocode go build

.PHONY: demo test build release bench thresholds fuzz simulate fault-tests plan-model format lint check-scripts defects fresh-machine clean

## A few hundred deliveries through everything, over TLS to the bundled simulator, in about half a minute
demo: release
	.build/release/waypulse demo

## All checks
test: lint check-scripts build release
	$(SWIFT) test --parallel $(CHECKED)
	$(PYTHON) Tests/Scripts/test_api_contract.py .build/release/waypulse
	$(PYTHON) Tests/Scripts/test_api_floods.py .build/release/waypulse
	$(PYTHON) Tests/Scripts/check_deploy .build/release/waypulse
	$(PYTHON) Tests/Scripts/test_command_line.py .build/release/waypulse
	$(PYTHON) Tests/Scripts/check_readme
	$(PYTHON) Tests/Scripts/check_readme deploy/simulator.md
	$(PYTHON) Tests/Scripts/test_feedback.py .build/release/waypulse
	.build/release/waypulse simulate faults --seeds 5000 --complete
	Tests/Scripts/check_plan_model .build/release/waypulse
	$(PYTHON) Tests/Faults/run --short
	$(PYTHON) Tests/Faults/test_sources.py .build/release/waypulse
	$(SWIFT) build $(RELEASE) --product waypulse-bench
	$(PYTHON) Tests/Scripts/test_sink.py .build/release/waypulse-bench
	$(PYTHON) benchmarks/thresholds --allocations

## Debug build, warnings are errors
build: dependencies-build
	$(SWIFT) build --build-tests $(CHECKED)

## Release build: .build/release/waypulse
release: dependencies-build
	$(SWIFT) build $(RELEASE) --product waypulse

## Measures what benchmarks/README.md states and writes it there; ONLY=decode (or another part, or thresholds) measures that and writes nothing; MINUTES=10 has a longer outage
ONLY =
ROUNDS = 5
MINUTES =
bench: dependencies-bench swift-found
	$(SWIFT) build $(RELEASE) --product waypulse-bench
	$(SWIFT) build $(RELEASE) --product waypulse
	$(GO_BUILD) -o .build/rivals/go-worker ./benchmarks/rivals/go
	$(if $(filter thresholds,$(ONLY)),,MINUTES=$(MINUTES) $(PYTHON) benchmarks/run --rounds $(ROUNDS) $(if $(ONLY),--only $(ONLY),--write-page))
	$(if $(filter-out thresholds,$(ONLY)),,$(PYTHON) benchmarks/thresholds)

## Holds allocations and instructions an event and a push to benchmarks/thresholds.json; WRITE=1 allows what is found
WRITE =
thresholds: dependencies-bench swift-found
	$(SWIFT) build $(RELEASE) --product waypulse-bench
	$(PYTHON) benchmarks/thresholds $(if $(WRITE),--write)

## Fuzzes the decoder with MESSAGES messages, drawn from SEED on
MESSAGES = 20000000
SEED = 1
fuzz: dependencies-build
	WAYPULSE_FUZZ_MESSAGES=$(MESSAGES) WAYPULSE_FUZZ_SEED=$(SEED) $(SWIFT) test $(RELEASE_TESTS) --filter Fuzz

## Fault simulation with SEEDS seeds, from SEED on
SEEDS = 100000
simulate: release
	.build/release/waypulse simulate faults --seeds $(SEEDS) --from $(SEED)

## Kills, freezes and cuts off real processes and brokers under load, and asks the phones afterwards; ONLY=kill plays that scenario, SEED=2 other traffic
fault-tests: release dependencies-test
	$(PYTHON) Tests/Faults/test_harness.py .build/release/waypulse
	$(PYTHON) Tests/Faults/run --seed $(SEED) $(ONLY)

## Writes the sources as the formatter wants them
format: swift-found
	$(SWIFT) format --in-place --recursive --parallel $(SOURCES)

## Format, imports, schemas, deployment files: what needs no build
lint: dependencies-test swift-found
	$(SWIFT) format lint --strict --recursive --parallel $(SOURCES)
	$(SWIFT) package dump-package | $(PYTHON) Tests/Scripts/check_imports
	$(PYTHON) Tests/Scripts/check_schemas.py
	Tests/Scripts/embed_openapi --check
	$(PYTHON) Tests/Scripts/check_deploy
	Tests/Scripts/check_shell

## The checks that can fail are shown to fail
check-scripts: dependencies-test
	$(PYTHON) -m unittest discover --start-directory Tests/Scripts --pattern test_scripts.py
	$(PYTHON) -m unittest discover --start-directory Tests/Scripts --pattern test_benchmarks.py
	$(PYTHON) -m unittest discover --start-directory Tests/Faults --pattern test_judge.py

## Plants defects in a copy of the sources and expects the demo to find each
defects: dependencies-test swift-found
	$(PYTHON) Tests/Scripts/demo_fails_with_defects

## The demo and the checks in a fresh Debian 12 (needs root and debootstrap)
fresh-machine: swift-found
	Tests/Scripts/fresh_machine

clean: swift-found
	$(SWIFT) package clean

.PHONY: dependencies-build dependencies-test dependencies-bench swift-found
dependencies-build: swift-found
	@Tests/Scripts/install_dependencies build
dependencies-test:
	@Tests/Scripts/install_dependencies test
dependencies-bench:
	@Tests/Scripts/install_dependencies bench
swift-found:
	@Tests/Scripts/find_swift >/dev/null
