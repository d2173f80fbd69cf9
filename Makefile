# The whole of it: `make demo` shows a table at work, `make test` checks everything.

PYTHON ?= python3
BIN := .venv/bin
ARGS ?=
N ?= 20

# The tests start some hundreds of processes: each finds its modules compiled, also where the environment forbids to write them.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo setup check test test-all test-rest steady world counts test-seconds types contracts scripts pure rules-proof chaos brokers integrations bench steps ledgers pictures docs site deb repository wheel packages image image-test stranger deb-test vm format pins clean

help:
	@echo "make demo     a roulette and a card table on this machine: devices, daemon, broker and display (ARGS=... for novamas demo)"
	@echo "make setup    asks for your site and its wheels, writes novamas.toml, and runs it: docs/technician/setup.md (ARGS=... for novamas setup)"
	@echo "make check    format, lint, types, import contracts, and every test that needs no other program: two minutes (ARGS=... for pytest)"
	@echo "make test     make check, then the chosen tests with real parts: broker, lines, browser, databases (ARGS=... for pytest)"
	@echo "make test-all every test (make test-rest: what make test leaves out)"
	@echo "make steady   the chosen tests N times beside eight busy loops: none may fail (N=20)"
	@echo "make test-seconds  measures what each test costs, and writes tests/rings/seconds.tsv"
	@echo "make rules-proof  break every enforced rule, one at a time: a test that claims it must fail (ARGS=... for python -m tests.mutants)"
	@echo "make chaos    kills, outages, full disks, clocks: forty minutes of it, and an hour for the console (ARGS=... for python -m tests.chaos)"
	@echo "make brokers  what a subscriber may rely on, at Mosquitto, NATS and RabbitMQ; a hundred faults of a cluster (ARGS=... for python -m tests.brokers)"
	@echo "make integrations  the examples at a real Home Assistant and a real Node-RED: half a gigabyte from PyPI and npm (docs/integrator/integrations.md)"
	@echo "make bench    decoding speed and latency beside other programs (ARGS=scale and others: docs/engineer/performance.md)"
	@echo "make steps    a million steps of all games as they were at the commit BASE=..., compared with this checkout"
	@echo "make ledgers  what the jackpot controller stores and publishes in worlds, at the commit BASE=... and in this checkout"
	@echo "make counts   the classes with most methods, the longest files and functions, and files that import each other: a test holds their bounds"
	@echo "make pictures draw the pictures of the documents again"
	@echo "make docs     the site of the pages in docs/, to be read and searched without a network: build/site/index.html"
	@echo "make site     the same, with a simulated evening: its displays, which need no server, and its journal as a page that verifies itself"
	@echo "make deb      the Debian package of this commit, in build/, for this Debian or RELEASE=12 or 13 (docs/technician/install.md)"
	@echo "make repository a signed apt repository with the package, in build/repository (KEY=ID of GnuPG)"
	@echo "make wheel    the Python package, in build/"
	@echo "make image    the image for containers, in build/: the package in the smallest root of Debian (docs/technician/container.md)"
	@echo "make image-test runs the image that was built, and the services of the compose file, in containers, as root"
	@echo "make packages what integrators install, in build/: novamas-client for Python, @novamas/types for TypeScript (docs/integrator/clients.md)"
	@echo "make stranger types the commands of docs/technician/first-number.md into a clean Debian until a wheel's number is in a browser, and measures it, as root"
	@echo "make deb-test installs, upgrades from the commit BASE=... (default: the last tag, else the parent), removes and purges it in a clean Debian root (RELEASE=12 or 13), and upgrades Debian below it"
	@echo "make vm       installs the package in a Debian guest of QEMU: systemd, USB, a full disk, power cuts; an hour of it (ARGS=... for pytest; docs/engineer/vm.md)"
	@echo "make format   format the source"
	@echo "make pins     take newer dependencies: versions and hashes of constraints*.txt (needs uv)"
	@echo "make clean    remove the environment and all caches"

demo: .venv/installed
	@$(BIN)/novamas demo $(ARGS)

setup: .venv/installed
	@$(BIN)/novamas setup $(ARGS)

# Three rings: tests/rings says which test belongs to which. `check` starts no program; `test` adds the chosen tests with real parts, `test-all` every other.
check: .venv/installed-dev
	@tests/npm-packages
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	@$(BIN)/python -m compileall -q common devices controller simulators subscribers
	@$(MAKE) --no-print-directory --jobs types contracts scripts pure

