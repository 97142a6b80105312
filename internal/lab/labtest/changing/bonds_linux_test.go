package changing

import (
	"strings"
	"testing"
	"time"

	"github.com/linerate/linerate/internal/lab"
	"github.com/linerate/linerate/netstate"
)

func bondFile(address, parameters, more string) string {
	return "ethernets: {eth0: {}, eth1: {}}\nbonds:\n  bond0: {interfaces: [eth0, eth1], addresses: [" + address + "]" + more + ", parameters: {" + parameters + "}}\n"
}

// plainHostsBecomeBonds: two links that were plain become an LACP bond with
// a VLAN and large frames, and the address moves with them; and back.
func plainHostsBecomeBonds(t *testing.T) {
	lacp := "mode: 802.3ad, transmit-hash-policy: layer3+4, mii-monitor-interval: 100"
	vlan := func(a string) string {
		return "vlans:\n  bond0.100: {id: 100, link: bond0, mtu: 9000, addresses: [" + a + "]}\n"
	}
	g := newGround(t, plainPair(), pairFile(
		bondFile("10.0.0.1/24", lacp, ", mtu: 9000")+vlan("10.1.0.1/24"),
		bondFile("10.0.0.2/24", lacp, ", mtu: 9000")+vlan("10.1.0.2/24")))
	groups(t, "alpha", "beta")
	before := g.both()
	o := g.apply()
	if !o.Confirmed {
		t.Errorf("not confirmed: %+v", o)
	}
	g.settled()
	for name, h := range g.both() {
		bond, _ := h.Link("bond0")
		tagged, _ := h.Link("bond0.100")
		if bond.Bond == nil || bond.Bond.AD == nil || bond.Bond.AD.Ports != 2 || bond.MTU != 9000 || tagged.MTU != 9000 {
			t.Errorf("%s: bond %+v, VLAN %+v", name, bond, tagged)
		}
	}
	in(t, "alpha", "ping -c 1 -W 2 -M do -s 8972 10.0.0.2")
	in(t, "alpha", "ping -c 1 -W 2 -M do -s 8972 10.1.0.2")
	g.rollbackAll(o)
	g.unchanged(before)
	await(t, "the switch to use a port without a partner", 30*time.Second, func() bool { return pings("alpha", "10.0.0.2") })
}

// noPartner: the switch knows no group, so that the bond finds no partner.
func noPartner(t *testing.T) {
	lacp := "mode: 802.3ad, transmit-hash-policy: layer3+4, mii-monitor-interval: 100"
	g := newGround(t, plainPair(), pairFile(bondFile("10.0.0.1/24", lacp, ""), "ethernets: {eth0: {addresses: [10.0.0.2/24]}}"))
	before := g.both()
	if _, errs := g.fails("apply", g.file, "--yes", "--host", "alpha"); !strings.Contains(errs, "no LACP partner answers") || !strings.Contains(errs, "--accept partner") {
		t.Errorf("the reason or the hint is missing in:\n%s", errs)
	}
	g.unchanged(before)
	o := g.apply("--host", "alpha", "--accept", "partner")
	if bond, _ := g.host("alpha").Link("bond0"); !o.Confirmed || bond.Bond == nil {
		t.Errorf("not kept: %+v", o)
	}
	in(t, "alpha", "ping -c 1 -W 2 10.0.0.2")
	g.rollbackAll(o)
	g.unchanged(before)
}

// modesAtBothEnds changes the bonding mode of both ends of two cables, while
// routes lead over the bonds.
func modesAtBothEnds(t *testing.T) {
	for _, tt := range []struct {
		name, bond, wanted string
		mode               netstate.BondMode
	}{
		{"backup to LACP", "mode active-backup miimon 100", "mode: 802.3ad, mii-monitor-interval: 100, min-links: 2", netstate.LACP},
		{"rr to xor", "mode balance-rr miimon 100", "mode: balance-xor, mii-monitor-interval: 100, transmit-hash-policy: layer3+4", netstate.BalanceXOR},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := backToBack(t, pairFile(bondFile("10.0.0.1/24", tt.wanted, ""), bondFile("10.0.0.2/24", tt.wanted, "")), tt.bond)
			ip(t, "alpha", "route add default via 10.0.0.2")
			ip(t, "alpha", "route add 10.9.0.0/16 via 10.0.0.2 metric 7 mtu 1400")
			ip(t, "alpha", "route add 10.7.0.0/16 via 10.0.0.2 table 100")
			ip(t, "alpha", "rule add from 10.0.0.1 lookup 100 pref 1000")
			ip(t, "beta", "route add 10.8.0.0/16 via 10.0.0.1 proto static")
			before := g.both()
			o := g.apply()
			g.settled()
			for name, h := range g.both() {
				if bond, _ := h.Link("bond0"); bond.Bond.Mode != tt.mode {
					t.Errorf("%s has mode %s", name, bond.Bond.Mode)
				}
				if len(h.Routes) != len(before[name].Routes) {
					t.Errorf("%s has %d routes, had %d", name, len(h.Routes), len(before[name].Routes))
				}
			}
			g.rollbackAll(o)
			g.unchanged(before)
		})
	}
}

// changedByHand: what somebody sets after a change is theirs, and rollback
// says so.
func changedByHand(t *testing.T) {
	g := newGround(t, topology(t), twoBonds("mode: 802.3ad, transmit-hash-policy: layer3+4, min-links: 1", ""))
	before := g.both()
	o := g.apply("--host", "alpha")
	ip(t, "alpha", "link set bond0 type bond xmit_hash_policy layer2+3")
	out := g.must(0, "rollback", o.Hosts[0].Journal, "--host", "netns:"+lab.Namespace("alpha"))
	if !strings.Contains(out, "left: ") || !strings.Contains(out, "layer2+3") {
		t.Errorf("nobody is told of the policy that was left:\n%s", out)
	}
	bond, _ := g.host("alpha").Link("bond0")
	if was, _ := before["alpha"].Link("bond0"); bond.Bond.HashPolicy != netstate.Layer23 || bond.Bond.MinLinks != was.Bond.MinLinks {
		t.Errorf("policy %s, min_links %d", bond.Bond.HashPolicy, bond.Bond.MinLinks)
	}
}
