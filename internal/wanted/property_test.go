package wanted_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/internal/wanted"
	"github.com/linerate/linerate/plan"
	"pgregory.net/rapid"
)

// TestWantedIsReached: whatever a file wants of the running host, once the plan
// is carried out the same file wants nothing more.
func TestWantedIsReached(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		text := drawnText(rt)
		f, err := fabric.Parse("f", []byte(text))
		if err != nil {
			rt.Fatalf("%v\n%s", err, text)
		}
		r := wanted.Request{Fabric: f, Host: "h", Observed: running(), Exact: rapid.Bool().Draw(rt, "exact")}
		state, err := wanted.Of(r)
		if err != nil {
			rt.Fatalf("%v\n%s", err, text)
		}
		steps, err := plan.Between(r.Observed, state.Host)
		if err != nil {
			rt.Fatalf("between: %v\n%s", err, text)
		}
		after, err := plan.Apply(r.Observed, steps)
		if err != nil {
			rt.Fatalf("apply: %v\n%s", err, text)
		}
		if more, err := plan.Between(after, state.Host); err != nil || len(more.Steps) > 0 {
			rt.Fatalf("not what was wanted: %v\n%s\n%s", err, more.Text(80), text)
		}
		r.Observed = after
		again, err := wanted.Of(r)
		if err != nil {
			rt.Fatalf("again: %v\n%s", err, text)
		}
		if more, err := plan.Between(after, again.Host); err != nil || len(more.Steps) > 0 {
			rt.Fatalf("wants more: %v\n%s\n%s", err, more.Text(80), text)
		}
		back, err := plan.Apply(after, steps.Rollback())
		if err != nil {
			rt.Fatalf("undo: %v\n%s", err, text)
		}
		if more, err := plan.Between(back, running()); err != nil || len(more.Steps) > 0 {
			rt.Fatalf("undone, it is not as it was: %v\n%s\n%s", err, more.Text(80), text)
		}
	})
}

// wish is a fabric that the running host can have.
func drawnText(t *rapid.T) string {
	one := func(name string, words ...string) string { return rapid.SampledFrom(words).Draw(t, name) }
	var b strings.Builder
	b.WriteString("linerate: v1\nhosts:\n  h:\n    network:\n      ethernets:\n")
	fmt.Fprintf(&b, "        eth0: {%s}\n", one("eth0", "", "addresses: [10.0.0.1/24]", "mtu: 9000, addresses: [10.0.0.1/24, 10.0.0.2/24, \"fd00::1/64\"]",
		"addresses: [10.0.0.9/16], routes: [{to: 10.78.0.0/16, via: 10.0.0.254}, {to: 10.79.0.1, via: 10.0.0.9}]",
		"addresses: [10.0.0.1/24], routing-policy: [{from: 10.0.0.1, table: 101}, {from: 10.0.0.0/24, table: 102, priority: 99}]",
		"addresses: [\"fd00:7::1/64\"], routes: [{to: \"fd00:8::/64\", via: \"fd00:7::9\"}]"))
	fmt.Fprintf(&b, "        eth1: {%s}\n", one("eth1", "dhcp4: true", "", "addresses: [10.1.0.1/24], dhcp4: true"))
	b.WriteString("        eth2: {}\n        eth3: {}\n        eth4: {}\n      bonds:\n")
	ports := one("ports", "eth2, eth3", "eth3, eth4", "eth4, eth2, eth3")
	parameters := one("parameters", "", "mode: 802.3ad, lacp-rate: fast", "mode: balance-rr, packets-per-member: 3, mii-monitor-interval: 50",
		"mode: active-backup, primary: eth3, mii-monitor-interval: 100", "mode: balance-xor, transmit-hash-policy: layer3+4, up-delay: 200, mii-monitor-interval: 100")
	fmt.Fprintf(&b, "        bond0: {interfaces: [%s], parameters: {%s}, %s}\n", ports, parameters, one("bond0", "mtu: 9000", "mtu: 1400", "addresses: [10.2.0.1/24, 10.2.0.2/24]"))
	fmt.Fprintf(&b, "      vlans: {%s}\n", one("vlans", "", "lan: {id: 5, link: bond0}", "new: {id: 9, link: bond0, addresses: [10.90.0.1/24]}", "new: {id: 9, link: eth0, mtu: 1400}"))
	fmt.Fprintf(&b, "      dummy-devices: {%s}\n", one("dummies", "", "dm0: {addresses: [10.91.0.1/32]}"))
	fmt.Fprintf(&b, "    profiles: [%s]\n", one("profiles", "", "throughput", "security", "throughput, security"))
	fmt.Fprintf(&b, "    roles: [%s]\n", one("roles", "", "router", "kubernetes, benchmark"))
	fmt.Fprintf(&b, "    source_rules: [%s]\n", one("sources", "", "eth1", "eth0, eth1", "bond0, eth1"))
	fmt.Fprintf(&b, "    links: {%s}\n", one("links", "", "eth0: {qdisc: fq, rings: {rx: 1024}}", "eth1: {offloads: {gro: off}, qdisc: fq_codel}"))
	fmt.Fprintf(&b, "    mptcp: {%s}\n", one("mptcp", "", "subflows: 4", "add_addr_accepted: 3, endpoints: [{address: 10.1.0.7, dev: eth1, flags: [subflow]}]"))
	fmt.Fprintf(&b, "    multipath: [%s]\n", one("multipath", "", "{to: 10.200.0.0/16, hops: [{dev: eth1, via: 10.1.0.254}, {dev: eth1, via: 10.1.0.253, weight: 3}]}"))
	b.WriteString("paths: []\n")
	if rapid.Bool().Draw(t, "path") {
		text := strings.Replace(b.String(), "paths: []\n", "", 1)
		return text + "  peer: {network: {ethernets: {e: {addresses: [10.1.0.200/24]}}}}\npaths: [{between: [h, peer], rtt: 20ms, rate: 10G}]\nmeasure: {streams: [64]}\n"
	}
	return b.String()
}
