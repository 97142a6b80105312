package fabric

import (
	"net/netip"
	"slices"

	"github.com/linerate/linerate/fabric/yamldoc"
)

// said is what a key that is kept as written holds; nil where the file is silent.
func (d Device) said(key string) *yamldoc.Node {
	for _, p := range d.Unread {
		if p.Key == key {
			return p.Value
		}
	}
	return nil
}

func (d Device) switchedOn(key string) bool {
	n := d.said(key)
	if n == nil || n.Kind != yamldoc.ScalarNode {
		return false
	}
	on, err := yamldoc.ParseBool(n.Text)
	return on && err == nil
}

// DHCP4 reports dhcp4: true, which netplan takes for false when left out.
func (d Device) DHCP4() bool { return d.switchedOn("dhcp4") }

// DHCP6 is DHCP4's twin.
func (d Device) DHCP6() bool { return d.switchedOn("dhcp6") }

// AcceptRA reports accept-ra; said is false where the file leaves it to the
// kernel.
func (d Device) AcceptRA() (on, said bool) {
	return d.switchedOn("accept-ra"), d.said("accept-ra") != nil
}

// Optional reports a device that may be missing.
func (d Device) Optional() bool { return d.switchedOn("optional") }

// Activation is activation-mode: "manual" leaves the device as it is, "off"
// takes it down; "" brings it up.
func (d Device) Activation() string {
	if n := d.said("activation-mode"); n != nil {
		return n.Text
	}
	return ""
}

// Nameservers are the device's DNS servers and search domains.
func (d Device) Nameservers() (addresses []netip.Addr, search []string) {
	n := d.said("nameservers")
	if a := n.Get("addresses"); a != nil {
		for _, item := range a.Items {
			if addr, err := netip.ParseAddr(item.Text); err == nil {
				addresses = append(addresses, addr)
			}
		}
	}
	if s := n.Get("search"); s != nil {
		for _, item := range s.Items {
			search = append(search, item.Text)
		}
	}
	return addresses, search
}

// Label is what `ip address` calls an address ("eth0:1"); "" none.
func (d Device) Label(p netip.Prefix) string { return d.Labels[p] }

// offloadKeys are netplan's keys of a device's offloads and the features that
// they switch, by the names of ethtool -K (netplan 1.1, src/networkd.c).
var offloadKeys = [...][2]string{
	{"receive-checksum-offload", "rx"}, {"transmit-checksum-offload", "tx"},
	{"tcp-segmentation-offload", "tso"}, {"tcp6-segmentation-offload", "tx-tcp6-segmentation"},
	{"generic-segmentation-offload", "gso"}, {"generic-receive-offload", "gro"}, {"large-receive-offload", "lro"},
}

// offloadRows are offloadKeys with what they mean.
func offloadRows() [][2]string {
	rows := make([][2]string, len(offloadKeys))
	for i, k := range offloadKeys {
		rows[i] = [2]string{k[0], "offload on or off: " + k[1] + " of ethtool -K"}
	}
	return rows
}

// Offloads are the offloads that netplan's own keys switch, by the names of
// ethtool -K; nil for none.
func (d Device) Offloads() map[string]bool {
	var all map[string]bool
	for _, k := range offloadKeys {
		if d.said(k[0]) == nil {
			continue
		}
		if all == nil {
			all = map[string]bool{}
		}
		all[k[1]] = d.switchedOn(k[0])
	}
	return all
}

// OffloadKey is netplan's key of an offload by the name of ethtool -K; "" for
// one that it has none for.
func OffloadKey(name string) string {
	i := slices.IndexFunc(offloadKeys[:], func(k [2]string) bool { return k[1] == name })
	if i < 0 {
		return ""
	}
	return offloadKeys[i][0]
}
