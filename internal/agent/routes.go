package agent

import (
	"context"
	"net/netip"
	"strings"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/kernel/rtnl"
	"github.com/linerate/linerate/internal/kernel/sysctl"
	"github.com/linerate/linerate/netstate"
)

// multipathPolicy is the sysctl of IPv4's multipath hash.
const multipathPolicy = "net.ipv4.fib_multipath_hash_policy"

// hop is where a neighbour entry stands.
type hop struct {
	link string
	addr netip.Addr
}

// routes asks the kernel of the namespace where flows go.
func (a *Agent) routes(ctx context.Context, req agentapi.RoutesRequest) (agentapi.RoutesReply, error) {
	reply := agentapi.RoutesReply{Routes: make([]netstate.FlowRoute, len(req.Flows))}
	err := a.cfg.Namespace.Do(func() error {
		h, err := rtnl.Open()
		if err != nil {
			return err
		}
		defer h.Close()
		found, err := h.RoutesFor(req.Flows)
		if err != nil {
			return err
		}
		neighbours, err := h.Neighbours()
		if err != nil {
			a.cfg.Logger.DebugContext(ctx, "neighbours not read", "error", err)
		}
		macs := make(map[hop]flow.MAC, len(neighbours))
		for _, n := range neighbours {
			macs[hop{n.Link, n.Addr}] = n.MAC
		}
		for i, r := range found {
			reply.Routes[i] = routeOf(r, req.Flows[i].Dst, macs)
		}
		return doubts(h, req.Flows, reply.Routes)
	})
	return reply, err
}

func routeOf(r rtnl.RouteTo, dst netip.Addr, macs map[hop]flow.MAC) netstate.FlowRoute {
	if r.Err != nil {
		return netstate.FlowRoute{Why: "the kernel refuses the route: " + r.Err.Error()}
	}
	r.MAC = macs[hop{r.Link, r.NextHop(dst.Unmap())}]
	return r.FlowRoute
}

// What of a multipath route the kernel's answer is not good for.
const (
	doubtFields = "of an IPv4 multipath route with fib_multipath_hash_policy 3 the kernel answers as for a forwarded packet, which it hashes in another way than a socket's"
	doubtICMP   = "of an IPv4 multipath route with fib_multipath_hash_policy 1 the kernel's answer leaves out the ICMP type"
	doubtPorts  = "kernels before 4.18 take no ports in the question: of a multipath route that hashes ports the answer is that for none"
)

// doubts marks the answers that hold for the question and not for a socket's
// flow: some of IPv4's over several next hops, and all with ports that an old
// kernel did not read.
func doubts(h *rtnl.Handle, flows []flow.Tuple, routes []netstate.FlowRoute) error {
	values, err := sysctl.Read(multipathPolicy)
	if err != nil {
		return err
	}
	policy := strings.TrimSpace(values[multipathPolicy].Value)
	ports, known := netstate.Kernel{Release: kernelRelease()}.AtLeast(4, 18)
	spread := make(map[flow.Lane]bool)
	for i, f := range flows {
		ipv4 := f.Dst.Unmap().Is4()
		var doubt string
		switch {
		case routes[i].Link == "":
			continue
		case known && !ports && policy != "0":
			doubt = doubtPorts
		case ipv4 && policy == "3":
			doubt = doubtFields
		case ipv4 && policy == "1" && f.Proto == flow.ICMP:
			doubt = doubtICMP
		default:
			continue
		}
		lane := flow.Lane{Src: f.Src, Dst: f.Dst}
		several, asked := spread[lane]
		if !asked {
			if several, err = h.Spread(f); err != nil {
				return err
			}
			spread[lane] = several
		}
		if several {
			routes[i].Doubt = doubt
		}
	}
	return nil
}
