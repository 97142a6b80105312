package wanted_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/plan"
)

// onePort is the running host whose bond has eth2 alone.
func onePort() netstate.Host {
	h := running()
	l, _ := h.Link("eth3")
	l.Master, l.Port = "", nil
	h.SetLink(l)
	bond, _ := h.Link("bond0")
	bond = bond.Clone()
	bond.Bond.Ports = []string{"eth2"}
	h.SetLink(bond)
	return h
}

const noProfiles = "    profiles: []\n"

// TestBondOfFewPorts declares bonds with one port and with none, on hosts that have
// them, that have more ports, and that have no such bond.
func TestBondOfFewPorts(t *testing.T) {
	none := onePort()
	eth2, _ := none.Link("eth2")
	eth2.Master, eth2.Port = "", nil
	none.SetLink(eth2)
	bond, _ := none.Link("bond0")
	bond.Bond.Ports, bond.Bond.Active = []string{}, ""
	none.SetLink(bond)
	const ports = noProfiles + "    network: {ethernets: {eth2: {}, eth3: {}, eth4: {activation-mode: manual}}, bonds: "
	for name, tt := range map[string]struct {
		observed netstate.Host
		bonds    string
		ports    []string
		steps    bool
		note     string
	}{
		"as it is, one":       {onePort(), "{bond0: {interfaces: [eth2]}}", []string{"eth2"}, false, "bond0 has one port, eth2: nothing is spread"},
		"as it is, none":      {none, "{bond0: {interfaces: []}}", []string{}, false, "bond0 has no port: it carries nothing"},
		"ports not said":      {running(), "{bond0: {}}", []string{"eth2", "eth3"}, false, ""},
		"one port, not said":  {onePort(), "{bond0: {}}", []string{"eth2"}, false, "bond0 has one port"},
		"new, one":            {running(), "{b1: {interfaces: [eth4]}}", []string{"eth4"}, true, "b1 has one port, eth4"},
		"new, none":           {running(), "{b1: {interfaces: []}}", []string{}, true, "b1 has no port"},
		"new, ports not said": {running(), "{b1: {}}", []string{}, true, "b1 has no port"},
		"all ports out":       {running(), "{bond0: {interfaces: []}}", []string{}, true, "bond0 has no port"},
		"one port out":        {running(), "{bond0: {interfaces: [eth3]}}", []string{"eth3"}, true, "bond0 has one port, eth3"},
		"port replaced":       {onePort(), "{bond0: {interfaces: [eth4]}}", []string{"eth4"}, true, "bond0 has one port, eth4"},
		"first port of empty": {none, "{bond0: {interfaces: [eth4]}}", []string{"eth4"}, true, "bond0 has one port"},
	} {
		t.Run(name, func(t *testing.T) {
			p := twice(t, tt.observed, ports+tt.bonds+"}\n")
			if len(p.Steps) > 0 != tt.steps {
				t.Errorf("steps: %v\n%s", tt.steps, p.Text(80))
			}
			after, err := plan.Apply(tt.observed, p)
			if err != nil {
				t.Fatal(err)
			}
			id, _, _ := strings.Cut(strings.TrimPrefix(tt.bonds, "{"), ":")
			l, _ := after.Link(id)
			if diff := cmp.Diff(tt.ports, l.Bond.Ports, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("ports (-want +got):\n%s", diff)
			}
			if back, err := plan.Apply(after, p.Rollback()); err != nil {
				t.Errorf("undo: %v", err)
			} else if l, was := back.Link("bond0"); !was || len(l.Bond.Ports) != len(portsOf(tt.observed, "bond0")) {
				t.Errorf("after undo bond0 has %v", l.Bond.Ports)
			}
			warned := strings.Join(ofHost(t, tt.observed, strings.TrimPrefix(ports, noProfiles)+tt.bonds+"}\n").Warnings, "\n")
			if !strings.Contains(warned, tt.note) || tt.note == "" && strings.Contains(warned, "port") {
				t.Errorf("warnings %q, want %q", warned, tt.note)
			}
		})
	}
}

func portsOf(h netstate.Host, bond string) []string {
	l, _ := h.Link(bond)
	return l.Bond.Ports
}

// TestPortOfTheHostsBond gives a port of a bond that the file does not name what a
// port cannot have: the host would lose what the bond has (finding 2).
func TestPortOfTheHostsBond(t *testing.T) {
	for name, tt := range map[string]struct{ text, want string }{
		"the bond's own address": {"{eth2: {addresses: [10.2.0.1/24]}}", "eth2 is a port of bond0, and a port's addresses are not used"},
		"another address":        {"{eth2: {addresses: [10.9.0.1/24]}}", "eth2 is a port of bond0, and a port's addresses are not used"},
		"a route":                {"{eth2: {routes: [{to: 10.9.0.0/16, scope: link}]}}", "eth2 is a port of bond0, and no route leads over a port"},
		"a lease":                {"{eth2: {dhcp4: true}}", "eth2 is a port of bond0, and a port asks for no lease"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := ofObserved(t, onePort(), "    network: {ethernets: "+tt.text+"}\n")
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Of: %v\nwant %q", err, tt.want)
			}
		})
	}
	h := onePort()
	l, _ := h.Link("eth2")
	l.Addresses = prefixes("10.9.0.1/24")
	h.SetLink(l)
	if p := twice(t, h, noProfiles+"    network: {ethernets: {eth2: {addresses: [10.9.0.1/24]}}}\n"); len(p.Steps) > 0 {
		t.Errorf("an address that a port has already: %s", p.Text(80))
	}
}