test: check
	@tests/debian-packages chosen
	$(BIN)/python -m tests.rings real $(ARGS)

test-all: test
	@$(MAKE) --no-print-directory test-rest

test-rest: .venv/installed-dev
	@tests/debian-packages
	@tests/npm-packages
	$(BIN)/python -m tests.rings rest $(ARGS)

steady: .venv/installed-dev
	@tests/debian-packages chosen
	@$(BIN)/python -m tests.rings steady --times $(N) $(ARGS)

# The daemon in a simulated world: SEED=7 replays one; HOURS=5000 (of tables) or ARGS="--seeds 1000" looks for more.
world: .venv/installed-dev
	@$(BIN)/python -m tests.world $(if $(SEED),--seed $(SEED)) $(if $(HOURS),--total $(HOURS)) $(ARGS)

counts: .venv/installed-dev
	@$(BIN)/python -m tests.project.counts

test-seconds: .venv/installed-dev
	@tests/debian-packages
	@tests/npm-packages
	$(BIN)/python -m tests.rings measure $(ARGS)

# These four do not depend on each other. The output of the first three comes in one piece, amid the dots of the tests.
types:
	@mkdir -p build && $(BIN)/mypy >build/types.log 2>&1; status=$$?; cat build/types.log; exit $$status

contracts:
	@mkdir -p build && $(BIN)/lint-imports >build/contracts.log 2>&1; status=$$?; cat build/contracts.log; exit $$status

scripts:
	@mkdir -p build && tests/npm/check-scripts >build/scripts.log 2>&1; status=$$?; cat build/scripts.log; exit $$status

pure:
	$(BIN)/python -m tests.rings pure $(ARGS)

rules-proof: .venv/installed-dev
	@$(BIN)/python -m tests.mutants $(ARGS)

chaos: .venv/installed-dev
	@tests/debian-packages
	@$(BIN)/python -m tests.chaos --long $(ARGS)

brokers: .venv/installed-dev
	@tests/brokers/packages
	@$(BIN)/python -m tests.brokers $(ARGS)

integrations: .venv/installed-dev
	@tests/debian-packages
	@tests/npm-packages
	@tests/integrations/packages
	$(BIN)/pytest -p no:cacheprovider tests/daemon/real_home_assistant.py tests/daemon/real_node_red.py $(ARGS)

bench: .venv/installed-dev
	@tests/debian-packages
	@benchmarks/node-packages
	@$(BIN)/python -m benchmarks $(ARGS)

# The commit is checked out beside the build, so that its own code records what this checkout has to say again.
steps: .venv/installed-dev
	@test -n "$(BASE)" || { echo "name the commit to compare with: make steps BASE=COMMIT" >&2; exit 1; }
	@mkdir -p build && rm -rf build/base && git worktree prune && git worktree add --quiet --force --detach build/base $(BASE)
	@cd build/base && ../../$(BIN)/python -m tests.steps record ../steps.gz $(ARGS)
	@git worktree remove --force build/base
	@$(BIN)/python -m tests.steps compare build/steps.gz

ledgers: .venv/installed-dev
	@test -n "$(BASE)" || { echo "name the commit to compare with: make ledgers BASE=COMMIT" >&2; exit 1; }
	@mkdir -p build && rm -rf build/base && git worktree prune && git worktree add --quiet --force --detach build/base $(BASE)
	@cd build/base && ../../$(BIN)/python -m tests.world.carrousel.ledgers $(ARGS) >../ledgers.base
	@git worktree remove --force build/base
	@$(BIN)/python -m tests.world.carrousel.ledgers $(ARGS) >build/ledgers.now
	@diff build/ledgers.base build/ledgers.now && echo "every ledger and every message is equal"

pictures: .venv/installed-dev
	@tests/debian-packages
	@$(BIN)/python -m tests.support.games.phase_pictures docs/images/phases
	@$(BIN)/python -m tests.web.pictures docs/images
	@$(BIN)/novamas demo --history 20 --rounds 2 --screenshot docs/images/demo.svg </dev/null >/dev/null
	@$(BIN)/novamas demo --floor --history 20 --rounds 2 --screenshot docs/images/floor.svg </dev/null >/dev/null

# Strict: a broken link is an error.
docs: .venv/installed-docs
	@$(BIN)/python -m sphinx -q -W --keep-going -j 1 -c packaging/site -d build/doctrees docs build/site
	@echo build/site/index.html

