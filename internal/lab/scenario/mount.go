package scenario

import (
	"fmt"
	"net/netip"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/unit"
)

// Mount is one NFS mount.
type Mount struct {
	Server netip.Addr
	// Version is the mount option vers.
	Version NFSVersion
	// NConnect is how many connections the first mount of a server makes; zero
	// is one. MaxConnect is to how many addresses of one server a client
	// connects; zero is the kernel's default, one.
	NConnect, MaxConnect int
}

// NFSVersion is a version as the mount option vers has it.
type NFSVersion string

// The versions that need no portmapper.
const (
	NFS40 NFSVersion = "4.0"
	NFS41 NFSVersion = "4.1"
	NFS42 NFSVersion = "4.2"
)

// Options are the mount's options.
func (m Mount) Options() string {
	proto := "tcp"
	if m.Server.Is6() {
		proto = "tcp6"
	}
	out := fmt.Sprintf("vers=%s,proto=%s", m.Version, proto)
	if m.NConnect > 0 {
		out += fmt.Sprintf(",nconnect=%d", m.NConnect)
	}
	if m.MaxConnect > 0 {
		out += fmt.Sprintf(",max_connect=%d", m.MaxConnect)
	}
	return out
}

// Connections are how many TCP connections a client has to each address when
// all are mounted, in this order. From 4.1 on a client sees that two addresses
// are one server: the second mount uses the connections of the first, and gets
// one of its own only while the addresses are no more than the first mount's
// max_connect. Version 4.0 has connections for each address (fs/nfs/client.c,
// nfs4_add_trunk of fs/nfs/nfs4client.c).
func Connections(mounts []Mount) map[netip.Addr]int {
	out := make(map[netip.Addr]int)
	trunk, most := 0, 0
	for _, m := range mounts {
		switch {
		case out[m.Server] > 0:
		case m.Version == NFS40:
			out[m.Server] = max(m.NConnect, 1)
		case trunk == 0:
			out[m.Server], trunk, most = max(m.NConnect, 1), 1, max(m.MaxConnect, 1)
		case trunk < most:
			out[m.Server] = 1
			trunk++
		}
	}
	return out
}

// mostConnections is the kernel's limit of nconnect and max_connect.
const mostConnections = 16

func mountKeys() fabric.Object[Mount] {
	return fabric.NewObject("scenario_mount", "One NFS mount.", []string{"server"}, map[string]string{"address": "server", "version": "vers"},
		fabric.NewKey("server", "an address of the host that to names", fabric.Value(address(), func(v *Mount) *netip.Addr { return &v.Server })),
		fabric.NewKey("vers", "4.0, 4.1 or 4.2; left out: 4.2", fabric.Value(fabric.Word(NFS40, NFS41, NFS42), func(v *Mount) *NFSVersion { return &v.Version })),
		fabric.NewKey("nconnect", "connections of the first mount of a server; left out: one", fabric.Value(fabric.Integer(1, mostConnections), func(v *Mount) *int { return &v.NConnect })),
		fabric.NewKey("max_connect", "to how many addresses of one server a client connects; left out: one", fabric.Value(fabric.Integer(1, mostConnections), func(v *Mount) *int { return &v.MaxConnect })),
	)
}

func address() fabric.Scalar[netip.Addr] { return fabric.Parsed("an IP address", netip.ParseAddr) }

// usualSize is long enough for a lab's rate to be sure.
const usualSize = 32 * unit.MiB

// mounts checks what nfs mounts and fills in what is left out.
func (c checker) mounts(at func(...any) []any, m *Measurement) {
	if m.Tool != NFS {
		if len(m.Mounts) > 0 || m.Size > 0 {
			c.wrong("mounts and size are of nfs", "tool: nfs", at("mounts")...)
		}
		return
	}
	if m.Size == 0 {
		m.Size = usualSize
	}
	switch {
	case len(m.Mounts) == 0:
		c.wrong("nfs: nothing is mounted", "mounts: [{server: ADDRESS, vers: \"4.2\"}]", at()...)
	case m.Direction != flow.Forward:
		c.wrong("nfs: a client writes to a server", "leave direction out", at("direction")...)
	case m.Ports == predict.PortsChosen && len(m.Mounts) > 1:
		c.wrong("nfs: ports are chosen for one mount's connections", "one mount with nconnect", at("ports")...)
	case c.s.BackEnd == "host" || c.s.BackEnd == "qemu":
		c.wrong("nfs: the server needs a kernel of its own that sees the machine's programs", "back_end: uml, or leave it out", "back_end")
	}
	state, err := c.s.Fabric.State(m.To)
	if err != nil {
		return // said already
	}
	for k := range m.Mounts {
		mount := &m.Mounts[k]
		if mount.Version == "" {
			mount.Version = NFS42
		}
		if _, there := state.LinkWith(mount.Server); !there {
			c.wrong(fmt.Sprintf("mounts: %s is no address of %s", mount.Server, m.To), "write it among the addresses of a link of "+m.To, at("mounts", k, "server")...)
		}
	}
}
