# make         the program, ./linerate: one static file
# make demo    the main job in a built-in lab; needs nothing but this machine
# make test    everything that must hold before a change is handed in
# make bench   the engine beside iperf3, iperf2 and nuttcp, the table in
#              docs/benchmarks.md; make deps-bench installs them
# make release what is handed out, in dist/: programs, archives, .deb and .rpm
# make vuln    known weaknesses in what it is built from; takes the network
# make fuzz    every fuzz target for FUZZTIME
# make prove-NAME  a proof that takes longer than a test may, its result in
#              docs/proofs/NAME.txt: demo (five runs in a row), spread (twenty),
#              eras (the bonding driver's hash on kernels before and after its changes),
#              mptcp (one connection over a whole bond, five runs),
#              pick (chosen ports beside the kernel's, fifty runs),
#              probe (even sets through a switch that is not told of),
#              stop (the stop rule's intervals against long runs, half an hour),
#              care (latency, links that fail, a network in use: all of the sample's cases),
#              accuracy (goodput against shapers and counters),
#              fleet (a million flows shared over 10,000 hosts, and how the time grows),
#              scale (10 to 1,000 agents on NATS, each of a cluster's servers killed, and
#              changes whose network is cut),
#              changes (hosts changed as users change them, judged by what they are after),
#              predict (networks drawn at random, predicted and then measured, half an hour),
#              crash (what changes a host killed at every step, the power cut: a quarter of an hour),
#              interop (every option of every iperf3 against `linerate listen`),
#              states (150 drawn states of a host, there and back, and 25 with MPTCP; the table
#              of bond options on three kernels),
#              nmstate (what nmstate's own tests bring a host to, case by case, as a table),
#              fleetssh (eight hosts measured in their namespaces, over ssh and over NATS;
#              hosts that fail: seven minutes),
#              discover (500 drawn hosts and 17 recorded ones on four kernels: what was discovered
#              plans nothing, and a change is put back to the last byte; 40 minutes),
#              store (a million trials in SQLite and in PostgreSQL, and a year of one path
#              read from them: ten minutes; make deps-store installs PostgreSQL),
#              ansible (the role of deploy/ansible against hosts with an sshd each),
#              tune (tune beside every other recipe and a full grid, eleven scenarios, and as
#              many streams as links: two labs at a time, 40 minutes),
#              package (the .deb on a clean Debian: installed, the demo run, purged),
#              scenarios (`lab run all`, ten times on two cores, each less than 25 minutes:
#              stop it whenever, it goes on where it was)

# Debian packages beyond Go, make and git: a kernel for the lab, and a C
# compiler for the race detector (the program itself is built without one).
DEPS := user-mode-linux gcc libc6-dev

# The tools with which a test serves and mounts NFS inside the lab's kernel. Not
# among the others: on a machine of one's own the package starts a server.
DEPS_NFS := nfs-kernel-server nfs-common

# What serves hosts that are reached by ssh, each in a namespace. Not among the
# others either: it starts a server, and lets users become root.
DEPS_SSH := openssh-server openssh-client sudo

# What runs the role of deploy/ansible against such hosts, and reads its style.
DEPS_ANSIBLE := ansible-core ansible-lint

# A PostgreSQL for the tests' own cluster. Not among the others either: on a
# machine of one's own the package starts a server.
DEPS_STORE := postgresql
CLUSTERS := /etc/postgresql-common/createcluster.conf

# A Prometheus that reads what agents and servers tell. Not among the others
# either: the package starts a server.
DEPS_METRICS := prometheus
DEPS_PAGES := chromium fonts-liberation

# What makes a clean Debian for the package's proof.
DEPS_PACKAGE := debootstrap

# What the engine is compared with.
DEPS_BENCH := iperf3 iperf nuttcp

# An emulator, and what unpacks distribution kernels for it.
DEPS_QEMU := qemu-system-x86 kmod xz-utils cpio

# systemd's reader of link files: what render writes is read by it.
DEPS_CONFIG := udev

