package host

import (
	"fmt"
	"slices"

	"github.com/linerate/linerate/diagnose"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/record"
)

// portsMisused finds addresses and VLANs on the ports of a bond. What arrives
// on a port is the bond's (bond_handle_frame), and what such an address sends
// leaves by one port past the bond.
func portsMisused(h netstate.Host) []Finding {
	var found []Finding
	for _, l := range h.Links {
		if l.Port == nil {
			continue
		}
		for _, a := range l.Addresses {
			if a.Addr().IsLinkLocalUnicast() {
				continue
			}
			found = append(found, Finding{
				Kind:     BondPortAddress,
				What:     fmt.Sprintf("%s holds the address %s and is a port of %s: answers to it arrive at the bond", l.Name, a, l.Port.Bond),
				Severity: Warning,
				Evidence: []record.Evidence{diagnose.Fact("address of "+l.Name, a.String(), fromAddresses), diagnose.Fact("bond of "+l.Name, l.Port.Bond, "IFLA_MASTER")},
				Remedy:   fmt.Sprintf("ip address delete %s dev %s, and put it on %s if it is needed", a, l.Name, l.Port.Bond),
			})
		}
	}
	for _, l := range h.Links {
		if l.VLAN == nil {
			continue
		}
		parent, ok := h.Link(l.VLAN.Parent)
		if !ok || parent.Port == nil {
			continue
		}
		found = append(found, Finding{
			Kind:     BondPortVLAN,
			What:     fmt.Sprintf("VLAN %s is on %s, which is a port of %s: it uses that port alone, and takes that tag away from the bond", l.Name, parent.Name, parent.Port.Bond),
			Severity: Warning,
			Evidence: []record.Evidence{diagnose.Fact("parent of "+l.Name, parent.Name, "IFLA_LINK"), diagnose.Fact("bond of "+parent.Name, parent.Port.Bond, "IFLA_MASTER")},
			Remedy:   fmt.Sprintf("put the VLAN on the bond: ip link add link %s name NAME type vlan id %d", parent.Port.Bond, l.VLAN.ID),
		})
	}
	return found
}

// foreignBondAddress finds bonds of systemd-networkd whose address was made
// up and is no port's: MACAddressPolicy=persistent of 99-default.link names
// bonds too (systemd.link(5)), so every port's address is overwritten and DHCP
// and the switch see one that is on no label.
func foreignBondAddress(h netstate.Host) []Finding {
	var found []Finding
	for _, l := range h.Links {
		if l.Bond == nil || l.Owner != "systemd-networkd" || l.MAC.IsZero() || l.MAC[0]&2 == 0 {
			continue
		}
		known := 0
		evidence := []record.Evidence{diagnose.Fact("address of "+l.Name, l.MAC.String(), "IFLA_ADDRESS"), diagnose.Fact("owner of "+l.Name, l.Owner, "/run/systemd/netif/links")}
		for _, p := range portsOf(h, l) {
			if p.PermanentMAC.IsZero() || p.PermanentMAC == l.MAC {
				known = -1
				break
			}
			known++
			evidence = append(evidence, diagnose.Fact("permanent address of "+p.Name, p.PermanentMAC.String(), "IFLA_PERM_ADDRESS"))
		}
		if known <= 0 {
			continue
		}
		found = append(found, Finding{
			Kind:     BondForeignMAC,
			What:     fmt.Sprintf("the address of %s was made up and is none of its ports': leases and switch filters by address miss it", l.Name),
			Severity: Info, Evidence: evidence,
			Remedy: fmt.Sprintf("a .link file with [Match] OriginalName=%s and [Link] MACAddressPolicy=none, or macaddress: in netplan", l.Name),
		})
	}
	return found
}

// managers are the programs that configure whole hosts, and undo what others
// configure.
var managers = [...]string{"NetworkManager", "systemd-networkd", "ifupdown", "wicked"}

