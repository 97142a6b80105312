# `make help` lists what there is; docs/proofs/proofs.mk has the proofs, .ci/deps.mk what tests need of a machine.

VERSION  := $(shell git describe --always --dirty 2>/dev/null || echo dev)
FUZZTIME ?= 5s
LOG      := .test.log

# What is drawn in tests is drawn by the commit: one source is tested alike on every day.
DRAW := $(shell printf %d 0x$$(git rev-parse --short=7 HEAD 2>/dev/null | cut -c1-7 || echo 1))
export PROVE_DRAW ?= $(DRAW)
export RAPID_SEED ?= $(DRAW)
export CGO_ENABLED := 0

# Tests of the kernel that want one with bonding, and of the families of lab tests those that count and compare, which
# nothing beside them disturbs: in lab kernels that they share. Families that build labs have kernels of their own.
INLAB := $(addsuffix :^TestKernel,internal/kernel/rtnl internal/kernel/ethtool internal/kernel/sysctl internal/kernel/feature internal/host/observe render/networkd render/iproute2)
SMOKE := $(addprefix internal/lab/labtest/,steering:^TestSteerAgreesWithKernel$$ probing:^TestWithoutBonds$$ findings:^TestFindings$$ \
	states:^TestStates$$ discovering:^TestDiscover$$ nmstate:^TestCases$$ paths:^TestNoRoute$$ evidence:^TestQueueCounters$$ live:^TestNothingIsSent$$)
# What smoke has run as whole as it is.
DONE  := -skip '^Test(WithoutBonds|Findings|NoRoute|QueueCounters|NothingIsSent|WhatIf|Demo)$$'
OWN   := $(addprefix ./internal/lab/labtest/,changing crash scenariorun)

# What runs under the race detector: the few where most goes on at once, and then whatever starts goroutines or locks,
# but the labs', whose guests run the tests' programs and have no C library.
RACE      := ./internal/traffic/engine ./internal/host/apply ./internal/agent/nats/natsagent ./internal/agent/agentapi
RACE_REST := $$(grep -rlE '^[[:space:]]*go [a-z]|WaitGroup|Mutex|atomic\.' --include='*.go' --exclude='*_test.go' --exclude-dir=lab internal | sed 's|^|./|; s|/[^/]*$$||' | sort -u | grep -vxF $(addprefix -e ,$(RACE)))

# Labs that measure no rate, but count packets, compare states and look at pages: two of them at once do not spoil each
# other's findings, where each has a kernel of its own.
RATELESS := bondrow|changing|crash|discovering|findings|nmstate|pages|paths|probing|states|switches

UNIT := $$(go list ./... | grep -vE '/internal/lab/labtest|/cmd/linerate')

.DEFAULT_GOAL := build
.NOTPARALLEL:
.PHONY: $(shell sed -nE 's/^([a-z-]+( deps-[a-z]+)*):.*/\1/p' Makefile .ci/deps.mk docs/proofs/proofs.mk)

help: ## this list
	@sed -nE 's/^([a-z-]+):[^#]*## (.*)/\1|\2/p' Makefile .ci/deps.mk docs/proofs/proofs.mk | while IFS='|' read -r name means; do printf '%-18s %s\n' "$$name" "$$means"; done

build: ## the program, ./linerate: one static file, with the agents that it copies to hosts
	@deploy/package/agents "$(VERSION)"
	@go build -trimpath -tags carry -ldflags "-s -w -X main.version=$(VERSION)" -o linerate ./cmd/linerate

PAGE ?= build
page: ## linerate.html, a page that explains, steers and predicts in a browser; in build/
	@mkdir -p $(PAGE) && GOOS=js GOARCH=wasm go build -trimpath -ldflags "-s -w" -o $(PAGE)/page.wasm ./cmd/page
	@go run -trimpath ./cmd/page $(PAGE)/page.wasm "$$(go env GOROOT)/lib/wasm/wasm_exec.js" $(VERSION) $(PAGE)/linerate.html && ls -l $(PAGE)/linerate.html

demo: deps build ## measure, explain and repair a bond in a built-in lab; needs nothing but this machine
	@./linerate demo

test: deps leftovers build drawn check aix unit race smoke ## what must pass before a change is handed in, ten minutes
	@echo "passed: format, vet, staticcheck, aix, unit tests but the long ones, race where goroutines are, in-kernel tests, a smoke of the labs"
	@echo "make test-full does the rest"

test-full: deps-all leftovers build drawn cross long race-rest labtest qemu-sample ## what `make test` leaves out, half an hour
	@echo "passed: other systems, long unit tests, race in the other packages, all labs, emulated kernels (what was left out is named above)"
	@echo "with make test this is every test that can run here"

drawn:
	@echo "== samples are drawn by $(PROVE_DRAW), of commit $$(git rev-parse HEAD 2>/dev/null) (PROVE_DRAW says another)"