# The programs that linerate speaks with, for tests of both together.
DEPS_PEERS := iperf3 iperf nuttcp iputils-ping

# Kernels that steering is proven on: User-Mode Linux (6.1), one older, one newer.
ERAS := uml 5.10 6.12

VERSION  := $(shell git describe --always --dirty 2>/dev/null || echo dev)
FUZZTIME ?= 5s
LOG      := .test.log

# What runs under the race detector: what has goroutines, and the quick ones of
# the pure packages.
RACE := ./unit ./flow ./netstate ./record ./internal/advise/tune ./plan ./render/... ./internal/wanted ./internal/advise/profile \
	./internal/agent/agentapi ./internal/traffic/iperf3 ./internal/host/apply ./internal/traffic/engine ./internal/agent/nats/...

# Tests of the kernel that want one with bonding: run again inside the lab.
INLAB := internal/kernel/rtnl internal/kernel/ethtool internal/kernel/sysctl internal/kernel/feature internal/host/observe render/networkd render/iproute2

# Labs that count packets and compare states: two of them at once do not spoil
# each other's findings, where each has a kernel of its own.
COUNTING := changing|crash|discovering|findings|nmstate|paths|probing|states

# Other systems that must build: pure packages run there, kernel access has stubs.
CROSS := darwin/arm64 freebsd/amd64 aix/ppc64

export CGO_ENABLED := 0

.PHONY: build leftovers reference vuln deps deps-nfs deps-store no-cluster deps-ssh deps-ansible deps-metrics deps-pages deps-package release release-check prove-package deps-bench bench deps-qemu deps-peers deps-config demo test check cross unit race labtest inlab qemu-sample fuzz prove-demo prove-spread prove-pick prove-eras prove-mptcp prove-probe prove-stop prove-accuracy prove-care prove-interop prove-predict prove-explain prove-live prove-fleet prove-scale prove-crash prove-states prove-nmstate prove-discover prove-changes prove-tune prove-disturbed prove-store prove-scenarios prove-scenario prove-fleetssh prove-ansible clean
.DEFAULT_GOAL := build

# docs/reference, from the code; a test holds it against it.
reference:
	@go run ./cmd/manual reference docs/reference

build:
	@go build -trimpath -ldflags "-s -w -X main.version=$(VERSION)" -o linerate ./cmd/linerate

