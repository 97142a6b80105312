package netstate

import (
	"encoding/json"
	"net/netip"
)

// Tunnel is a device whose packets travel inside other packets: VXLAN (RFC 7348),
// Geneve (RFC 8926), GRE (RFC 2784, 2890), IP in IP (RFC 2003, 2473, 4213), WireGuard.
type Tunnel struct {
	// Kind is the kernel's kind of the device: "vxlan", "gre", "wireguard", ...
	Kind string `json:"kind"`
	// ID is the network's number of VXLAN and Geneve.
	ID int `json:"id,omitempty"`
	// Lower is the link that carries its packets; "" where the route to the peer decides.
	Lower string `json:"lower,omitempty"`
	// Local and Remote are the outer addresses, zero where unknown. Remote may be
	// a multicast group; of WireGuard it is the first peer's.
	Local  netip.Addr `json:"local,omitzero"`
	Remote netip.Addr `json:"remote,omitzero"`
	// Options are the bytes that GRE's key, checksum and sequence number add.
	Options int `json:"options_bytes,omitempty"`
	// OnePort: the range of VXLAN's source ports holds one alone (`srcport`).
	OnePort bool `json:"one_port,omitempty"`
}

// UnmarshalJSON reads a link, also one of records that knew VXLAN alone of all tunnels.
func (l *Link) UnmarshalJSON(text []byte) error {
	type plain Link
	read := struct {
		*plain
		VXLAN *Tunnel `json:"vxlan"`
	}{plain: (*plain)(l)}
	if err := json.Unmarshal(text, &read); err != nil {
		return err
	}
	if read.VXLAN != nil && l.Tunnel == nil {
		l.Tunnel = read.VXLAN
		l.Tunnel.Kind = "vxlan"
	}
	return nil
}

// tunnelKind is what the packets of a kind of tunnel look like from outside.
type tunnelKind struct {
	title  string
	header int  // bytes between the outer IP header and the packet or frame inside
	frames bool // it carries Ethernet frames
	six    bool // always over IPv6, with the encapsulation limit's option
	ports  bool // the outer source port is a hash of the packet inside
	opened bool // the kernel's flow dissector looks inside
}

// Headers: VXLAN_HEADROOM (include/net/vxlan.h), GENEVE_BASE_HLEN
// (drivers/net/geneve.c), gre_calc_hlen, MESSAGE_MINIMUM_LENGTH of
// drivers/net/wireguard with UDP's 8; destination options of ip6_tnl_xmit are 8
// bytes. Ports: udp_flow_src_port in vxlan_xmit_one and geneve_xmit_skb. Looked
// into: __skb_flow_dissect, which opens GRE and IP in IP and no UDP.
var tunnelKinds = map[string]tunnelKind{
	"vxlan":     {title: "VXLAN", header: 16, frames: true, ports: true},
	"geneve":    {title: "Geneve", header: 16, frames: true, ports: true},
	"gre":       {title: "GRE", header: 4, opened: true},
	"gretap":    {title: "GRE", header: 4, frames: true, opened: true},
	"ip6gre":    {title: "GRE", header: 4, six: true, opened: true},
	"ip6gretap": {title: "GRE", header: 4, frames: true, six: true, opened: true},
	"ipip":      {title: "IP in IP", opened: true},
	"sit":       {title: "IP in IP", opened: true},
	"ip6tnl":    {title: "IP in IP", six: true, opened: true},
	"wireguard": {title: "WireGuard", header: 40},
}

// IsTunnel reports a kind of device whose outer packets are known.
func IsTunnel(kind string) bool {
	_, ok := tunnelKinds[kind]
	return ok
}

// Title is what people call the kind: "VXLAN", "IP in IP".
func (t Tunnel) Title() string { return tunnelKinds[t.Kind].title }

// Frames reports a tunnel that carries Ethernet frames, and not packets alone.
func (t Tunnel) Frames() bool { return tunnelKinds[t.Kind].frames }

// FlowPorts reports that the outer source port differs from flow to flow inside: a
// hash of each with a secret seed (udp_flow_src_port, include/net/udp.h), so that
// nobody can choose it. All packets of other tunnels look alike from outside.
func (t Tunnel) FlowPorts() bool { return tunnelKinds[t.Kind].ports && !t.OnePort }

// Opened reports that a hash by the kernel's flow dissector (encap2+3, encap3+4)
// sees the packet inside.
func (t Tunnel) Opened() bool { return tunnelKinds[t.Kind].opened }

// Headroom is what one packet costs more inside the tunnel, in bytes: the outer IP
// header, the tunnel's own, and an inner Ethernet header where it carries frames. 50
// of VXLAN over IPv4. IPv4 where neither address is known; WireGuard's padding and
// Geneve's options are not counted.
func (t Tunnel) Headroom() int {
	k := tunnelKinds[t.Kind]
	bytes := 20 + k.header + t.Options
	if k.frames {
		bytes += 14
	}
	six := k.six
	for _, a := range []netip.Addr{t.Remote, t.Local} {
		six = six || a.IsValid() && !a.Unmap().Is4()
	}
	if six {
		bytes += 20
	}
	if k.six {
		bytes += 8
	}
	return bytes
}