# A test that was killed leaves namespaces whose names the next run wants, and directories
# of lab kernels. Those that no process is in go.
leftovers:
	@[ "$$(id -u)" = 0 ] || exit 0; PATH=$$PATH:/usr/sbin; \
	for ns in $$(ip netns list | sed -n 's/^\(linerate-test-[^ ]*\).*/\1/p'); do \
		[ -n "$$(ip netns pids $$ns)" ] || { echo "== namespace $$ns, left by a test that was killed, goes"; ip netns delete $$ns; }; \
	done; \
	find "$${TMPDIR:-/tmp}" -maxdepth 1 -name 'linerate-lab-*' -mmin +10 | while read -r dir; do \
		grep -qsaF "$$dir" /proc/[0-9]*/cmdline || { echo "== $$dir, left by a test that was killed, goes"; rm -rf "$$dir"; }; \
	done

check: ## format, vet, staticcheck
	@echo "== format, vet, staticcheck"
	@bad=$$(gofmt -l .); [ -z "$$bad" ] || { echo "not gofmt'd: $$bad"; exit 1; }
	@go vet ./...
	@go tool staticcheck ./...

# Pure packages run on other systems, kernel access has stubs there: most of them on AIX.
define other
	@echo "== build and vet for $(1)"
	@export GOOS=$(word 1,$(subst /, ,$(1))) GOARCH=$(word 2,$(subst /, ,$(1))); go vet ./... && go build -o /dev/null ./cmd/linerate

endef

aix: ## build and vet for AIX
	$(call other,aix/ppc64)

cross: ## build and vet for other systems
	$(call other,darwin/arm64)
	$(call other,freebsd/amd64)

unit: ## unit tests but the long ones
	@echo "== unit tests"
	@.ci/gotest -short $(UNIT)

# The engine twice: on raw system calls, and as other systems have it. What runs in parallel there waits, mostly.
long: ## unit tests that are long or left out by -short, the engine as other systems have it
	@echo "== long unit tests"
	@set -f; .ci/gotest -parallel 4 $$(.ci/longtests)
	@go vet -tags portable ./internal/traffic/engine && .ci/gotest -tags portable ./internal/traffic/engine

define race
	@if printf 'int main(void){return 0;}' | $${CC:-gcc} -xc -o /dev/null - 2>/dev/null; then \
		echo "== race detector"; CGO_ENABLED=1 .ci/gotest -race $(1); \
	else \
		echo "== race detector: left out, no C compiler works here"; \
	fi
endef

race: ## the race detector where goroutines are
	$(call race,-short $(RACE))

race-rest: ## and wherever else goroutines are, and the engine's long tests
	$(call race,-short $(RACE_REST))
	$(call race,$(firstword $(RACE)))

# Nothing runs, and CI fails, where no kernel here can be a lab: $(1) is the back end's name, $(2) what to install.
define needs-lab
	./linerate version --json | tr -d ' \n' | grep -qE '"name":"($(1))","usable":true' || { \
		echo "== lab tests on $(1): NOT RUN, no such kernel here: $(2)"; [ -z "$$CI" ]; exit; \
	}
endef

# How many labs may run at a time: two where each has a kernel of its own.
SIDES := $$(./linerate version --json | tr -d ' \n' | grep -q '"name":"host","usable":true' && echo 1 || echo 2)

smoke: deps build ## tests in the lab's kernel, and a quick one of each family of labs
	@$(call needs-lab,host|uml,make deps installs $(firstword $(DEPS))); \
	echo "== in the lab's kernel"; PROVE_FLOWS=100 PROVE_STATES=3 PROVE_HOSTS=1 .ci/gotest --in-lab $(SIDES) $(foreach one,$(INLAB) $(SMOKE),'$(one)') && \
	PROVE_DRAW=$$(($(PROVE_DRAW) / 3 * 3)) .ci/gotest -short -count=1 -p $(SIDES) -timeout 10m -run '^Test(Changes|Crash|WhatIf)$$' $(OWN) && \
	.ci/gotest -count=1 -run '^TestDemo$$' ./cmd/linerate

