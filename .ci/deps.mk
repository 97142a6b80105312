# What tests and proofs need of a machine: packages by Debian's names, and what is fetched beside them.

# Debian packages beyond Go, make and git. Those of `deps` are for every test: a kernel for the lab, and a C compiler
# for the race detector (the program itself is built without one), and what limits packets in labs. The others have a name each, since their packages
# start servers, let users become root or are large.
DEPS         := user-mode-linux gcc libc6-dev nftables
DEPS_nfs     := nfs-kernel-server nfs-common
DEPS_ssh     := openssh-server openssh-client sudo
DEPS_ansible := ansible-core ansible-lint
DEPS_metrics := prometheus
DEPS_pages   := chromium fonts-liberation
DEPS_package := debootstrap
DEPS_bench   := iperf3 iperf nuttcp
DEPS_qemu    := qemu-system-x86 kmod xz-utils cpio
DEPS_config  := udev zsh fish
DEPS_peers   := iperf3 iperf nuttcp iputils-ping
DEPS_store   := postgresql
DEPS_snmp    := snmpd iproute2
CLUSTERS     := /etc/postgresql-common/createcluster.conf

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

deps: ## what every test needs
	$(call install,$(DEPS))

deps-nfs deps-ssh deps-ansible deps-metrics deps-pages deps-package deps-bench deps-snmp: deps-%:
	$(call install,$(DEPS_$*))

# Kernels go to .lab-kernels, or where LINERATE_LAB_KERNELS says; once. So do peers (LINERATE_LAB_PEERS), and netplan's
# generator and NetworkManager, which read what render writes, and Open vSwitch (LINERATE_LAB_CONFIG).
deps-qemu:
	$(call install,$(DEPS_qemu))
	@internal/lab/guest/fetch-kernels || { echo "== kernels of other releases: NOT FETCHED"; [ -z "$$CI" ]; }

deps-peers:
	$(call install,$(DEPS_peers))
	@internal/traffic/iperf3server/fetch-peers || echo "== iperf3 of other releases: NOT ALL FETCHED, tests use those that are here"

deps-config:
	$(call install,$(DEPS_config))
	@for fetch in render/fetch-*; do $$fetch || echo "== $$fetch: NOT FETCHED, tests name what they leave out"; done

# The programs without a server: Debian's own switch keeps the package from making a database of the machine's, for as
# long as it is being installed.
deps-store:
	@[ -n "$$(ls -d /usr/lib/postgresql/*/bin/postgres 2>/dev/null)" ] || [ "$$(id -u)" != 0 ] || $(MAKE) --no-print-directory no-cluster
	$(call install,$(DEPS_store))
	@if [ -e $(CLUSTERS).linerate ]; then mv $(CLUSTERS).linerate $(CLUSTERS); fi

no-cluster:
	$(call install,postgresql-common)
	@if command -v pg_conftool >/dev/null; then cp -p $(CLUSTERS) $(CLUSTERS).linerate && pg_conftool $(CLUSTERS) set create_main_cluster off; fi

# Tests in CI want it all; elsewhere servers are the user's word: make deps-nfs, -ssh, -ansible, -store, -snmp, -metrics, -pages.
deps-all: deps deps-qemu deps-peers deps-config $(if $(CI),deps-nfs deps-ssh deps-ansible deps-store deps-snmp deps-metrics deps-pages vuln)