# The environment variable lets the first page lead to the evening.
site: export NOVAMAS_EVENING := 1
site: docs
	@PYTHONPATH=. $(BIN)/python packaging/site/evening.py build/site $(ARGS)

deb: .venv/installed-docs
	@$(BIN)/python packaging/debian/build.py HEAD build $(RELEASE)

# The key is one of GnuPG that signs packages; RELEASE=12 and then RELEASE=13 put both packages into it.
repository: deb
	@test -n "$(KEY)" || { echo "name the key that signs: make repository KEY=ID (gpg --list-secret-keys)" >&2; exit 1; }
	@packaging/debian/repository-packages
	@$(BIN)/python packaging/debian/repository.py build/repository $(KEY) $$(ls -t build/novamas_*+deb$(or $(RELEASE),$$(. /etc/os-release; echo $$VERSION_ID))_*.deb | head -1)

wheel: .venv/installed
	@mkdir -p build && $(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation --wheel-dir build .
	@ls build/novamas-*.whl

image: deb
	@packaging/debian/image-packages
	@$(BIN)/python packaging/debian/container_image.py $$(ls -t build/novamas_*+deb$(or $(RELEASE),$$(. /etc/os-release; echo $$VERSION_ID))_*.deb | head -1) build

image-test: .venv/installed-dev
	@packaging/debian/image-packages test
	@$(BIN)/pytest -x -p no:cacheprovider packaging/debian/test_image.py packaging/debian/test_compose.py $(ARGS)

packages: .venv/installed-dev
	@tests/npm-packages
	@BIN=$(abspath $(BIN)) packaging/clients/build build

stranger: .venv/installed-dev
	@packaging/debian/image-packages test
	@packaging/debian/test-packages
	@tests/debian-packages chosen
	@$(BIN)/pytest -x -rP -p no:cacheprovider packaging/debian/test_stranger.py $(ARGS)

deb-test: .venv/installed-docs
	@packaging/debian/test-packages
	@BASE=$(BASE) RELEASE=$(RELEASE) $(BIN)/pytest -x -p no:cacheprovider packaging/debian/test_package.py $(if $(RELEASE),,packaging/debian/test_debian_upgrade.py) $(ARGS)

vm: .venv/installed-dev
	@packaging/vm/packages
	@BASE=$(BASE) DEB=$(DEB) $(BIN)/python -m pytest -s -p no:cacheprovider packaging/vm $(ARGS)

format: .venv/installed-dev
	@tests/npm-packages
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .
	@tests/npm/check-scripts --write

# Three files, since pip installs all that is in a file with hashes. The build backend is in all: it is not fetched anew for each build.
PIN := uv pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes --no-annotate --custom-compile-command 'make pins'

pins:
	echo 'setuptools>=77' | $(PIN) pyproject.toml - --output-file constraints.txt
	echo 'setuptools>=77' | $(PIN) --extra dev --constraint constraints.txt pyproject.toml - --output-file constraints-dev.txt
	echo 'setuptools>=77' | $(PIN) --extra docs --constraint constraints-dev.txt pyproject.toml - --output-file constraints-docs.txt

clean:
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache build *.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# The stamps below hold until pyproject.toml or the pins change. pip takes no file whose hash is not pinned.
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.venv/installed: .venv/pyvenv.cfg pyproject.toml constraints.txt
	$(INSTALL) --require-hashes --requirement constraints.txt
	$(INSTALL) --no-deps --no-build-isolation --editable .
	@touch $@

.venv/installed-dev: .venv/pyvenv.cfg pyproject.toml constraints-dev.txt constraints.txt
	$(INSTALL) --require-hashes --requirement constraints-dev.txt
	$(INSTALL) --no-deps --no-build-isolation --editable .
	@touch $@ .venv/installed

.venv/installed-docs: .venv/installed-dev constraints-docs.txt
	$(INSTALL) --require-hashes --requirement constraints-docs.txt
	@touch $@

.venv/pyvenv.cfg:
	@command -v $(PYTHON) >/dev/null || { echo "novamas needs Python 3.11 or newer: $(PYTHON) is not here" >&2; exit 1; }
	@$(PYTHON) common/python_version.py
	@$(PYTHON) -m venv .venv || { rm -rf .venv; \
	  echo "no virtual environment could be made; on Debian: sudo apt-get install python3-venv" >&2; exit 1; }