# Those that measure no rate take turns two at a time; the others one at a time, with nothing beside them.
labtest: deps build ## all labs, and the program as a user runs it
	@$(call needs-lab,host|uml,make deps installs $(firstword $(DEPS))); \
	echo "== lab tests, and the program as a user runs it"; \
	all=$$(go list ./internal/lab/labtest/... | grep -v /subflows$$); \
	PATH=$$PATH:/usr/sbin; command -v exportfs mount.nfs4 >/dev/null || { echo "== NFS over two links: NOT RUN, no NFS tools here: make deps-nfs"; all=$$(echo "$$all" | grep -v '/nfs$$'); }; \
	.ci/gotest $(DONE) -p $(SIDES) -parallel 1 -count=1 -timeout 30m $$(echo "$$all" | grep -E '/($(RATELESS))$$') && \
	.ci/gotest $(DONE) -p 1 -parallel 1 -count=1 -timeout 30m $$(echo "$$all" | grep -vE '/($(RATELESS))$$') ./cmd/linerate && \
	if [ "$$(id -u)" = 0 ] && [ -e /proc/sys/net/mptcp/enabled ]; then \
		PROVE_KERNEL=host .ci/gotest -count=1 -run '^(TestMPTCPStates|TestCases)$$' ./internal/lab/labtest/states ./internal/lab/labtest/nmstate && \
		PROVE_KERNEL=host .ci/gotest -count=1 ./internal/lab/labtest/discovering && \
		{ [ ! -e /sys/fs/cgroup/cpu/cpu.cfs_quota_us ] || PROVE_KERNEL=host PROVE_CAUSE=receiver-cpu .ci/gotest -count=1 -run '^TestExplain$$' ./internal/lab/labtest/explaining; }; \
	else \
		echo "== states and hosts with MPTCP: NOT RUN, it takes root and a kernel with MPTCP"; \
	fi

# What needs an emulated kernel, and a sample of what prove-eras proves: one of its kernels.
qemu-sample: deps-qemu build
	@$(call needs-lab,qemu,make deps-qemu); \
	set -- $(filter-out uml,$(ERAS)); shift $$(($(PROVE_DRAW) % $$#)); \
	echo "== steering on an emulated kernel $$1, and one MPTCP connection over a bond"; \
	PROVE_KERNEL=$$1 PROVE_FLOWS=100 PROVE_SEED=$$(($(PROVE_DRAW) + 1)) .ci/gotest -count=1 -timeout 10m ./internal/lab/labtest/steering & first=$$!; \
	.ci/gotest -count=1 -timeout 10m ./internal/lab/labtest/subflows; second=$$?; wait $$first && exit $$second

fuzz: ## every fuzz target for FUZZTIME
	@for pkg in $$(go list ./...); do \
		for f in $$(go test -list '^Fuzz' $$pkg | grep '^Fuzz'); do \
			echo "== $$f in $$pkg"; \
			go test -run '^$$' -fuzz "^$$f\$$" -fuzztime $(FUZZTIME) $$pkg || exit 1; \
		done; \
	done

# Known weaknesses of what this program is built from: the database is fetched
# from GOVULNDB (https://vuln.go.dev). Where that cannot be reached it says so and
# fails nothing; a weakness that is found fails.
vuln: ## known weaknesses in what it is built from; takes the network
	@go tool govulncheck ./... >$(LOG) 2>&1; status=$$?; \
	if grep -q 'fetching vulnerabilities' $(LOG); then \
		echo "== govulncheck: NOT RUN, its database cannot be reached: $$(sed -n 's/.*: dial/dial/p' $(LOG) | head -n 1)"; exit 0; \
	fi; \
	echo "== govulncheck"; [ $$status = 0 ] || cat $(LOG); exit $$status

reference: ## docs/reference, from the code; a test compares the two
	@go run ./cmd/manual reference docs/reference

release: ## what is handed out, in dist/: programs, archives, packages, images, lists of parts, checksums
	@deploy/package/release

release-check: release ## a release made twice and compared
	@deploy/package/release check

# Half an hour, and nothing else should run. BENCH_DATA=FILE keeps what was measured, and goes on with it.
bench: ## the engine beside iperf3, iperf2 and nuttcp: the table in docs/benchmarks.md
	@BENCH_ROUNDS=$${BENCH_ROUNDS:-9} BENCH_FILE=$(CURDIR)/docs/benchmarks.md \
		go test -count=1 -timeout 60m -v -run '^TestBench$$' ./internal/lab/labtest/bench >$(LOG) 2>&1; \
	status=$$?; grep -E '^ +[a-z_]+_test\.go|^(---|ok|FAIL)' $(LOG); exit $$status

# What tells is ours over the peers beside it, then and now; three minutes.
bench-compare: ## a few of the same now, and their ratios to the table in docs/benchmarks.md, which stays
	@BENCH_COMPARE=$(CURDIR)/docs/benchmarks.md BENCH_ONLY=$${BENCH_ONLY:-'^(linerate|linerate zero-copy|iperf3 -l 1M|iperf3 -Z -l 1M)$$'} BENCH_AT=$${BENCH_AT:-'^(1500/1|9000/8)$$'} \
		go test -count=1 -timeout 20m -v -run '^TestCompare$$' ./internal/lab/labtest/bench >$(LOG) 2>&1; \
	status=$$?; grep -E '^ +[a-z_]+_test\.go|^(MTU/str|[0-9]+/[0-9])|^ +(MTU|[0-9]+/[0-9])|^(---|ok|FAIL)' $(LOG); exit $$status

clean:
	@rm -rf linerate build cmd/linerate/agents $(LOG) .lab.tests

include .ci/deps.mk docs/proofs/proofs.mk
