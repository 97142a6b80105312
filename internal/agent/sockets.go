package agent

import (
	"context"
	"fmt"
	"strings"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/kernel/sockdiag"
	"github.com/linerate/linerate/internal/kernel/sysctl"
	"github.com/linerate/linerate/internal/traffic/socket"
)

// The sysctls that say which local ports are kept for what.
const (
	reservedPorts  = "net.ipv4.ip_local_reserved_ports"
	ephemeralPorts = "net.ipv4.ip_local_port_range"
)

func (a *Agent) sockets(_ context.Context, req agentapi.SocketsRequest) (agentapi.SocketsReply, error) {
	if req.Proto != flow.TCP && req.Proto != flow.UDP {
		return agentapi.SocketsReply{}, fmt.Errorf("list sockets of protocol %s: want tcp or udp", req.Proto)
	}
	reply := agentapi.SocketsReply{Sockets: []agentapi.Socket{}}
	err := a.cfg.Namespace.Do(func() error {
		sockets, err := sockdiag.Sockets(sockdiag.Query{Proto: req.Proto, Dport: req.Dport, Listening: req.Listening})
		if err != nil {
			return err
		}
		for _, s := range sockets {
			reply.Sockets = append(reply.Sockets, agentapi.Socket{Tuple: s.Tuple, State: s.State.String(), UID: s.UID, Inode: s.Inode})
		}
		return keptPorts(&reply)
	})
	return reply, err
}

// toolSockets lists the TCP connections whose own or far end has the port, with
// what the kernel counts of them.
func (a *Agent) toolSockets(port uint16, far bool) (found []agentapi.ToolSocket, err error) {
	err = a.cfg.Namespace.Do(func() error {
		sport, dport := port, uint16(0)
		if far {
			sport, dport = 0, port
		}
		all, err := sockdiag.ConnectionsAt(sport, dport)
		for _, d := range all {
			found = append(found, agentapi.ToolSocket{Tuple: d.Tuple, Count: socket.ForeignCount(d)})
		}
		return err
	})
	return found, err
}

// keptPorts reads which ports the namespace keeps for what.
func keptPorts(reply *agentapi.SocketsReply) error {
	values, err := sysctl.Read(reservedPorts, ephemeralPorts)
	if err != nil {
		return err
	}
	if reply.Reserved, err = flow.ParsePortRanges(values[reservedPorts].Value); err != nil {
		return fmt.Errorf("read %s: %w", reservedPorts, err)
	}
	if first, last, found := strings.Cut(values[ephemeralPorts].Value, " "); found {
		if reply.Ephemeral, err = flow.ParsePortRange(first + "-" + last); err != nil {
			return fmt.Errorf("read %s: %w", ephemeralPorts, err)
		}
	}
	return nil
}
