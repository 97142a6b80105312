# Proofs that take longer than a test may, each once or again and again, with its result in docs/proofs/NAME.txt.
# `make help` lists them; PROVE_SEED draws others.

PROVE := docs/proofs/prove
LABTEST := ./internal/lab/labtest

# Kernels that steering is proven on: User-Mode Linux (6.1), one older, one newer.
ERAS := uml 5.10 6.12

# Proofs whose draws are the same until PROVE_SEED says another, and those that draw afresh.
prove-predict prove-states prove-discover prove-store prove-changes prove-crash prove-disturbed: export PROVE_SEED ?= 1
prove-tune: export PROVE_SEED := 1
prove-explain prove-field prove-fieldlive prove-live: export PROVE_SEED ?= $(shell date +%s)

prove-demo: deps ## five runs in a row of the demo
	@$(PROVE) demo 5 ./cmd/linerate TestDemo

prove-spread: deps ## ports chosen to split evenly, twenty runs
	@$(PROVE) spread 1 $(LABTEST) TestChosenPortsSplitEvenly 20

prove-pick: deps ## chosen ports beside the kernel's, fifty runs in five labs, on 2 and on 4 links
	@$(PROVE) pick 5 $(LABTEST) TestPickedPorts 10

prove-eras: deps deps-qemu ## the bonding driver's hash on kernels before and after its changes
	@PROVE_FLOWS=$${PROVE_FLOWS:-2000} $(PROVE) eras 1 $(LABTEST)/steering 'Test.*' 1 $(ERAS)

prove-mptcp: deps-qemu ## one MPTCP connection over a whole bond, five runs
	@$(PROVE) mptcp 5 $(LABTEST)/subflows TestOneConnectionUsesEveryLink 1 6.1

prove-probe: deps ## even sets through a switch that is not told of
	@$(PROVE) probe 5 $(LABTEST)/probing TestFindsEvenSets 2

prove-learned: deps ## a switch's hash learned, chosen ports both ways at once: fifty runs, every hash over 2, 4 and 8 links
	@$(PROVE) learned 50 $(LABTEST)/probing TestLearnedPorts 1 uml

prove-care: deps ## latency, links that fail, a network in use: all of the sample's cases
	@$(PROVE) care 3 $(LABTEST)/care 'Test.*'

# Sixteen parts of two minutes: four seeds, of each a long run before and after fifty short ones.
prove-stop: deps ## the stop rule's intervals against long runs, half an hour
	@$(PROVE) stop 16 $(LABTEST)/stopping TestStopRule 1 uml
	@docs/proofs/verdict stop $(LABTEST)/stopping

prove-accuracy: deps ## goodput against shapers and counters
	@$(PROVE) accuracy 3 $(LABTEST)/accuracy TestAccuracy 1 host uml

prove-interop: deps-peers ## every option of every iperf3 against `linerate listen`, 32 clients at once, floods
	@$(PROVE) interop 3 ./internal/traffic/iperf3server 'Test(Iperf3|ManyIperf3|Flood)' 1

prove-fleet: ## 1,000 to 1,000,000 flows shared over 10,000 hosts, and against linear programs: a minute
	@$(PROVE) fleet 3 ./predict 'Test(FleetGrowth|MaxMinLP)'

# 10, 100, 300 and 1,000 agents, and then a matrix over a cluster of three servers, of which each is killed once,
# the controller and an agent; then a hundred changes, eight hosts side by side, each with the way to NATS cut at
# some moment.
prove-scale: ## agents on NATS, a cluster's servers killed, changes whose network is cut: ten minutes
	@$(PROVE) scale 4 ./internal/agent/fleet TestNATSScale
	@$(PROVE) cluster 1 ./internal/cmd/root TestMeasureOverCluster
	@GOFLAGS="$$(go env GOFLAGS) -parallel=8" $(PROVE) cut 1 ./internal/cmd/root TestApplyCutOff

prove-predict: deps ## networks drawn at random, predicted and then measured, half an hour
	@$(PROVE) predict 15 $(LABTEST)/predicting TestPredict 1 uml
	@docs/proofs/verdict predict $(LABTEST)/predicting