// TestFewerPortsThanNeeded tells of a bond that will never have carrier.
func TestFewerPortsThanNeeded(t *testing.T) {
	s := must(t, "    network: {ethernets: {eth2: {}, eth3: {}}, bonds: {bond0: {interfaces: [eth2, eth3], parameters: {mode: 802.3ad, min-links: 3}}}}\n", false)
	said(t, s.Warnings, "bond0 never has carrier: it needs 3 ports (min_links) and has 2")
}

// TestPortMTU lets a port have an MTU of its own, as the kernel does, and says what
// that does.
func TestPortMTU(t *testing.T) {
	for _, mtu := range []string{"1400", "9000"} {
		text := "    network: {ethernets: {eth2: {mtu: " + mtu + "}, eth3: {}}, bonds: {bond0: {interfaces: [eth2, eth3]}}}\n"
		if p := twice(t, running(), noProfiles+text); len(p.Steps) != 1 || p.Steps[0].Change() != "eth2 mtu: 1500 -> "+mtu {
			t.Errorf("mtu %s:\n%s", mtu, p.Text(80))
		}
		said(t, must(t, text, false).Warnings, "eth2, a port of bond0, has MTU "+mtu)
	}
}

// TestNoARPTargets turns ARP monitoring off.
func TestNoARPTargets(t *testing.T) {
	h := running()
	bond, _ := h.Link("bond0")
	bond = bond.Clone()
	bond.Bond.Miimon = 0
	bond.Bond.Options["arp_interval"], bond.Bond.Options["arp_ip_target"] = "60", "10.2.0.9"
	h.SetLink(bond)
	for _, text := range []string{
		"bonds: {bond0: {interfaces: [eth2, eth3], parameters: {arp-interval: 0, arp-ip-targets: []}}}}\n",
		"bonds: {bond0: {interfaces: [eth2, eth3]}}}\n    bonding: {bond0: {arp_interval: 0, arp_ip_target: none}}\n",
	} {
		p := twice(t, h, noProfiles+"    network: {ethernets: {eth2: {}, eth3: {}}, "+text)
		after, err := plan.Apply(h, p)
		if err != nil {
			t.Fatal(err)
		}
		if l, _ := after.Link("bond0"); l.Bond.Options["arp_interval"] != "0" || l.Bond.Options["arp_ip_target"] != "" {
			t.Errorf("%v\n%s", l.Bond.Options, p.Text(80))
		}
	}
}

// TestPortOptions says what ports are in their bonds: queues, and of 802.3ad from Linux
// 6.18 on the priority that ad_select actor_port_prio chooses by.
func TestPortOptions(t *testing.T) {
	h := bonded(netstate.LACP, "none")
	h.Kernel.Release = "6.18.2"
	for _, name := range []string{"eth2", "eth3"} {
		l, _ := h.Link(name)
		port, n := *l.Port, 255
		port.ActorPriority = &n
		l.Port = &port
		h.SetLink(l)
	}
	const text = "    network: {ethernets: {eth2: {}, eth3: {}, eth4: {}}, bonds: {bond0: {interfaces: [eth2, eth3, eth4]}}}\n" +
		"    links: {eth2: {queue_id: 2, actor_port_prio: 100}, eth4: {queue_id: 1, actor_port_prio: 7}}\n"
	p := twice(t, h, noProfiles+text)
	after, err := plan.Apply(h, p)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][2]int{"eth2": {2, 100}, "eth3": {0, 255}, "eth4": {1, 7}} {
		if l, _ := after.Link(name); l.Port.QueueID != want[0] || l.Port.ActorPriority == nil || *l.Port.ActorPriority != want[1] {
			t.Errorf("%s: %+v, want %v\n%s", name, l.Port, want, p.Text(80))
		}
	}
	if _, err := plan.Apply(after, p.Rollback()); err != nil {
		t.Errorf("undo: %v", err)
	}
	out := twice(t, after, noProfiles+"    network: {ethernets: {eth2: {}, eth3: {}, eth4: {}}, bonds: {bond0: {interfaces: [eth3]}}}\n")
	if _, err := plan.Apply(after, out); err != nil {
		t.Errorf("ports with options leave: %v", err)
	}
	h.Kernel.Release = "6.12.1"
	for _, name := range []string{"eth2", "eth3"} {
		l, _ := h.Link(name)
		port := *l.Port
		port.ActorPriority = nil
		l.Port = &port
		h.SetLink(l)
	}
	if _, err := plan.Between(h, ofHost(t, h, text).Host); err == nil || !strings.Contains(err.Error(), "it came with Linux 6.18") {
		t.Errorf("on 6.12: %v", err)
	}
}
