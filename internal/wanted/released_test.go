package wanted_test

import (
	"testing"
	"time"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/plan"
)

// bonded is the running host with a bond that has given its ports its address, or has
// left them theirs, as the kernel does in the mode.
func bonded(mode netstate.BondMode, failOverMAC string) netstate.Host {
	h := running()
	bond, _ := h.Link("bond0")
	bond = bond.Clone()
	bond.Bond.Mode, bond.Bond.Miimon = mode, 100*time.Millisecond
	bond.Bond.Options["fail_over_mac"] = failOverMAC
	for i, name := range []string{"eth2", "eth3"} {
		l, _ := h.Link(name)
		l.PermanentMAC = flow.MAC{2, 0, 0, 0, 0, byte(0x12 + i)}
		if l.MAC = bond.MAC; mode == netstate.ActiveBackup && failOverMAC == "active" {
			l.MAC = flow.MAC{2, 0, 0, 0, 0, byte(0x22 + i)} // set while it was a port
		}
		h.SetLink(l)
	}
	bond.Offloads = map[string]bool{"tso": true, "gro": true}
	h.SetLink(bond)
	return h
}

// TestReleasedPortsAddresses: a port that its bond lets go has the hardware address that
// it came with, in every mode; only fail_over_mac active leaves it what it has (finding 3).
func TestReleasedPortsAddresses(t *testing.T) {
	for _, mode := range netstate.BondModes() {
		policies := []string{"none"}
		if mode == netstate.ActiveBackup {
			policies = []string{"none", "active", "follow"}
		}
		for _, policy := range policies {
			for name, text := range map[string]string{
				"bond gone":           "    reach: \"local:\"\n    absent: [lan, bond0]\n",
				"and an address":      "    network: {ethernets: {eth2: {addresses: [10.2.0.1/24]}, eth3: {}}}\n    absent: [lan, bond0]\n",
				"one port out":        "    network: {ethernets: {eth2: {}, eth3: {}}, bonds: {bond0: {interfaces: [eth2]}}}\n",
				"first port out":      "    network: {ethernets: {eth2: {}, eth3: {}}, bonds: {bond0: {interfaces: [eth3]}}}\n",
				"all ports out":       "    network: {ethernets: {eth2: {}, eth3: {}}, bonds: {bond0: {interfaces: []}}}\n",
				"into another's care": "    network: {ethernets: {eth2: {}, eth4: {}}, bonds: {b1: {interfaces: [eth4, eth2]}}}\n",
			} {
				t.Run(mode.String()+" "+policy+" "+name, func(t *testing.T) {
					h := bonded(mode, policy)
					state := ofHost(t, h, text)
					p, err := plan.Between(h, state.Host)
					if err != nil {
						t.Fatal(err)
					}
					after, err := plan.Apply(h, p)
					if err != nil {
						t.Fatal(err)
					}
					for i, name := range []string{"eth2", "eth3"} {
						is, _ := after.Link(name)
						if is.Master != "" {
							continue
						}
						want := flow.MAC{2, 0, 0, 0, 0, byte(0x12 + i)}
						if policy == "active" {
							want[5] = byte(0x22 + i)
						}
						if wanted, _ := state.Host.Link(name); is.MAC != want || wanted.MAC != want {
							t.Errorf("%s: %s after the plan, %s is proven, %s is the kernel's", name, is.MAC, wanted.MAC, want)
						}
					}
					if l, ok := state.Host.Link("bond0"); ok && len(l.Bond.Ports) != 2 {
						if _, said := l.Offloads["tso"]; said {
							t.Errorf("tso of bond0 is to stay, though its ports make it")
						}
					}
					if back, err := plan.Apply(after, p.Rollback()); err != nil {
						t.Errorf("undo: %v", err)
					} else if l, _ := back.Link("eth2"); l.Master != "bond0" {
						t.Errorf("after undo eth2 is a port of %q", l.Master)
					}
				})
			}
		}
	}
}

// TestAddressOfReplacedPorts gives a bond of which no port stays its new first port's
// address, and an empty one its first's so that a rollback finds the one that it had.
func TestAddressOfReplacedPorts(t *testing.T) {
	h := bonded(netstate.BalanceRR, "none")
	for name, last := range map[string]byte{"eth2": 3, "eth4": 0x14} { // the bond has eth2's
		l, _ := h.Link(name)
		l.PermanentMAC = flow.MAC{2, 0, 0, 0, 0, last}
		if l.Master == "" {
			l.MAC = l.PermanentMAC
		}
		h.SetLink(l)
	}
	const text = "    network: {ethernets: {eth2: {}, eth3: {}, eth4: {}}, bonds: {bond0: {interfaces: "
	macOf := func(ports string) (flow.MAC, plan.Plan, netstate.Host) {
		p := twice(t, h, noProfiles+text+ports+"}}}\n")
		after, err := plan.Apply(h, p)
		if err != nil {
			t.Fatal(err)
		}
		l, _ := after.Link("bond0")
		return l.MAC, p, after
	}
	if mac, p, _ := macOf("[eth4]"); mac != (flow.MAC{2, 0, 0, 0, 0, 0x14}) {
		t.Errorf("all replaced: %s\n%s", mac, p.Text(80))
	}
	if mac, p, _ := macOf("[eth3, eth4]"); mac != (flow.MAC{2, 0, 0, 0, 0, 3}) {
		t.Errorf("one stays: %s\n%s", mac, p.Text(80))
	}
	said(t, ofHost(t, h, text+"[eth3, eth4]}}}\n").Warnings, "bond0 keeps the hardware address of eth2, which leaves it")

	_, _, h = macOf("[]")
	bond, _ := h.Link("bond0")
	bond.MAC = flow.MAC{2, 0, 0, 0, 0, 0x55} // as the kernel drew it
	h.SetLink(bond)
	mac, p, after := macOf("[eth4]")
	back, err := plan.Apply(after, p.Rollback())
	if err != nil {
		t.Fatal(err)
	}
	if l, _ := back.Link("bond0"); mac != (flow.MAC{2, 0, 0, 0, 0, 0x14}) || l.MAC != bond.MAC {
		t.Errorf("first port of an empty bond: %s, after undo %s\n%s", mac, l.MAC, p.Text(80))
	}
}
