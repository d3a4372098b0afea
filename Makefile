# Stellwerk. Every target sets up what it needs; Python 3.11 to 3.13, make and git are enough.
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help run test check build generate soak bench lock clean

BIN := .venv/bin
SAM := .venv-sam/bin
WORKERS ?= 2
export UV_PYTHON_DOWNLOADS := never
export SAM_CLI_TELEMETRY := 0

help: ## List the targets
	@sed -n 's/^\([a-z]*\):.*## /\1 - /p' $(MAKEFILE_LIST)

run: .venv/ready ## Start the local cloud with the samples, show a finished run, stay up
	$(BIN)/stellwerk up --samples

test: .venv/ready scripts/asl/node_modules/ready ## Run the tests; fails where coverage is too low
	@mkdir -p build
	$(BIN)/pytest -n $(WORKERS) -m "not soak" --cov --cov-report json:build/coverage.json
	$(BIN)/python scripts/coverage_limits.py build/coverage.json

check: .venv/ready ## Format, lint, types, import contracts, drift of generated files; as CI
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python scripts/tracked.py
	$(BIN)/python scripts/shape.py
	$(BIN)/python scripts/generate.py --check
	$(BIN)/python scripts/faults_page.py --check
	$(BIN)/python scripts/states_page.py --check
	$(BIN)/python scripts/cost_page.py --check
	$(BIN)/python scripts/access_page.py --check
	$(BIN)/python -m scripts.security_page --check
	$(BIN)/python scripts/graph_schema.py --check
	$(BIN)/python scripts/openapi.py --check
	$(BIN)/python scripts/golden.py --check

generate: .venv/ready ## Derive catalogue.json, the template's lists, pages, schema, golden definitions
	$(BIN)/python scripts/generate.py
	$(BIN)/python scripts/faults_page.py
	$(BIN)/python scripts/states_page.py
	$(BIN)/python scripts/cost_page.py
	$(BIN)/python scripts/access_page.py
	$(BIN)/python -m scripts.security_page
	$(BIN)/python scripts/graph_schema.py
	$(BIN)/python scripts/openapi.py
	$(BIN)/python scripts/golden.py

build: .venv/ready .venv-sam/ready ## Validate, lint and build the SAM application
	$(SAM)/sam validate --lint
	$(SAM)/cfn-lint template.yaml
	$(SAM)/sam build

soak: .venv/ready scripts/asl/node_modules/ready ## The long tests: 20,000 graphs against the reference
	$(BIN)/pytest -n $(WORKERS) -m soak

bench: .venv/ready .venv-lambda/ready ## Measure, and write benchmarks/results.md
	$(BIN)/python -m benchmarks

lock: .venv/ready ## Pin requirements/*.in anew
	for name in uv runtime dev sam; do \
		$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
			--no-emit-index-url --no-header --no-annotate \
			requirements/$$name.in -o requirements/$$name.txt || exit 1; \
	done

clean: ## Remove what make has set up; the local cloud's data stays
	rm -rf .venv .venv-sam .venv-lambda .aws-sam build scripts/asl/node_modules

.venv/ready: requirements/dev.txt requirements/uv.txt pyproject.toml scripts/venv.sh
	scripts/venv.sh .venv requirements/dev.txt
	$(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation --editable .
	@touch $@

.venv-sam/ready: requirements/sam.txt requirements/uv.txt scripts/venv.sh
	scripts/venv.sh .venv-sam requirements/sam.txt
	@touch $@

# Lambda's own version of Python, where this machine has it: for what is measured of cold starts
.venv-lambda/ready: requirements/runtime.txt .venv/ready
	rm -rf $(@D)
	if python=$$(scripts/runtime_python.sh); then \
		$(BIN)/uv venv --quiet --python "$$python" $(@D) && \
		$(BIN)/uv pip sync --quiet --python $(@D)/bin/python --require-hashes requirements/runtime.txt; \
	fi
	@mkdir -p $(@D) && touch $@

scripts/asl/node_modules/ready: scripts/asl/package-lock.json .venv/ready
	cd scripts/asl && PATH="$(CURDIR)/$(BIN):$$PATH" npm ci --silent --ignore-scripts
	@touch $@
