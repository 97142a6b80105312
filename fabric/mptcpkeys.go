package fabric

import (
	"fmt"
	"net/netip"
	"strconv"

	"github.com/linerate/linerate/fabric/yamldoc"
	"github.com/linerate/linerate/netstate"
)

// DefaultSubflows is what a kernel's path manager starts with
// (mptcp_pm_nl_init_net, net/mptcp/pm_netlink.c, since Linux 5.13).
const DefaultSubflows = 2

var mptcpKeys = object[netstate.MPTCP]{
	name: "mptcp", doc: "The in-kernel path manager of MPTCP. What is left out stays as it is.",
	keys: []key[netstate.MPTCP]{
		{"subflows", "subflows of a connection beyond its first, at both ends", one(integer(0, netstate.MPTCPMax), func(m *netstate.MPTCP) *int { return &m.Subflows })},
		{"add_addr_accepted", "addresses announced by a peer that are used", one(integer(0, netstate.MPTCPMax), func(m *netstate.MPTCP) *int { return &m.AddAddrAccepted })},
		{"endpoints", "addresses that subflows may use, at most " + strconv.Itoa(netstate.MPTCPMax), list(endpointKeys, func(m *netstate.MPTCP) *[]netstate.MPTCPEndpoint { return &m.Endpoints })},
	},
	alias: map[string]string{"subflow": "subflows", "add_addr": "add_addr_accepted", "endpoint": "endpoints"},
}

func readMPTCP(d *decoder, at place, n *yamldoc.Node, into *Settings) {
	into.MPTCP = &netstate.MPTCP{Subflows: DefaultSubflows}
	mptcpKeys.decode(d, at, n, into.MPTCP)
	given := map[netip.Addr]bool{}
	for i, e := range into.MPTCP.Endpoints {
		where := n.Find("endpoints", i)
		if given[e.Addr] && e.Addr.IsValid() {
			d.wrong(at.key("endpoints").item(i), where.Find("address"), fmt.Sprintf("%s is an endpoint already", e.Addr), "")
		}
		given[e.Addr] = true
	}
	if len(into.MPTCP.Endpoints) > netstate.MPTCPMax {
		d.wrong(at.key("endpoints"), n.Find("endpoints"), fmt.Sprintf("has %d, the kernel takes %d (MPTCP_PM_ADDR_MAX)", len(into.MPTCP.Endpoints), netstate.MPTCPMax), "")
	}
}

var endpointKeys = object[netstate.MPTCPEndpoint]{
	name: "mptcp_endpoint", doc: "One local address that the path manager may use, as ip-mptcp(8) has it.",
	keys: []key[netstate.MPTCPEndpoint]{
		{"address", "the local address", one(address, func(e *netstate.MPTCPEndpoint) *netip.Addr { return &e.Addr })},
		{"dev", "netplan ID of the device that its subflows are bound to", one(deviceName, func(e *netstate.MPTCPEndpoint) *string { return &e.Link })},
		{"port", "port to announce, with the flag signal alone", one(portNumber, func(e *netstate.MPTCPEndpoint) *uint16 { return &e.Port })},
		{"flags", "what it is for: signal, subflow, backup, fullmesh, laminar", endpointFlags},
	},
	required: []string{"address"},
	alias:    map[string]string{"addr": "address", "ip": "address", "device": "dev", "link": "dev", "flag": "flags"},
	finish:   finishEndpoint,
}

var portNumber = scalar[uint16]{
	schema: integer(1, 65535).schema,
	parse: func(s string) (uint16, error) {
		v, err := integer(1, 65535).parse(s)
		return uint16(v), err
	},
}

// endpointWords are the flags that ip-mptcp(8) sets; the kernel's own, implicit,
// is not among them.
var endpointWords = word("signal", "subflow", "backup", "fullmesh", "laminar")

var endpointFlags = reader[netstate.MPTCPEndpoint]{
	schema: func(w *schemaWriter) map[string]any {
		return many(endpointWords, func(*netstate.MPTCPEndpoint) *[]string { return nil }).schema(w)
	},
	read: func(d *decoder, at place, n *yamldoc.Node, into *netstate.MPTCPEndpoint) {
		var words []string
		many(endpointWords, func(*netstate.MPTCPEndpoint) *[]string { return &words }).read(d, at, n, into)
		for _, w := range words {
			var f netstate.MPTCPFlags
			if f.UnmarshalText([]byte(w)) == nil {
				into.Flags |= f
			}
		}
	},
}

// finishEndpoint refuses what the kernel does (mptcp_pm_parse_entry and
// mptcp_pm_nl_add_addr_doit, net/mptcp/pm_netlink.c).
func finishEndpoint(d *decoder, at place, n *yamldoc.Node, e *netstate.MPTCPEndpoint) {
	signal, subflow := e.Flags&netstate.MPTCPSignal != 0, e.Flags&netstate.MPTCPSubflow != 0
	switch {
	case signal && e.Flags&netstate.MPTCPFullmesh != 0:
		d.wrong(at, n.Find("flags"), "signal and fullmesh exclude each other", "announce the address (signal), or open subflows from it (subflow, fullmesh)")
	case e.Port != 0 && (!signal || subflow):
		d.wrong(at, n.Find("port"), "a port takes the flag signal, and not subflow", "write flags: [signal]")
	}
	if e.Addr.IsValid() && (e.Addr.IsUnspecified() || e.Addr.IsMulticast() || e.Addr.IsLoopback()) {
		d.wrong(at, n.Find("address"), e.Addr.String()+" is no address that a subflow can use", "")
	}
}
