package snippet

import (
	"fmt"
	"net/netip"
	"strings"

	"github.com/linerate/linerate/steer"
)

// DeviceKind is what netplan calls a kind of interface.
type DeviceKind string

// The kinds that carry addresses here.
const (
	KindBond     DeviceKind = "bonds"
	KindVLAN     DeviceKind = "vlans"
	KindEthernet DeviceKind = "ethernets"
	KindBridge   DeviceKind = "bridges"
)

// Aliases are addresses to add to one interface of one host.
type Aliases struct {
	Addrs []netip.Addr
	// Bits is the prefix length of the subnet that they are out of.
	Bits   int
	Device string
	// Kind is netplan's section of the device; "" is KindBond.
	Kind DeviceKind
}

// Netplan is a file that adds the addresses beside what other files say of
// the device: netplan joins lists over files. An IPv6 address gets no
// preferred lifetime, so that no program takes it as a source unasked.
func (a Aliases) Netplan() []string {
	kind := a.Kind
	if kind == "" {
		kind = KindBond
	}
	lines := []string{"network:", "  version: 2", "  " + string(kind) + ":", "    " + a.Device + ":", "      addresses:"}
	for _, addr := range a.Addrs {
		if is6(addr) {
			lines = append(lines, fmt.Sprintf("        - %q:", a.prefix(addr)), "            lifetime: 0")
			continue
		}
		lines = append(lines, "        - "+a.prefix(addr))
	}
	return lines
}

// IP are the ip(8) commands that add the addresses until the next reboot.
func (a Aliases) IP() []string {
	var lines []string
	for _, addr := range a.Addrs {
		line := fmt.Sprintf("ip addr add %s dev %s", a.prefix(addr), a.Device)
		if is6(addr) {
			line += " preferred_lft 0"
		}
		lines = append(lines, line)
	}
	return lines
}

// Probe are the commands that show, before addresses are added, whether
// another host has them: arping(8) of iputils exits 1 when one answers.
func (a Aliases) Probe() []string {
	var lines []string
	for _, addr := range a.Addrs {
		if is6(addr) {
			lines = append(lines, "ping -c 2 "+addr.String())
			continue
		}
		lines = append(lines, fmt.Sprintf("arping -D -c 2 -I %s %s", a.Device, addr))
	}
	return lines
}

// Ping is Probe where there is no arping.
func (a Aliases) Ping() []string {
	var lines []string
	for _, addr := range a.Addrs {
		lines = append(lines, "ping -c 2 "+addr.String())
	}
	return lines
}

// FreeBSD are the ifconfig(8) commands, and the line for rc.conf(5) after
// them. An alias in a subnet that the interface is on has a full mask.
func (a Aliases) FreeBSD() []string {
	var lines, kept []string
	for _, addr := range a.Addrs {
		word := fmt.Sprintf("inet %s/32", addr)
		if is6(addr) {
			word = fmt.Sprintf("inet6 %s/128", addr)
		}
		lines = append(lines, fmt.Sprintf("ifconfig %s %s alias", a.Device, word))
		kept = append(kept, word)
	}
	if len(kept) == 0 {
		return nil
	}
	lines = append(lines, "# /etc/rc.conf, one line:")
	return append(lines, fmt.Sprintf("ifconfig_%[1]s_aliases=\"$ifconfig_%[1]s_aliases %s\"", rcName(a.Device), strings.Join(kept, " ")))
}

// rcName is a device's name as rc.conf's variables have it (ltr of rc.subr).
func rcName(device string) string {
	return strings.NewReplacer(".", "_", "-", "_", "/", "_", "+", "_").Replace(device)
}

// AIX are the chdev commands, which act at once and outlive a reboot. The
// device is the interface (en2), not the adapter (ent2).
func (a Aliases) AIX() []string {
	return a.aix("chdev -l %s -a alias4=%s,%s", "chdev -l %s -a alias6=%s,%d")
}

// AIXNow are the ifconfig commands that last until the next reboot.
func (a Aliases) AIXNow() []string {
	return a.aix("ifconfig %s alias %s netmask %s", "ifconfig %s inet6 %s/%d alias")
}

// ESXi are the esxcli commands that make a VMkernel adapter for each address,
// which is how ESXi has several. The device is the port group.
func (a Aliases) ESXi() []string {
	var lines []string
	for i, addr := range a.Addrs {
		vmk := fmt.Sprintf("vmkN%d", i+1)
		lines = append(lines, fmt.Sprintf("esxcli network ip interface add -i %s -p %s", vmk, a.Device))
		if is6(addr) {
			lines = append(lines, fmt.Sprintf("esxcli network ip interface ipv6 address add -i %s -I %s", vmk, a.prefix(addr)))
			continue
		}
		lines = append(lines, fmt.Sprintf("esxcli network ip interface ipv4 set -i %s -t static -I %s -N %s", vmk, addr, mask(a.Bits)))
	}
	if len(lines) > 0 {
		lines = append([]string{"# vmkN1 and so on stand for the next free names (vmk2, vmk3)"}, lines...)
	}
	return lines
}

// Windows are the PowerShell commands; a program takes none of the addresses as a
// source unasked. The device is the interface's alias.
func (a Aliases) Windows() []string {
	var lines []string
	for _, addr := range a.Addrs {
		lines = append(lines, fmt.Sprintf("New-NetIPAddress -InterfaceAlias '%s' -IPAddress %s -PrefixLength %d -SkipAsSource $true", strings.ReplaceAll(a.Device, "'", "''"), addr, a.Bits))
	}
	return lines
}

// aix is a command for each address; each form takes the device, the address,
// and its netmask or its prefix's length.
func (a Aliases) aix(form4, form6 string) []string {
	var lines []string
	for _, addr := range a.Addrs {
		if is6(addr) {
			lines = append(lines, fmt.Sprintf(form6, a.Device, addr, a.Bits))
		} else {
			lines = append(lines, fmt.Sprintf(form4, a.Device, addr, mask(a.Bits)))
		}
	}
	return lines
}

func (a Aliases) prefix(addr netip.Addr) string { return netip.PrefixFrom(addr, a.Bits).String() }

// mask is an IPv4 netmask.
func mask(bits int) netip.Addr {
	m := ^uint32(0) << (32 - bits)
	return netip.AddrFrom4([4]byte{byte(m >> 24), byte(m >> 16), byte(m >> 8), byte(m)})
}

// SourceRoutes are the ip(8) commands that make a Linux host take each lane's
// source address for its destination, for programs that do not bind one. The
// destinations are on the device's own subnet.
func SourceRoutes(lanes []steer.AddressLane, device string) []string {
	var lines []string
	for _, l := range lanes {
		lines = append(lines, fmt.Sprintf("ip route replace %s dev %s src %s",
			netip.PrefixFrom(l.Dst, l.Dst.BitLen()), device, l.Src))
	}
	return lines
}
