package rtnl

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/vishvananda/netlink"

	"github.com/linerate/linerate/netstate"
)

// TestKernelBonds makes a bond of every mode and compares what netlink says,
// in our words, with the kernel's own words in sysfs.
func TestKernelBonds(t *testing.T) {
	inNewNamespace(t, func() error {
		first := netlink.NewLinkBond(netlink.LinkAttrs{Name: "bond0"})
		first.Mode = netlink.BOND_MODE_802_3AD
		if err := netlink.LinkAdd(first); errors.Is(err, syscall.EOPNOTSUPP) {
			t.Skip("this kernel has no bonding")
		} else if err != nil {
			return err
		}
		for _, mode := range netstate.BondModes() {
			b := netlink.NewLinkBond(netlink.LinkAttrs{Name: "m-" + mode.String()})
			b.Mode = netlink.BondMode(mode)
			if mode.Hashes() {
				b.XmitHashPolicy = netlink.BondXmitHashPolicy(netstate.Layer34)
			}
			if err := netlink.LinkAdd(b); err != nil {
				return fmt.Errorf("add %s: %w", b.Name, err)
			}
		}
		for _, policy := range netstate.HashPolicies() {
			b := netlink.NewLinkBond(netlink.LinkAttrs{Name: "p-" + policy.String()})
			b.Mode, b.XmitHashPolicy = netlink.BOND_MODE_BALANCE_XOR, netlink.BondXmitHashPolicy(policy)
			if err := netlink.LinkAdd(b); err != nil {
				return fmt.Errorf("add %s: %w", b.Name, err)
			}
		}
		// The second slave has the lower index: enslave order is not theirs.
		for _, pair := range [][2]string{{"s0", "t0"}, {"s1", "t1"}} {
			if err := addVeth(pair[0], pair[1]); err != nil {
				return err
			}
		}
		if err := enslave("bond0", "s1", "s0"); err != nil {
			return err
		}
		if err := up("bond0"); err != nil {
			return err
		}
		time.Sleep(time.Second)
		host, missing, err := read()
		if err != nil {
			return err
		}
		if len(missing) > 0 {
			t.Errorf("missing: %v", missing)
		}
		checkBondWords(t, host)
		checkSlaves(t, host)
		return nil
	})
}

func enslave(bond string, ports ...string) error {
	master, err := netlink.LinkByName(bond)
	if err != nil {
		return err
	}
	for _, name := range ports {
		port, err := netlink.LinkByName(name)
		if err != nil {
			return err
		}
		if err := netlink.LinkSetDown(port); err != nil {
			return err
		}
		if err := netlink.LinkSetMaster(port, master); err != nil {
			return fmt.Errorf("enslave %s: %w", name, err)
		}
		if err := up(name); err != nil {
			return err
		}
	}
	return nil
}

// checkBondWords compares every option with the file of its name.
func checkBondWords(t *testing.T, host netstate.Host) {
	compared := make(map[string]bool)
	for _, l := range host.Links {
		if l.Bond == nil {
			continue
		}
		ours := map[string]string{
			"mode": l.Bond.Mode.String(), "xmit_hash_policy": l.Bond.HashPolicy.String(), "lacp_rate": l.Bond.LACPRate.String(),
			"miimon":    fmt.Sprint(l.Bond.Miimon.Milliseconds()),
			"min_links": fmt.Sprint(l.Bond.MinLinks), "packets_per_slave": fmt.Sprint(l.Bond.PacketsPerSlave), "active_slave": l.Bond.Active,
		}
		for name, value := range l.Bond.Options {
			ours[name] = value
			if strings.HasPrefix(name, "ifla-") {
				t.Errorf("%s: unknown attribute %s = %s", l.Name, name, value)
			}
		}
		for name, value := range ours {
			text, err := os.ReadFile(filepath.Join("/sys/class/net", l.Name, "bonding", name))
			if err != nil {
				// Options of other modes have no readable file.
				continue
			}
			theirs, _, _ := strings.Cut(strings.TrimSpace(string(text)), " ")
			if theirs != value && !(value == "00:00:00:00:00:00" && theirs == "") {
				t.Errorf("%s: %s is %q here and %q in sysfs", l.Name, name, value, theirs)
			}
			compared[name] = true
		}
	}
	if len(compared) < 15 {
		t.Errorf("compared only %v", compared)
	}
}

func checkSlaves(t *testing.T, host netstate.Host) {
	bond, _ := host.Link("bond0")
	if bond.Bond == nil || !slices.Equal(bond.Bond.Ports, []string{"s1", "s0"}) {
		t.Fatalf("enslave order: %+v, want s1 s0", bond.Bond)
	}
	if bond.Bond.AD == nil || bond.Bond.AD.Ports != 1 || !bond.Bond.AD.PartnerMAC.IsZero() {
		t.Errorf("aggregator of a bond without partner: %+v", bond.Bond.AD)
	}
	aggregators := make(map[int]bool)
	for _, name := range bond.Bond.Ports {
		s, _ := host.Link(name)
		if s.Port == nil || s.Port.Bond != "bond0" || s.Master != "bond0" || !s.Port.MIIUp || s.Port.ActorState == 0 || s.PermanentMAC.IsZero() {
			t.Errorf("%s: %+v %+v", name, s, s.Port)
			continue
		}
		aggregators[s.Port.AggregatorID] = true
	}
	if len(aggregators) != 2 {
		t.Errorf("two ports without partner are in aggregators %v, want two", aggregators)
	}
	if usable := host.UsablePorts("bond0"); len(usable) != 1 {
		t.Errorf("usable ports %v, want the active aggregator's one", usable)
	}
}
