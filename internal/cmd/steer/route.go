package steer

import (
	"context"
	"fmt"
	"maps"
	"net/netip"
	"slices"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/steer"
)

// routed is what a host's kernel answers of flows: exact for any route, also
// for a multipath one with a key that nobody can read.
type routed struct {
	table steer.Table
	// names are the table's links with their next hops.
	names []string
	// why is the reason of each flow that the table does not hold, in order.
	why []string
	// refused: the kernel has no way for any flow.
	refused bool
}

// notAsked is why a flow is not in the table at all.
const notAsked = "the kernel was not asked about this flow"

// askRoutes asks the host's kernel about the frames' flows. The table's links
// are a link with a gateway each, in the order of their names; nothing is sent.
func askRoutes(ctx context.Context, con *console.Console, reach string, frames []flow.Frame) (routed, error) {
	tuples := make([]flow.Tuple, len(frames))
	for i, f := range frames {
		tuples[i] = question(f)
	}
	routes, err := routes(ctx, con, reach, tuples)
	if err != nil {
		return routed{}, err
	}
	r := routed{why: make([]string, len(frames))}
	r.refused = !slices.ContainsFunc(routes, func(route netstate.FlowRoute) bool { return route.Link != "" })
	links := make(map[string]string)
	for i, route := range routes {
		if r.why[i] = unsure(route); r.why[i] == "" {
			links[routeName(route)] = route.Link
		}
	}
	r.names = slices.Sorted(maps.Keys(links))
	names := make([]string, len(r.names))
	number := make(map[string]int)
	for i, name := range r.names {
		names[i], number[name] = links[name], i
	}
	var sightings []steer.Sighting
	for i, route := range routes {
		if r.why[i] == "" {
			sightings = append(sightings, steer.Sighting{Frame: frames[i], Link: number[routeName(route)]})
		}
	}
	r.table = steer.NewTable(names, sightings, notAsked)
	return r, nil
}

// question is the tuple to ask about: of ICMPv6 the kernel takes type and code
// in the place of the destination port (RFC 4443), an echo request when the
// frame does not say; other protocols without ports have none.
func question(f flow.Frame) flow.Tuple {
	t := f.Tuple
	switch f.Proto {
	case flow.TCP, flow.UDP:
		return t
	case flow.ICMPv6:
		message := flow.ICMPHeader{Type: 128}
		if f.ICMP != nil {
			message = *f.ICMP
		}
		t.Sport, t.Dport = 0, uint16(message.Type)<<8|uint16(message.Code)
		return t
	}
	t.Sport, t.Dport = 0, 0
	return t
}

// unsure says why an answer is none for a socket's flow.
func unsure(r netstate.FlowRoute) string {
	if r.Link == "" {
		return r.Why
	}
	if r.Doubt != "" {
		return r.Doubt + "; with net.ipv4.fib_multipath_hash_seed set, --ecmp auto computes it"
	}
	return ""
}

// routeName is "eth0 via 10.0.0.254".
func routeName(r netstate.FlowRoute) string { return hopName(r.Link, r.Gateway) }

func hopName(link string, gateway netip.Addr) string {
	if gateway.IsValid() {
		return link + " via " + gateway.String()
	}
	return link
}

// shown is the flows with the links that the kernel names.
func (r routed) shown(frames []flow.Frame) steer.Shown {
	s := steer.ShowOn(r.table, "route", frames)
	s.Names = r.names
	for i := range s.Flows {
		if s.Flows[i].Why == notAsked {
			s.Flows[i].Why = r.why[i]
		}
	}
	return s
}

// showRoutes is `steer show --route`.
func showRoutes(ctx context.Context, con *console.Console, reach string, flows *flowFlags, frames []flow.Frame) error {
	for _, f := range frames {
		switch {
		case !f.Dst.IsValid():
			return console.BadUsage("steer show: --route, and a flow has no destination", "say --dst, or fill the column dst")
		case f.Forwarded:
			return console.BadUsage("steer show: --route answers for the host's own flows, not for forwarded ones", "--ecmp computes those")
		}
	}
	r, err := askRoutes(ctx, con, reach, frames)
	if err != nil {
		return err
	}
	if r.refused {
		return fmt.Errorf("show routes: the kernel sends none of these flows: %s", r.why[0])
	}
	shown := r.shown(frames)
	if con.JSON {
		return showDocument.Print(con, shown)
	}
	t, err := con.Target(reach)
	if err != nil {
		return err
	}
	if err := printFlows(con, "as the kernel of "+t.Name+" routes them", r.table.Links(), shown); err != nil {
		return err
	}
	for i, name := range r.names {
		fmt.Fprint(con.Stdout, console.Wrapped(fmt.Sprintf("link %d: ", i), name, con.Width()))
	}
	if flows.file == "" && flows.sport == "" {
		fmt.Fprint(con.Stdout, console.Wrapped("note: ", "asked without a source port; of a multipath route that hashes ports each port may go elsewhere: say --sport", con.Width()))
	}
	return nil
}
