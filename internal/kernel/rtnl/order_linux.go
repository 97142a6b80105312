package rtnl

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/linerate/linerate/internal/kernel/procfs"
	"github.com/linerate/linerate/netstate"
)

// orderSlaves puts a bond's slaves in enslave order, which netlink does not
// tell and the transmit hash counts in: from /proc, else from sysfs. It
// returns a line for the report when neither says.
func orderSlaves(links []netstate.Link, bond *netstate.Link) (missing []string) {
	text, err := os.ReadFile("/proc/thread-self/net/bonding/" + bond.Name)
	if err == nil {
		var told procfs.Bonding
		if told, err = procfs.ParseBonding(text); err == nil {
			bond.Bond.Ports = inOrder(bond.Bond.Ports, told.Bond.Ports)
			addPartners(links, bond.Name, told)
			return nil
		}
	}
	if len(bond.Bond.Ports) < 2 {
		return nil
	}
	order, sysfsErr := slavesFromSysfs(*bond)
	if sysfsErr == nil {
		bond.Bond.Ports = inOrder(bond.Bond.Ports, order)
		return nil
	}
	return []string{fmt.Sprintf("order of %s's slaves: %v; %v; they are listed by index, so which one a hash picks is unknown", bond.Name, err, sysfsErr)}
}

// inOrder sorts have by its place in told; what told lacks comes last.
func inOrder(have, told []string) []string {
	place := func(name string) int {
		if i := slices.Index(told, name); i >= 0 {
			return i
		}
		return len(told)
	}
	sorted := slices.Clone(have)
	slices.SortStableFunc(sorted, func(a, b string) int { return place(a) - place(b) })
	return sorted
}

// slavesFromSysfs reads the bond's sysfs list, unless /sys shows another
// network namespace: sysfs is the namespace's that mounted it.
func slavesFromSysfs(bond netstate.Link) ([]string, error) {
	dir := "/sys/class/net/" + bond.Name
	index, err := os.ReadFile(dir + "/ifindex")
	if err != nil {
		return nil, err
	}
	address, err := os.ReadFile(dir + "/address")
	if err != nil {
		return nil, err
	}
	if strings.TrimSpace(string(index)) != strconv.Itoa(bond.Index) || strings.TrimSpace(string(address)) != bond.MAC.String() {
		return nil, fmt.Errorf("/sys shows another namespace's %s", bond.Name)
	}
	text, err := os.ReadFile(dir + "/bonding/slaves")
	if err != nil {
		return nil, err
	}
	return strings.Fields(string(text)), nil
}

// addPartners adds to each slave what only /proc tells of its LACP
// partner, which shows cables to two switches and refused ports.
func addPartners(links []netstate.Link, bond string, told procfs.Bonding) {
	for i := range links {
		l := &links[i]
		at := slices.IndexFunc(told.Ports, func(p procfs.BondingPort) bool { return p.Name == l.Name })
		if l.Master != bond || at < 0 {
			continue
		}
		if l.Port != nil {
			p := told.Ports[at].Port
			l.Port.PartnerMAC, l.Port.PartnerKey = p.PartnerMAC, p.PartnerKey
			l.Port.ActorChurn, l.Port.PartnerChurn = p.ActorChurn, p.PartnerChurn
		}
	}
}
