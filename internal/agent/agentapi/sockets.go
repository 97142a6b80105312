package agentapi

import (
	"errors"

	"github.com/linerate/linerate/flow"
)

// ErrPortTaken is a source whose port another socket of the host holds, or
// whose flow exists already: other ports may do.
var ErrPortTaken = errors.New("port is taken")

// SocketsRequest asks for the sockets of a host.
type SocketsRequest struct {
	Proto flow.Proto `json:"proto"`           // TCP or UDP
	Dport uint16     `json:"dport,omitempty"` // the far end's port; zero is any
	// Listening adds sockets that are connected to nobody: they listen, or
	// hold a port.
	Listening bool `json:"listening,omitempty"`
}

// SocketsReply is the host's sockets and which ports it keeps for what.
type SocketsReply struct {
	Sockets []Socket `json:"sockets"`
	// Reserved are the ports that the kernel leaves to services
	// (net.ipv4.ip_local_reserved_ports), Ephemeral those it chooses from
	// (net.ipv4.ip_local_port_range); both hold for IPv6 too. Zero unknown.
	Reserved  []flow.PortRange `json:"reserved,omitempty"`
	Ephemeral flow.PortRange   `json:"ephemeral,omitzero"`
}

// Socket is one socket, its own end first.
type Socket struct {
	flow.Tuple
	// State is a word such as "established", "listen" or "time-wait".
	State string `json:"state"`
	UID   uint32 `json:"uid"`
	// Inode is zero when no process holds the socket.
	Inode uint32 `json:"inode,omitempty"`
}

// Ports are the ports that the sockets hold on their own host, each once and
// in the order they first appear.
func (r SocketsReply) Ports() []uint16 {
	seen := make(map[uint16]bool)
	var ports []uint16
	for _, s := range r.Sockets {
		if s.Sport != 0 && !seen[s.Sport] {
			seen[s.Sport] = true
			ports = append(ports, s.Sport)
		}
	}
	return ports
}