// tuners are programs that set sysctls and cards by themselves, and how they stop.
var tuners = map[string]string{
	"tuned":   "`tuned-adm active` names its profile; put the values into a profile of its own (/etc/tuned/NAME/tuned.conf), or `tuned-adm off`",
	"bpftune": "it leaves a setting alone that is set while it runs (its log says so); stop it while values are compared: `systemctl stop bpftune`",
}

// tunedElsewhere names programs that change what a file or linerate sets.
func tunedElsewhere(h netstate.Host) []Finding {
	var found []Finding
	for _, name := range h.Owners {
		if remedy, ok := tuners[name]; ok {
			found = append(found, Finding{
				Kind:     TwoOwners,
				What:     name + " runs and sets sysctls too: what is set beside it may be changed again, now or when it starts anew",
				Severity: Info,
				Evidence: []record.Evidence{diagnose.Fact(name, "runs", "its traces in /run")},
				Remedy:   remedy,
			})
		}
	}
	return found
}

// dividedOwners finds bonds, VLANs and bridges that one program manages and
// whose lower links another does: each undoes what the other does.
func dividedOwners(h netstate.Host) []Finding {
	var found []Finding
	say := func(upper, lower netstate.Link) {
		if !slices.Contains(managers[:], upper.Owner) || !slices.Contains(managers[:], lower.Owner) || upper.Owner == lower.Owner {
			return
		}
		if lower.Kind != "" && lower.Kind != "bond" && lower.Kind != "team" { // a guest's or a container's end
			return
		}
		found = append(found, Finding{
			Kind:     TwoOwners,
			What:     fmt.Sprintf("%s manages %s and %s manages %s below it: each may revert the other's work", upper.Owner, upper.Name, lower.Owner, lower.Name),
			Severity: Warning,
			Evidence: []record.Evidence{diagnose.Fact("owner of "+upper.Name, upper.Owner, "the program's own state in /run"), diagnose.Fact("owner of "+lower.Name, lower.Owner, "the program's own state in /run")},
			Remedy:   fmt.Sprintf("let one program manage both: %s", handOver(lower)),
		})
	}
	for _, l := range h.Links {
		if master, ok := h.Link(l.Master); ok && l.Master != "" {
			say(master, l)
		}
		if l.VLAN == nil {
			continue
		}
		if parent, ok := h.Link(l.VLAN.Parent); ok {
			say(l, parent)
		}
	}
	return found
}

// handOver is how a program lets go of a link.
func handOver(l netstate.Link) string {
	switch l.Owner {
	case "NetworkManager":
		return fmt.Sprintf("nmcli device set %s managed no", l.Name)
	case "systemd-networkd":
		return fmt.Sprintf("a .network file with [Match] Name=%s and [Link] Unmanaged=yes", l.Name)
	}
	return fmt.Sprintf("take %s out of the configuration of %s", l.Name, l.Owner)
}

// Physical reports a port of a network card, be it emulated.
func Physical(l netstate.Link) bool { return l.Kind == "" && !isLoopback(l) }

func isLoopback(l netstate.Link) bool { return l.Kind == "loopback" || l.Name == "lo" }

// virtualDrivers are cards that a hypervisor makes up: their speed, duplex and
// negotiation are words only.
var virtualDrivers = [...]string{"virtio_net", "vmxnet3", "hv_netvsc", "xen_netfront", "vif", "ena", "gve", "mana", "ibmveth", "ibmvnic", "veth", "tun"}

// Cabled reports a port behind which there is a cable.
func Cabled(l netstate.Link) bool {
	return Physical(l) && !slices.Contains(virtualDrivers[:], l.Driver)
}

// fast is from which rate a host's own settings decide how much it carries.
const fast = 10e9

// fastest is the fastest physical link that is up; zero unknown.
func fastest(h netstate.Host) (best netstate.Link) {
	for _, l := range h.Links {
		if Physical(l) && l.Up && l.Carrier && l.Speed > best.Speed {
			best = l
		}
	}
	return best
}