# 240 networks in lab kernels, two at a time, each run a minute or two, and 60 on the running kernel, which takes
# root.
prove-explain: deps ## networks with faults, what is named held against what mends them
	@echo "seed $$PROVE_SEED"; \
	PROVE_HALF=0 $(PROVE) explain-0 20 $(LABTEST)/explaining TestExplain 1 uml & first=$$!; \
	PROVE_HALF=1 $(PROVE) explain-1 20 $(LABTEST)/explaining TestExplain 1 uml; \
	wait $$first; $(PROVE) explain-host 10 $(LABTEST)/explaining TestExplain 1 host || true
	@rm -f docs/proofs/explain-verdict.txt; docs/proofs/verdict explain-verdict $(LABTEST)/explaining

# Every kind once, odd networks twice, two labs at a time.
prove-field: deps ## faults and odd networks that no other proof draws: what is named first; forty minutes
	@echo "seed $$PROVE_SEED"; \
	PROVE_HALF=0 $(PROVE) field-0 17 $(LABTEST)/field TestField 1 uml & first=$$!; \
	PROVE_HALF=1 $(PROVE) field-1 17 $(LABTEST)/field TestField 1 uml; \
	wait $$first
	@rm -f docs/proofs/field-verdict.txt; docs/proofs/verdict field-verdict $(LABTEST)/field

prove-fieldlive: deps ## the same kinds while another program sends, watched by explain --live at the sender; forty minutes
	@echo "seed $$PROVE_SEED"; \
	PROVE_HALF=0 $(PROVE) fieldlive-0 17 $(LABTEST)/field TestFieldLive 1 uml & first=$$!; \
	PROVE_HALF=1 $(PROVE) fieldlive-1 17 $(LABTEST)/field TestFieldLive 1 uml; \
	wait $$first

prove-fleetssh: deps deps-ssh ## eight hosts over ssh and over NATS, and hosts that fail, as root: seven minutes
	@$(PROVE) fleetssh 1 $(LABTEST)/overssh 'Test[^A].*'

prove-slowlink: deps-ssh ## how soon hosts answer over links of 20 and 100 Mbit/s, as root: five minutes
	@$(PROVE) slowlink 3 $(LABTEST)/overssh TestFirstAnswer

prove-ansible: deps-ssh deps-ansible ## hosts enrolled by the role of deploy/ansible, with systemd and without, as root: six minutes
	@$(PROVE) ansible 1 $(LABTEST)/overssh 'TestAnsible.*'

# Seven parts of two minutes: thirty plans with their cuts, three at a time, power cuts, and sessions killed under
# systemd.
prove-crash: deps ## what changes a host killed at every step, the power cut: a quarter of an hour
	@$(PROVE) crash 7 $(LABTEST)/crash TestCrash
	@docs/proofs/verdict crash $(LABTEST)/crash

prove-states: deps deps-qemu ## 150 drawn states of a host, there and back, 25 with MPTCP; bond options on three kernels
	@PROVE_STATES=10 $(PROVE) states 15 $(LABTEST)/states TestStates 1 uml
	@PROVE_STATES=25 $(PROVE) states-mptcp 1 $(LABTEST)/states TestMPTCPStates 1 host
	@$(PROVE) options 1 $(LABTEST)/states TestBondOptions 1 $(ERAS)

prove-nmstate: deps ## what nmstate's own tests bring a host to, case by case, as a table
	@docs/proofs/nmstate

# Hosts that somebody else set up: 300 drawn on the machine's own kernel, which takes root, 75 on each of the
# others, and the recorded ones on all. Two halves run at the same time, each goes on where it was stopped.
prove-discover: deps deps-qemu ## 500 hosts discovered on four kernels plan nothing, changes put back to the last byte: 40 minutes
	@PROVE_HOSTS=25 $(PROVE) discover-emulated 3 $(LABTEST)/discovering TestDiscover 1 $(filter-out uml,$(ERAS)) & emulated=$$!; \
	PROVE_HOSTS=60 $(PROVE) discover-host 5 $(LABTEST)/discovering TestDiscover 1 host && \
	PROVE_HOSTS=25 $(PROVE) discover-uml 3 $(LABTEST)/discovering TestDiscover 1 uml; status=$$?; \
	wait $$emulated && [ $$status = 0 ] && \
	$(PROVE) discover-recorded 1 $(LABTEST)/discovering TestDiscoverRecorded 1 host $(ERAS); status=$$?; \
	cd docs/proofs; cat discover-host.txt discover-uml.txt discover-emulated.txt discover-recorded.txt >discover.txt; exit $$status