# Quiet when all is there. Where it cannot install, it says what to install and
# lets the caller carry on: what needs a package says so itself.
define install
	@missing=; \
	for p in $(1); do \
		[ "$$(dpkg-query -W -f '$${db:Status-Status}' $$p 2>/dev/null)" = installed ] || missing="$$missing $$p"; \
	done; \
	[ -n "$$missing" ] || exit 0; \
	if [ "$$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then \
		echo "packages to install (Debian's names):$$missing"; exit 0; \
	fi; \
	echo "installing:$$missing"; \
	if ! { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends $$missing; } >$(LOG) 2>&1; then \
		tail -n 3 $(LOG); echo "could not install:$$missing"; \
	fi
endef

deps:
	$(call install,$(DEPS))

# Tests in CI want it all; elsewhere `make deps-nfs` is the user's word.
deps-nfs:
	$(call install,$(DEPS_NFS))

deps-ssh:
	$(call install,$(DEPS_SSH))

deps-ansible:
	$(call install,$(DEPS_ANSIBLE))

# The programs without a server: Debian's own switch keeps the package from making
# a database of the machine's, for as long as it is being installed.
deps-store:
	@[ -n "$$(ls -d /usr/lib/postgresql/*/bin/postgres 2>/dev/null)" ] || [ "$$(id -u)" != 0 ] || $(MAKE) --no-print-directory no-cluster
	$(call install,$(DEPS_STORE))
	@if [ -e $(CLUSTERS).linerate ]; then mv $(CLUSTERS).linerate $(CLUSTERS); fi

no-cluster:
	$(call install,postgresql-common)
	@if command -v pg_conftool >/dev/null; then cp -p $(CLUSTERS) $(CLUSTERS).linerate && pg_conftool $(CLUSTERS) set create_main_cluster off; fi

deps-metrics:
	$(call install,$(DEPS_METRICS))

deps-pages:
	$(call install,$(DEPS_PAGES))

deps-package:
	$(call install,$(DEPS_PACKAGE))

# What is handed out, in dist/: programs, archives, packages, checksums. release-check
# makes all of it twice and compares.
release:
	@deploy/package/release

release-check: release
	@deploy/package/release check

# The .deb on a clean Debian, as root: three minutes.
prove-package: deps-package
	@docs/proofs/prove package 1 ./internal/lab/labtest/packages TestPackage

deps-bench:
	$(call install,$(DEPS_BENCH))

# Half an hour, and nothing else should run. BENCH_DATA=FILE keeps what was
# measured, and goes on with it.
bench:
	@BENCH_ROUNDS=$${BENCH_ROUNDS:-9} BENCH_FILE=$(CURDIR)/docs/benchmarks.md \
		go test -count=1 -timeout 60m -v -run '^TestBench$$' ./internal/lab/labtest/bench >$(LOG) 2>&1; \
	status=$$?; grep -E '^ +[a-z_]+_test\.go|^(---|ok|FAIL)' $(LOG); exit $$status

# Kernels go to .lab-kernels, or where LINERATE_LAB_KERNELS says; once.
deps-qemu:
	$(call install,$(DEPS_QEMU))
	@internal/lab/guest/fetch-kernels || { echo "== kernels of other releases: NOT FETCHED"; [ -z "$$CI" ]; }

# Peers of other releases go to .lab-peers, or where LINERATE_LAB_PEERS says; once.
deps-peers:
	$(call install,$(DEPS_PEERS))
	@internal/traffic/iperf3server/fetch-peers || echo "== iperf3 of other releases: NOT ALL FETCHED, tests use those that are here"

# Netplan's generator and NetworkManager, to read what render writes, go to .lab-config, or where
# LINERATE_LAB_CONFIG says; once.
deps-config:
	$(call install,$(DEPS_CONFIG))
	@for fetch in render/fetch-*; do $$fetch || echo "== $$fetch: NOT FETCHED, tests name what they leave out"; done

demo: deps build
	@./linerate demo

test: deps deps-qemu deps-peers deps-config leftovers build check cross unit race labtest qemu-sample
	@echo "passed: every test that can run here (what was left out is named above)"

# A test that was killed leaves namespaces whose names the next run wants. Those
# that no process is in go.
leftovers:
	@[ "$$(id -u)" = 0 ] || exit 0; PATH=$$PATH:/usr/sbin; \
	for ns in $$(ip netns list | sed -n 's/^\(linerate-test-[^ ]*\).*/\1/p'); do \
		[ -n "$$(ip netns pids $$ns)" ] || { echo "== namespace $$ns, left by a test that was killed, goes"; ip netns delete $$ns; }; \
	done

# Known weaknesses of what this program is built from: the database is fetched
# from GOVULNDB (https://vuln.go.dev). Where that cannot be reached it says so and
# fails nothing; a weakness that is found fails.
vuln:
	@go tool govulncheck ./... >$(LOG) 2>&1; status=$$?; \
	if grep -q 'fetching vulnerabilities' $(LOG); then \
		echo "== govulncheck: NOT RUN, its database cannot be reached: $$(sed -n 's/.*: dial/dial/p' $(LOG) | head -n 1)"; exit 0; \
	fi; \
	echo "== govulncheck"; [ $$status = 0 ] || cat $(LOG); exit $$status

check: $(if $(CI),vuln)
	@echo "== format, vet, staticcheck"
	@bad=$$(gofmt -l .); [ -z "$$bad" ] || { echo "not gofmt'd: $$bad"; exit 1; }
	@go vet ./...
	@go tool staticcheck ./...

cross:
	@for target in $(CROSS); do \
		echo "== build and vet for $$target"; \
		export GOOS=$${target%/*} GOARCH=$${target#*/}; \
		go vet ./... && go build -o /dev/null ./cmd/linerate || exit 1; \
	done

# The engine twice: on raw system calls, and as other systems have it.
# Passing tests are one line a package; a skipped one is named with its reason.
unit: $(if $(CI),deps-store deps-metrics)
	@echo "== unit tests"
	@if go test -v $$(go list ./... | grep -vE '/internal/lab/labtest|/cmd/linerate') >$(LOG) 2>&1; then \
		grep -E '^ok' $(LOG); grep -B1 -E '^ *--- SKIP' $(LOG) | grep -v '^--$$' || true; \
	else \
		grep -vE '^ *(=== |--- PASS|PASS$$)' $(LOG); echo "== failed:"; grep -B8 -E '^ *--- FAIL|^FAIL.*[[:space:]]' $(LOG); exit 1; \
	fi
	@go vet -tags portable ./internal/traffic/engine && go test -tags portable ./internal/traffic/engine

race:
	@if printf 'int main(void){return 0;}' | $${CC:-gcc} -xc -o /dev/null - 2>/dev/null; then \
		echo "== race detector"; CGO_ENABLED=1 go test -race $(RACE); \
	else \
		echo "== race detector: left out, no C compiler works here"; \
	fi

# Those that count packets and compare states take turns two at a time; the
# others one at a time, with nothing beside them: these measure.
labtest: deps $(if $(CI),deps-nfs deps-ssh deps-ansible deps-pages) build
	@./linerate version --json | tr -d ' \n' | grep -qE '"name":"(host|uml)","usable":true' || { \
		echo "== lab tests: NOT RUN, no kernel here can be a lab: install $(firstword $(DEPS))"; \
		[ -z "$$CI" ]; exit; \
	}; \
	$(MAKE) --no-print-directory inlab

inlab: SHELL := /bin/bash
inlab: .SHELLFLAGS := -o pipefail -c
inlab:
	@echo "== lab tests, and the program as a user runs it"
	@rm -rf .lab.tests; mkdir .lab.tests; go test -c -o .lab.tests/ $(addprefix ./,$(INLAB)) && \
	./linerate lab exec one-link -- bash -o pipefail -c 'for p in $(INLAB); do (cd $$p && exec $(CURDIR)/.lab.tests/$$(basename $$p).test -test.run ^TestKernel -test.count 1) | sed "s|^PASS$$|ok      $$p in the lab|" || exit 1; done'; \
	status=$$?; rm -rf .lab.tests; exit $$status
	@set -- "prove-explain" "prove-tune" "prove-live" "evidence in trials" "labs that stand" "scenarios"; shift $$(($${PROVE_DAY:-$$(($$(date +%s) / 86400))} % $$#)); \
	echo "== long samples take turns: today $$1 (PROVE_DAY chooses)"
	@leave=/subflows$$; \
	PATH=$$PATH:/usr/sbin; command -v exportfs mount.nfs4 >/dev/null || { \
		echo "== NFS over two links: NOT RUN, no NFS tools here: make deps-nfs installs $(DEPS_NFS)"; \
		leave='/(subflows|nfs)$$'; \
	}; \
	[ "$$(id -u)" = 0 ] && command -v sshd sudo >/dev/null || \
		echo "== hosts reached by ssh: NOT RUN, it takes root, sshd and sudo: make deps-ssh installs $(DEPS_SSH)"; \
	[ "$$(id -u)" = 0 ] || echo "== tunes on cores that come and go: NOT RUN, it takes root to take them"; \
	command -v ansible-playbook >/dev/null || \
		echo "== hosts enrolled by Ansible: NOT RUN, no ansible-playbook here: make deps-ansible installs $(DEPS_ANSIBLE)"; \
	command -v chromium >/dev/null || \
		echo "== pages in a browser: NOT RUN, no chromium here: make deps-pages installs $(DEPS_PAGES)"; \
	counting='/($(COUNTING))$$'; side=2; \
	! ./linerate version --json | tr -d ' \n' | grep -q '"name":"host","usable":true' || side=1; \
	go test -p $$side -parallel 1 -count=1 -timeout 30m $$(go list ./internal/lab/labtest/... | grep -E "$$counting") && \
	go test -p 1 -parallel 1 -count=1 -timeout 30m $$(go list ./internal/lab/labtest/... | grep -vE "$$leave" | grep -vE "$$counting") ./cmd/linerate && \
	if [ "$$(id -u)" = 0 ] && [ -e /proc/sys/net/mptcp/enabled ]; then \
		PROVE_KERNEL=host go test -count=1 -run '^(TestMPTCPStates|TestCases)$$' ./internal/lab/labtest/states ./internal/lab/labtest/nmstate && \
		PROVE_KERNEL=host go test -count=1 ./internal/lab/labtest/discovering; \
	else \
		echo "== states and hosts with MPTCP: NOT RUN, it takes root and a kernel with MPTCP"; \
	fi

# What needs an emulated kernel, and a sample of what prove-eras proves: one of
# its kernels, the day's, with a seed of the day.
qemu-sample: deps-qemu build
	@./linerate version --json | tr -d ' \n' | grep -q '"name":"qemu","usable":true' || { \
		echo "== lab tests on other kernels: NOT RUN, no kernel can be emulated here: install $(firstword $(DEPS_QEMU)) and run make deps-qemu"; \
		[ -z "$$CI" ]; exit; \
	}; \
	set -- $(filter-out uml,$(ERAS)); shift $$(($$(date +%s) / 86400 % $$#)); \
	echo "== steering on an emulated kernel $$1, seed $$(date +%Y%m%d)"; \
	PROVE_KERNEL=$$1 PROVE_FLOWS=100 PROVE_SEED=$$(date +%Y%m%d) go test -count=1 -timeout 10m ./internal/lab/labtest/steering || exit 1; \
	echo "== one MPTCP connection over a bond, on an emulated kernel"; \
	go test -count=1 -timeout 10m ./internal/lab/labtest/subflows

fuzz:
	@for pkg in $$(go list ./...); do \
		for f in $$(go test -list '^Fuzz' $$pkg | grep '^Fuzz'); do \
			echo "== $$f in $$pkg"; \
			go test -run '^$$' -fuzz "^$$f\$$" -fuzztime $(FUZZTIME) $$pkg || exit 1; \
		done; \
	done

prove-demo: deps
	@docs/proofs/prove demo 5 ./cmd/linerate TestDemo

prove-spread: deps
	@docs/proofs/prove spread 1 ./internal/lab/labtest TestChosenPortsSplitEvenly 20

# Fifty runs in five labs, on 2 and on 4 links.
prove-pick: deps
	@docs/proofs/prove pick 5 ./internal/lab/labtest TestPickedPorts 10

prove-eras: deps deps-qemu
	@PROVE_FLOWS=$${PROVE_FLOWS:-2000} docs/proofs/prove eras 1 ./internal/lab/labtest/steering 'Test.*' 1 $(ERAS)

prove-mptcp: deps-qemu
	@docs/proofs/prove mptcp 5 ./internal/lab/labtest/subflows TestOneConnectionUsesEveryLink 1 6.1

prove-probe: deps
	@docs/proofs/prove probe 5 ./internal/lab/labtest/probing TestFindsEvenSets 2

prove-care: deps
	@docs/proofs/prove care 3 ./internal/lab/labtest/care 'Test.*'

# Sixteen parts of two minutes: four seeds, of each a long run before and after
# fifty short ones. The verdict is over all of them.
prove-stop: deps
	@docs/proofs/prove stop 16 ./internal/lab/labtest/stopping TestStopRule 1 uml
	@go test -count=1 -v -run '^TestProof$$' ./internal/lab/labtest/stopping >$(LOG) 2>&1; status=$$?; \
	grep -v '^verdict' docs/proofs/stop.txt >$(LOG).proof; \
	sed -nE 's/^ +proof_test.go:[0-9]+: /verdict: /p' $(LOG) | tee -a $(LOG).proof; \
	mv $(LOG).proof docs/proofs/stop.txt; [ $$status = 0 ] || { tail -n 3 $(LOG); exit 1; }

prove-accuracy: deps
	@docs/proofs/prove accuracy 3 ./internal/lab/labtest/accuracy TestAccuracy 1 host uml

# Every option of every iperf3 that is here, 32 clients at once, floods.
prove-interop: deps-peers
	@docs/proofs/prove interop 3 ./internal/traffic/iperf3server 'Test(Iperf3|ManyIperf3|Flood)' 1

# From 1,000 to 1,000,000 flows, and against linear programs; a minute.
prove-fleet:
	@docs/proofs/prove fleet 3 ./predict 'Test(FleetGrowth|MaxMinLP)'

# 10, 100, 300 and 1,000 agents, and then a matrix over a cluster of three servers, of
# which each is killed once, the controller and an agent; then a hundred changes, eight
# hosts side by side, each with the way to NATS cut at some moment. Ten minutes.
prove-scale:
	@docs/proofs/prove scale 4 ./internal/agent/fleet TestNATSScale
	@docs/proofs/prove cluster 1 ./internal/cli TestMeasureOverCluster
	@GOFLAGS="$$(go env GOFLAGS) -parallel=8" docs/proofs/prove cut 1 ./internal/cli TestApplyCutOff

# Fifteen parts of a minute or two, four networks each; PROVE_SEED draws others. The
# verdict is over all of them.
prove-predict: deps
	@PROVE_SEED=$${PROVE_SEED:-1} docs/proofs/prove predict 15 ./internal/lab/labtest/predicting TestPredict 1 uml
	@go test -count=1 -v -run '^TestProof$$' ./internal/lab/labtest/predicting >$(LOG) 2>&1; status=$$?; \
	grep -v '^verdict' docs/proofs/predict.txt >$(LOG).proof; \
	sed -nE 's/^ +proof_test.go:[0-9]+: /verdict: /p' $(LOG) | tee -a $(LOG).proof; \
	mv $(LOG).proof docs/proofs/predict.txt; [ $$status = 0 ] || { tail -n 3 $(LOG); exit 1; }

# 240 networks with faults in lab kernels, two at a time, each run a minute or two, and 60 on the
# running kernel, which takes root; PROVE_SEED draws others. The verdict is over all of them.
prove-explain: deps
	@export PROVE_SEED=$${PROVE_SEED:-$$(date +%s)}; echo "seed $$PROVE_SEED"; \
	PROVE_HALF=0 docs/proofs/prove explain-0 20 ./internal/lab/labtest/explaining TestExplain 1 uml & first=$$!; \
	PROVE_HALF=1 docs/proofs/prove explain-1 20 ./internal/lab/labtest/explaining TestExplain 1 uml; \
	wait $$first; docs/proofs/prove explain-host 10 ./internal/lab/labtest/explaining TestExplain 1 host || true
	@go test -count=1 -v -run '^TestProof$$' ./internal/lab/labtest/explaining >$(LOG) 2>&1; status=$$?; \
	sed -nE 's/^ +proof_test.go:[0-9]+: //p' $(LOG) | tee docs/proofs/explain-verdict.txt; exit $$status

# Eight hosts in namespaces, measured there, over an sshd and over an agent on NATS each,
# and all that may go wrong with some of them; seven minutes, as root.
prove-fleetssh: deps deps-ssh
	@docs/proofs/prove fleetssh 1 ./internal/lab/labtest/overssh 'Test[^A].*'

# Hosts installed, enrolled, changed, refused and taken out by the role of
# deploy/ansible, with systemd and without; six minutes, as root.
prove-ansible: deps-ssh deps-ansible
	@docs/proofs/prove ansible 1 ./internal/lab/labtest/overssh 'TestAnsible.*'

# Seven parts of two minutes: thirty plans with their cuts, three at a time, power
# cuts, and sessions killed under systemd. The verdict is over all of them.
prove-crash: deps
	@PROVE_SEED=$${PROVE_SEED:-1} docs/proofs/prove crash 7 ./internal/lab/labtest/crash TestCrash
	@go test -count=1 -v -run '^TestProof$$' ./internal/lab/labtest/crash >$(LOG) 2>&1; status=$$?; \
	grep -v '^verdict' docs/proofs/crash.txt >$(LOG).proof; \
	sed -nE 's/^ +proof_test.go:[0-9]+: /verdict: /p' $(LOG) | tee -a $(LOG).proof; \
	mv $(LOG).proof docs/proofs/crash.txt; [ $$status = 0 ] || { tail -n 3 $(LOG); exit 1; }

# Fifteen runs of ten states each in User-Mode Linux, states with MPTCP on the machine's
# own kernel, then the option table on each kernel; PROVE_SEED draws other states.
prove-states: deps deps-qemu
	@PROVE_SEED=$${PROVE_SEED:-1} PROVE_STATES=10 docs/proofs/prove states 15 ./internal/lab/labtest/states TestStates 1 uml
	@PROVE_SEED=$${PROVE_SEED:-1} PROVE_STATES=25 docs/proofs/prove states-mptcp 1 ./internal/lab/labtest/states TestMPTCPStates 1 host
	@PROVE_SEED=$${PROVE_SEED:-1} docs/proofs/prove options 1 ./internal/lab/labtest/states TestBondOptions 1 $(ERAS)

# Every case in a lab kernel, bonds and the rest side by side, then those with MPTCP on the
# machine's own, which takes root: the table is the proof.
prove-nmstate: deps
	@out=docs/proofs/nmstate.txt; sources=$$(cat internal/lab/labtest/nmstate/*.go internal/lab/labtest/nmstate/testdata/* | sha256sum | cut -c1-12); status=0; \
	run() { PROVE_CASES=all PROVE_KERNEL=$$1 go test -count=1 -v -timeout 90m -run "^TestCases\$$/$$2" ./internal/lab/labtest/nmstate >$(LOG).$$3 2>&1; }; \
	run uml '^bond_test' 1 & bonds=$$!; run uml '^(vlan|route)_test' 2 || status=1; wait $$bonds || status=1; run host '^mptcp_test' 3 || status=1; \
	{ echo "proof nmstate: what nmstate's own tests (614c66dc) bring a host to, each case applied, judged by ip(8) and rolled back"; \
		echo "cases $$sources, date $$(date -u +%Y-%m-%dT%H:%MZ), machine $$(uname -r), $$(nproc) cores"; \
		for part in 1 2 3; do sed -nE 's/^lab kernel ([^ ]*).*/kernel \1:/p' $(LOG).$$part; sed -nE 's/^ +nmstate_linux_test.go:[0-9]+: (row: |([0-9]+ cases in a row))/\2/p' $(LOG).$$part; done; } >$$out; \
	grep -vhE '^ *(=== |--- PASS)|row: ' $(LOG).[123] | grep -B20 FAIL | head -n 60; rm -f $(LOG).[123]; grep -E 'in a row|FAILED' $$out; exit $$status

# Hosts that somebody else set up: 300 drawn on the machine's own kernel, which takes root, 75 on
# each of the others, and the recorded ones on all; PROVE_SEED draws others. Two halves run at
# the same time, each goes on where it was stopped.
prove-discover: deps deps-qemu
	@export PROVE_SEED=$${PROVE_SEED:-1}; \
	PROVE_HOSTS=25 docs/proofs/prove discover-emulated 3 ./internal/lab/labtest/discovering TestDiscover 1 $(filter-out uml,$(ERAS)) & emulated=$$!; \
	PROVE_HOSTS=60 docs/proofs/prove discover-host 5 ./internal/lab/labtest/discovering TestDiscover 1 host && \
	PROVE_HOSTS=25 docs/proofs/prove discover-uml 3 ./internal/lab/labtest/discovering TestDiscover 1 uml; status=$$?; \
	wait $$emulated && [ $$status = 0 ] && \
	docs/proofs/prove discover-recorded 1 ./internal/lab/labtest/discovering TestDiscoverRecorded 1 host $(ERAS); status=$$?; \
	cat docs/proofs/discover-host.txt docs/proofs/discover-uml.txt docs/proofs/discover-emulated.txt docs/proofs/discover-recorded.txt >docs/proofs/discover.txt; exit $$status

# Programs with known limits over a bond, drawn afresh: by which link each leaves
# and what limits it, watched without a packet.
prove-live: deps deps-peers
	@PROVE_SEED=$${PROVE_SEED:-$$(date +%s)} docs/proofs/prove live 5 ./internal/lab/labtest/live TestLive 1 uml

# A million trials in each database, and a year of one path read back; the rest of
# the suite before it.
prove-store:
	@PROVE_SEED=$${PROVE_SEED:-1} docs/proofs/prove store 1 ./internal/store 'Test(StoreProof|SQLite|PostgreSQL)'

# Everything that plan, apply, confirm and rollback are tried with, six parts of a
# minute or two; PROVE_SEED draws the moments of an interrupt.
prove-changes: deps
	@PROVE_SEED=$${PROVE_SEED:-1} docs/proofs/prove changes 6 ./internal/lab/labtest/changing TestChanges 1 uml

# Fourteen parts, a scenario each, then bonds of 2, 3 and 4 links; two halves run at the
# same time, the odd parts and the even ones, each goes on where it was stopped; the
# balance-rr bonds have the machine to themselves. The verdict is over all of them.
prove-tune: deps
	@PROVE_HALF=1 PROVE_SEED=1 docs/proofs/prove tune-odd 6 ./internal/lab/labtest/tuning TestTuning 1 uml & odd=$$!; \
	PROVE_HALF=2 PROVE_SEED=1 docs/proofs/prove tune-even 6 ./internal/lab/labtest/tuning TestTuning 1 uml; even=$$?; \
	wait $$odd && [ $$even = 0 ]; status=$$?; \
	if [ $$status = 0 ]; then PROVE_HALF=3 PROVE_SEED=1 docs/proofs/prove tune-alone 2 ./internal/lab/labtest/tuning TestTuning 1 uml; status=$$?; fi; \
	cat docs/proofs/tune-odd.txt docs/proofs/tune-even.txt docs/proofs/tune-alone.txt >docs/proofs/tune.txt; \
	[ $$status = 0 ] || exit $$status; \
	PROVE_VERDICT=1 go test -count=1 -v -run '^TestProof$$' ./internal/lab/labtest/tuning >$(LOG) 2>&1; status=$$?; \
	sed -nE 's/^ +proof_test.go:[0-9]+: /verdict: /p' $(LOG) | tee -a docs/proofs/tune.txt; \
	PROVE_TABLE=1 go test -count=1 -run '^TestTable$$' ./internal/lab/labtest/tuning >/dev/null || status=1; \
	[ $$status = 0 ] || { tail -n 3 $(LOG); exit 1; }; \
	rm -f docs/proofs/tune-odd.txt docs/proofs/tune-even.txt docs/proofs/tune-alone.txt

# Ten runs of all scenarios, of less than 25 minutes each, on two cores.
prove-scenarios: deps deps-nfs deps-peers
	@PROVE_PROGRAM=./cmd/linerate docs/proofs/prove scenarios 10 ./internal/lab/labtest/scenarios TestScenarios 1 uml

# One of them by itself, ten times: NAME=nfs-lacp, three minutes a run, is what two links carry of NFS.
prove-scenario: deps deps-nfs deps-peers
	@PROVE_PROGRAM=./cmd/linerate PROVE_SCENARIO=$(or $(NAME),$(error say which: make prove-scenario NAME=nfs-lacp)) docs/proofs/prove scenario-$(NAME) 10 ./internal/lab/labtest/scenarios TestScenarios 1 uml

# Tunes on a machine whose cores are taken away for up to 60 ms at a time, as root: half a minute each.
prove-disturbed: deps
	@PROVE_PROGRAM=./cmd/linerate PROVE_SEED=$${PROVE_SEED:-1} docs/proofs/prove disturbed 6 ./internal/lab/labtest/disturbed TestDisturbed

clean:
	@rm -f linerate $(LOG)
