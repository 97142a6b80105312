// Package barehost has a declared host as it is before anything of its file was
// done: what a plan begins with on a host that nobody has looked at.
package barehost

import (
	"maps"
	"slices"
	"strings"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/render/device"
	"github.com/linerate/linerate/render/node"
)

// baseline are Linux's own defaults of what profiles look at (ip-sysctl.rst,
// net.rst; 5.4 and later): a host that nobody has looked at is taken to have
// them. A link's own setting has the default's.
var baseline = map[string]string{
	"net.ipv4.tcp_rmem": "4096 131072 6291456", "net.ipv4.tcp_wmem": "4096 16384 4194304",
	"net.core.rmem_max": "212992", "net.core.wmem_max": "212992", "net.ipv4.tcp_window_scaling": "1", "net.ipv4.tcp_moderate_rcvbuf": "1",
	"net.ipv4.tcp_sack": "1", "net.ipv4.tcp_timestamps": "1", "net.ipv4.tcp_slow_start_after_idle": "1", "net.ipv4.tcp_no_metrics_save": "0",
	"net.core.netdev_budget": "300", "net.core.netdev_max_backlog": "1000",
	"net.ipv4.conf.accept_redirects": "1", "net.ipv4.conf.accept_source_route": "1", "net.ipv4.conf.log_martians": "0", "net.ipv4.conf.rp_filter": "0",
	"net.ipv4.conf.secure_redirects": "1", "net.ipv4.conf.send_redirects": "1", "net.ipv4.conf.forwarding": "0", "net.ipv4.conf.arp_ignore": "0",
	"net.ipv4.conf.arp_announce": "0", "net.ipv6.conf.accept_redirects": "1", "net.ipv6.conf.accept_source_route": "0", "net.ipv6.conf.forwarding": "0",
	"net.ipv4.icmp_echo_ignore_broadcasts": "1", "net.ipv4.icmp_ignore_bogus_error_responses": "1", "net.ipv4.ip_forward": "0", "net.ipv4.tcp_syncookies": "1",
	"kernel.panic": "0", "kernel.randomize_va_space": "2", "net.ipv6.icmp.echo_ignore_multicast": "0",
	"net.ipv4.fib_multipath_hash_policy": "0", "net.ipv6.fib_multipath_hash_policy": "0", "net.mptcp.enabled": "1",
}

// Of is the declared host before anything of its file was done, as far as
// the file tells: its devices are there, down, without addresses, with what
// their settings need to be settable; none of its bonds, VLANs and dummies is.
// Sysctls are the keys named, with Linux's defaults. It stands in for a host
// that nobody has looked at.
func Of(h fabric.Host, declared netstate.Host, sysctls []string) netstate.Host {
	bare := netstate.Host{
		Name: declared.Name, Kernel: declared.Kernel, CPU: declared.CPU, Cards: declared.Cards, Cloud: declared.Cloud,
		MPTCP: bareMPTCP(h.MPTCP), Sysctls: map[string]netstate.Sysctl{},
	}
	settings := map[string]fabric.LinkSettings{}
	for id, s := range h.Links {
		names, known := h.Interfaces(id)
		if !known {
			names = []string{id}
		}
		for _, name := range names {
			settings[name] = s
		}
	}
	for _, e := range h.Network.Ethernets {
		names, known := h.Interfaces(e.ID)
		for _, p := range e.Unread {
			for _, name := range names {
				if feature := device.OffloadOf(p.Key); known && feature != "" {
					s := settings[name]
					s.Offloads = maps.Clone(s.Offloads)
					if s.Offloads == nil {
						s.Offloads = map[string]bool{}
					}
					s.Offloads[feature] = node.True(p.Value)
					settings[name] = s
				}
			}
		}
	}
	for _, l := range declared.Links {
		if l.Bond != nil || l.OVS != nil || l.VLAN != nil || l.Kind == "dummy" {
			continue
		}
		link := netstate.Link{Name: l.Name, Kind: l.Kind, MAC: l.PermanentMAC, PermanentMAC: l.PermanentMAC, Card: l.Card, Speed: l.Speed, Framing: l.Framing, MTU: 1500, Tunnel: l.Tunnel}
		for _, e := range h.Network.Ethernets {
			if names, known := h.Interfaces(e.ID); known && e.Match != nil && slices.Contains(names, l.Name) && len(e.Match.Drivers) > 0 {
				link.Driver = strings.Trim(e.Match.Drivers[0], "*?")
			}
		}
		bare.Links = append(bare.Links, settable(link, settings[l.Name]))
	}
	for key, value := range baseline {
		if parts := strings.Split(key, "."); len(parts) < 3 || parts[2] != "conf" {
			bare.Sysctls[key] = netstate.Sysctl{Value: value, Scope: netstate.ScopeOf(key)}
		}
	}
	for _, key := range sysctls {
		if value, ok := baselineOf(key); ok {
			bare.Sysctls[key] = netstate.Sysctl{Value: value, Scope: netstate.ScopeOf(key)}
		}
	}
	for key, s := range declared.Sysctls {
		if _, known := bare.Sysctls[key]; !known {
			bare.Sysctls[key] = s
		}
	}
	return bare
}

// bareMPTCP are limits below the wanted ones, so that those are to be set.
func bareMPTCP(want *netstate.MPTCP) *netstate.MPTCP {
	bare := &netstate.MPTCP{}
	if want != nil {
		bare.Subflows, bare.AddAddrAccepted = max(want.Subflows-1, 0), max(want.AddAddrAccepted-1, 0)
	}
	return bare
}

// baselineOf is a key's default; false for one that is not in the table.
func baselineOf(key string) (string, bool) {
	parts := strings.Split(key, ".")
	if len(parts) == 5 && parts[2] == "conf" {
		key = strings.Join([]string{parts[0], parts[1], parts[2], parts[4]}, ".")
	}
	value, ok := baseline[key]
	return value, ok
}

// settable is the link with what its settings need: every value is another
// than the wanted one.
func settable(l netstate.Link, s fabric.LinkSettings) netstate.Link {
	const most = 1 << 20
	var d netstate.Device
	if len(s.Offloads) > 0 {
		l.Offloads = map[string]bool{}
		for name, on := range s.Offloads {
			l.Offloads[name] = !on
		}
	}
	if s.RingRx+s.RingTx > 0 {
		d.Rings = &netstate.Rings{Rx: s.RingRx - 1, Tx: s.RingTx - 1, RxMax: most, TxMax: most}
	}
	if len(s.Channels) > 0 {
		d.Channels = &netstate.Channels{
			Rx: s.Channels["rx"] + 1, Tx: s.Channels["tx"] + 1, Combined: s.Channels["combined"] + 1,
			RxMax: most, TxMax: most, CombinedMax: most,
		}
	}
	if len(s.Coalescing) > 0 {
		d.Coalescing = maps.Clone(s.Coalescing)
		for name, n := range s.Coalescing {
			d.Coalescing[name] = n ^ 1
		}
	}
	if d.Rings != nil || d.Channels != nil || d.Coalescing != nil {
		l.Device = &d
	}
	return l
}