# What a run of go test said, kept under a name; the target fails where the run did.
define said
@log=$$(mktemp); $(1) >$$log 2>&1; status=$$?; sed -n 's/^ *[a-z]*_test.go:[0-9]*: //p' $$log | tee docs/proofs/$(2).txt; rm $$log; exit $$status
endef

prove-paste: ## public questions answered from their text: right, said, missed; 100,000 mutations of them: ten minutes
	$(call said,LINERATE_MUTATIONS=100000 go test -count=1 -timeout 40m -v -run '^TestCorpus' ./diagnose/pasted,paste)

prove-learn: export PROVE_SEED ?= 1
prove-learn: ## switches' hashes learned from two dozen flows, others refused 300 times each: two minutes, ten where others compute
	$(call said,PROVE_LEARN=300 go test -count=1 -timeout 30m -v -run '^Test(Learns|Refuses|Mends|Names)' ./steer/affine,learn)

prove-corpora: ## netplan's, cloud-init's and switch readers' own test inputs read, and compared with what they must become: seconds
	$(call said,go test -count=1 -p 1 -v -run '^TestCorpora' ./render/formats ./internal/evidence/paste,corpora)

prove-live: deps deps-peers ## programs with known limits over a bond, watched without a packet
	@$(PROVE) live 5 $(LABTEST)/live TestLive 1 uml

prove-store: ## a million trials in SQLite and in PostgreSQL, a year of one path read back: ten minutes
	@$(PROVE) store 1 ./internal/store 'Test(StoreProof|SQLite|PostgreSQL)'

prove-changes: deps ## hosts changed as users change them, judged by what they are after
	@$(PROVE) changes 6 $(LABTEST)/changing TestChanges 1 uml

# Fourteen parts, a scenario each, then bonds of 2, 3 and 4 links; two halves run at the same time, the odd parts
# and the even ones, each goes on where it was stopped; the balance-rr bonds have the machine to themselves.
prove-tune: deps ## tune beside every other recipe and a full grid, eleven scenarios: 40 minutes
	@PROVE_HALF=1 $(PROVE) tune-odd 6 $(LABTEST)/tuning TestTuning 1 uml & odd=$$!; \
	PROVE_HALF=2 $(PROVE) tune-even 6 $(LABTEST)/tuning TestTuning 1 uml; even=$$?; \
	wait $$odd && [ $$even = 0 ]; status=$$?; \
	if [ $$status = 0 ]; then PROVE_HALF=3 $(PROVE) tune-alone 2 $(LABTEST)/tuning TestTuning 1 uml; status=$$?; fi; \
	cd docs/proofs; cat tune-odd.txt tune-even.txt tune-alone.txt >tune.txt; exit $$status
	@PROVE_VERDICT=1 docs/proofs/verdict tune $(LABTEST)/tuning; status=$$?; \
	PROVE_TABLE=1 go test -count=1 -run '^TestTable$$' $(LABTEST)/tuning >/dev/null && [ $$status = 0 ]
	@rm -f docs/proofs/tune-odd.txt docs/proofs/tune-even.txt docs/proofs/tune-alone.txt

prove-scenarios: deps deps-nfs deps-peers ## `lab run all`, ten times on two cores, each less than 25 minutes
	@PROVE_PROGRAM=./cmd/linerate $(PROVE) scenarios 10 $(LABTEST)/scenarios TestScenarios 1 uml

prove-scenario: deps deps-nfs deps-peers ## one of them by itself, ten times: NAME=nfs-lacp
	@PROVE_PROGRAM=./cmd/linerate PROVE_SCENARIO=$(or $(NAME),$(error say which: make prove-scenario NAME=nfs-lacp)) $(PROVE) scenario-$(NAME) 10 $(LABTEST)/scenarios TestScenarios 1 uml

prove-disturbed: deps ## tunes on a machine whose cores are taken away, as root: half a minute each
	@PROVE_PROGRAM=./cmd/linerate $(PROVE) disturbed 6 $(LABTEST)/disturbed TestDisturbed

prove-package: deps-package ## the .deb on a clean Debian: installed, the demo run, purged, as root: three minutes
	@$(PROVE) package 1 $(LABTEST)/packages TestPackage
