package steer

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/agent/ask"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/steer"
)

// firstRegistered is where the search for source ports begins when the
// ephemeral ones are out of it.
const firstRegistered = 10000

// avoidFlags name source ports to leave alone.
type avoidFlags struct {
	ports     string
	ephemeral bool
	hostNamed bool // by --host
}

func (a *avoidFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&a.ports, "avoid", "", "source ports to leave alone, such as 40000,41000-41010")
	c.Flags().BoolVar(&a.ephemeral, "avoid-ephemeral", false, "leave alone the ports that the host's kernel chooses from\n(net.ipv4.ip_local_port_range)")
}

// apply puts into the request what it is to avoid, and says what that is. The
// host's own sockets count where the bond was observed on it or --host names
// it.
func (a *avoidFlags) apply(ctx context.Context, con *console.Console, req *steer.PickRequest, bundle *bundleFlags, observed bool) (notes []string, err error) {
	ranges, err := flow.ParsePortRanges(a.ports)
	if err != nil {
		return nil, console.BadUsage("--avoid: "+a.ports+" is no list of ports", "write 40000, 41000-41010, or a list of both")
	}
	req.AvoidRanges = append(req.AvoidRanges, ranges...)
	if !observed && !a.hostNamed && !a.ephemeral || req.Proto != flow.TCP && req.Proto != flow.UDP {
		return nil, nil
	}
	kept, err := sockets(ctx, con, bundle.host, agentapi.SocketsRequest{Proto: req.Proto, Listening: true})
	switch {
	case errors.Is(err, errors.ErrUnsupported) && !a.ephemeral:
		return []string{"the host does not report which ports are in use"}, nil
	case err != nil:
		return nil, err
	}
	var left []string
	if ports := kept.Ports(); len(ports) > 0 {
		req.Avoid = ports
		left = append(left, fmt.Sprintf("%d in use", len(ports)))
	}
	if len(kept.Reserved) > 0 {
		req.AvoidRanges = append(req.AvoidRanges, kept.Reserved...)
		left = append(left, "reserved "+rangesText(kept.Reserved))
	}
	if a.ephemeral {
		if kept.Ephemeral.Count() == 0 {
			return nil, fmt.Errorf("avoid ephemeral ports: the host does not say which those are: %w", errors.ErrUnsupported)
		}
		req.AvoidRanges = append(req.AvoidRanges, kept.Ephemeral)
		if req.FirstPort == 0 && req.LastPort == 0 {
			req.FirstPort, req.LastPort = firstRegistered, 1<<16-1
		}
		left = append(left, "ephemeral "+kept.Ephemeral.String())
	}
	if len(left) == 0 {
		return nil, nil
	}
	return []string{"ports of the host left out: " + strings.Join(left, ", ")}, nil
}

// rangesText lists ranges of ports for people.
func rangesText(ranges []flow.PortRange) string {
	parts := make([]string, len(ranges))
	for i, r := range ranges {
		parts[i] = r.String()
	}
	return strings.Join(parts, ", ")
}

// sockets lists the sockets of a host that is reached for it.
func sockets(ctx context.Context, con *console.Console, reach string, req agentapi.SocketsRequest) (agentapi.SocketsReply, error) {
	_, h, err := con.Open(ctx, reach)
	if err != nil {
		return agentapi.SocketsReply{}, err
	}
	defer h.Close()
	return ask.Call(ctx, h, agentapi.Sockets, req)
}
