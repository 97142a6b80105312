package steer

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/agent/ask"
	"github.com/linerate/linerate/internal/agent/fleet"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/cmd/discover"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/steer"
)

const ecmpHelp = `Routes: --route asks the host's kernel where it sends each flow, exactly, and
sends nothing. --ecmp computes the next hop of a route with several (--ecmp auto
takes the host's own); that needs net.ipv4.fib_multipath_hash_seed, for the
kernel keeps the key that it draws itself.

`

// ecmpFlags ask about a route instead of a bond.
type ecmpFlags struct {
	route        bool
	hops, policy string
	seed         uint32
}

func (e *ecmpFlags) add(c *cobra.Command) {
	c.Flags().BoolVar(&e.route, "route", false, "ask the host's kernel which link and next hop each flow takes")
	c.Flags().StringVar(&e.hops, "ecmp", "", "weights of a route's next hops, in its order, such as 1:2:3;\nor auto: the host's own route to --dst")
	c.Flags().StringVar(&e.policy, "ecmp-policy", "", "fib_multipath_hash_policy of --ecmp: l3, l4, inner, fields or fields=0x37\n(default: the host's with auto, else l3)")
	c.Flags().Uint32Var(&e.seed, "seed", 0, "net.ipv4.fib_multipath_hash_seed of --ecmp (0: not known)")
}

// asked reports a question about a route, of a command. Flags that do not go
// together are refused.
func (e *ecmpFlags) asked(command string, bundle *bundleFlags, system *systemFlags) (bool, error) {
	switch {
	case e.hops == "" && (e.policy != "" || e.seed != 0):
		return false, console.BadUsage(command+": --ecmp-policy and --seed go with --ecmp", "say --ecmp 1:1 for two equal next hops, or --ecmp auto")
	case !e.route && e.hops == "":
		return false, nil
	case e.route && e.hops != "":
		return false, console.BadUsage(command+": --route and --ecmp exclude each other", "--route asks the kernel, --ecmp computes")
	case system.system != systemLinux:
		return false, console.BadUsage(command+": --system and --route or --ecmp exclude each other", "routes are of Linux: leave one of them out")
	case bundle.mode != "" || bundle.policy != "" || bundle.links != 0 || bundle.bond != "" || bundle.calibrate:
		return false, console.BadUsage(command+": --mode, --policy, --links, --bond and --calibrate are of a bond, not of a route", "leave them out, or leave out --route and --ecmp")
	case e.route && (bundle.kernel != "" || bundle.byteOrder != ""):
		return false, console.BadUsage(command+": --kernel and --byte-order say nothing to --route", "the kernel that runs answers")
	}
	return true, nil
}

// show answers for routes.
func (e *ecmpFlags) show(ctx context.Context, con *console.Console, bundle *bundleFlags, flows *flowFlags, frames []flow.Frame) error {
	if e.route {
		return showRoutes(ctx, con, bundle.host, flows, frames)
	}
	m, own, err := e.resolve(ctx, con, bundle, frames)
	if err != nil {
		return err
	}
	if flows.file == "" && flows.sport == "" && m.Reach().Ports {
		return console.BadUsage("steer show: no source port, and "+m.Name()+" goes by it", "say --sport 40000, or a range such as 40000-40015")
	}
	shown := steer.ShowOn(m, m.Name(), frames)
	if own {
		shown.Names = m.Links()
	}
	if !own && assumeUnowned(m, shown.Flows, frames) && con.JSON {
		sayNote(con, unownedSource)
	}
	if con.JSON {
		return showDocument.Print(con, shown)
	}
	return printFlows(con, ecmpText(m), m.Links(), shown)
}

// resolve is the route that the flags describe; own tells that it was read
// from the host.
func (e *ecmpFlags) resolve(ctx context.Context, con *console.Console, bundle *bundleFlags, frames []flow.Frame) (m steer.Multipath, own bool, err error) {
	policy, fields := steer.MultipathL3, steer.HashFields(0)
	if e.policy != "" {
		if policy, fields, err = steer.ParseMultipathPolicy(e.policy); err != nil {
			return m, false, console.BadUsage("--ecmp-policy: "+err.Error(), "")
		}
	}
	bigEndian, err := parseByteOrder(bundle.byteOrder)
	if err != nil {
		return m, false, err
	}
	if bundle.kernel != "" && steer.MultipathErasOf(bundle.kernel) == nil {
		return m, false, console.BadUsage("--kernel: want a release such as 6.1 or 5.15.0-105-generic, not "+bundle.kernel, "")
	}
	own = e.hops == "auto"
	switch {
	case own:
		m, err = e.hostRoute(ctx, con, bundle, frames)
	default:
		m.BigEndian = nativeBigEndian()
		release, known := bundle.kernel, bundle.kernel != ""
		if m.Hops, err = parseWeights(e.hops); err == nil && !known {
			release, known, err = linuxRelease(ctx, con, bundle.host)
		}
		if known {
			m = m.OfKernel(release)
		}
	}
	if err != nil {
		return m, own, err
	}
	if e.policy != "" || !own {
		m.Policy, m.Fields = policy, fields
	}
	if e.seed != 0 {
		m.Seed = e.seed
	}
	if bigEndian != nil {
		m.BigEndian = *bigEndian
	}
	return m, own, nil
}

// mostWeight is what a route can say of a next hop (struct rtnexthop).
const mostWeight = 256

// parseWeights reads "1:2:3".
func parseWeights(s string) ([]steer.Hop, error) {
	var hops []steer.Hop
	for i, word := range strings.Split(s, ":") {
		w, err := strconv.Atoi(word)
		if err != nil || w < 1 || w > mostWeight || i >= mostLinks {
			return nil, console.BadUsage("--ecmp: want weights from 1 to 256 such as 1:2:3, or auto, not "+s, "1:1 is two equal next hops")
		}
		hops = append(hops, steer.Hop{Link: strconv.Itoa(i), Weight: w})
	}
	return hops, nil
}

// mainTable is the routing table that --ecmp auto looks in.
const mainTable = 254

// hostRoute is the host's route to the frames' destination.
func (e *ecmpFlags) hostRoute(ctx context.Context, con *console.Console, bundle *bundleFlags, frames []flow.Frame) (steer.Multipath, error) {
	host, err := discover.Observe(ctx, con, bundle.host)
	if err != nil {
		return steer.Multipath{}, err
	}
	if bundle.kernel != "" {
		host.Kernel.Release = bundle.kernel
	}
	var route *netstate.Route
	for _, f := range frames {
		r := routeTo(host, f.Dst)
		switch {
		case r == nil && f.Dst.IsValid():
			return steer.Multipath{}, console.BadUsage(fmt.Sprintf("--ecmp auto: %s has no route to %s in its main table", host.Name, f.Dst), "ask the kernel with --route, which knows the other tables too")
		case r == nil:
			return steer.Multipath{}, console.BadUsage("--ecmp auto: a flow has no destination", "say --dst")
		case route == nil:
			route = r
		case route.Dst != r.Dst || route.Metric != r.Metric:
			return steer.Multipath{}, console.BadUsage("--ecmp auto: the flows take different routes", "ask for one destination at a time, or use --route")
		}
	}
	return steer.MultipathOf(host, *route)
}

// routeTo is the route of the main table with the longest prefix, of those the
// one with the smallest metric; nil for none. Policy rules are --route's.
func routeTo(h netstate.Host, dst netip.Addr) *netstate.Route {
	var best *netstate.Route
	for i := range h.Routes {
		r := &h.Routes[i]
		if r.Table != mainTable || !r.Dst.Contains(dst) {
			continue
		}
		if best == nil || r.Dst.Bits() > best.Dst.Bits() || r.Dst.Bits() == best.Dst.Bits() && r.Metric < best.Metric {
			best = r
		}
	}
	return best
}

// ecmpText names a multipath route for people.
func ecmpText(m steer.Multipath) string {
	seed := "seed not known"
	if m.Seed != 0 {
		seed = fmt.Sprintf("seed %d", m.Seed)
	}
	weights := make([]string, len(m.Hops))
	for i, h := range m.Hops {
		weights[i] = strconv.Itoa(max(h.Weight, 1))
	}
	eras := []string{m.Era.String()}
	for _, e := range m.Doubt {
		eras = append(eras, e.String())
	}
	order := "little-endian"
	if m.BigEndian {
		order = "big-endian"
	}
	return fmt.Sprintf("%s, %s, over %d next hops of weights %s, kernels %s, %s",
		m.Name(), seed, len(m.Hops), strings.Join(weights, ":"), strings.Join(eras, " or "), order)
}

// unownedSource is what --ecmp assumes of a route that it knows by weights alone.
const unownedSource = "this is for flows from an address of none of the next hops' links, such as a loopback's: from 6.16 on kernels send IPv4 from a link's own address by that link"

// prefersSource reports that the kernel may go by the source address first.
func prefersSource(m steer.Multipath, frames []flow.Frame) bool {
	return m.Era <= steer.MultipathSourceFirst && slices.ContainsFunc(frames, func(f flow.Frame) bool { return f.Src.Unmap().Is4() })
}

// assumeUnowned says so of the flows whose link rests on it. It reports whether
// there are any.
func assumeUnowned(m steer.Multipath, flows []steer.ShownFlow, frames []flow.Frame) (any bool) {
	for i := range flows {
		if f := &flows[i]; f.Known && f.Why == "" && !frames[i].Forwarded && prefersSource(m, frames[i:i+1]) {
			f.Why, any = unownedSource, true
		}
	}
	return any
}

// nextHops gives frames that lack it the MAC address of their next hop, as the
// routes and neighbours of the host have it, where the bond's policy hashes
// it. The note says what could not be looked up; "" for nothing.
func (f *flowFlags) nextHops(ctx context.Context, con *console.Console, reach string, frames []flow.Frame, b steer.Bundle, host *netstate.Host) (note string, err error) {
	lanes := lacking(frames, b)
	if host == nil || len(lanes) == 0 {
		return "", nil
	}
	routes, err := routes(ctx, con, reach, lanes)
	if err != nil {
		return "", err
	}
	macs := make(map[flow.Lane]flow.MAC, len(lanes))
	for i, t := range lanes {
		r := routes[i]
		switch why := offBond(r, t, b, host); {
		case why != "":
			note = why
		case r.MAC.IsZero():
			note = fmt.Sprintf("%s has no MAC address for the next hop %s on %s: ping it first, or say --dmac", host.Name, r.NextHop(t.Dst), r.Link)
		default:
			macs[flow.Lane{Src: t.Src, Dst: t.Dst}] = r.MAC
		}
	}
	for i := range frames {
		if frames[i].DstMAC.IsZero() {
			frames[i].DstMAC = macs[flow.Lane{Src: frames[i].Src, Dst: frames[i].Dst}]
		}
	}
	return note, nil
}

// lacking are the frames whose next hop's address decides and is not given,
// one for each pair of addresses.
func lacking(frames []flow.Frame, b steer.Bundle) []flow.Tuple {
	switch b.Policy {
	case netstate.Layer2, netstate.Layer23, netstate.Encap23:
	default:
		return nil
	}
	var tuples []flow.Tuple
	seen := make(map[flow.Lane]bool)
	for _, frame := range frames {
		lane := flow.Lane{Src: frame.Src, Dst: frame.Dst}
		if seen[lane] || !frame.DstMAC.IsZero() || !frame.Dst.IsValid() {
			continue
		}
		if seen[lane] = true; !b.Place(frame).Known {
			tuples = append(tuples, frame.Tuple)
		}
	}
	return tuples
}

// offBond says why a route does not lead over the bond; "" when it does, or
// when the links are not the host's own.
func offBond(r netstate.FlowRoute, t flow.Tuple, b steer.Bundle, host *netstate.Host) string {
	if r.Link == "" {
		return fmt.Sprintf("%s has no way to %s: %s", host.Name, t.Dst, r.Why)
	}
	if _, own := host.Link(firstOf(b.Ports)); !own {
		return ""
	}
	_, _, bond := host.Below(r.Link)
	if bond != nil && slices.Equal(host.UsablePorts(bond.Name), b.Ports) {
		return ""
	}
	return fmt.Sprintf("%s sends to %s by %s, which is not on this bond: the next hop's MAC address is not known", host.Name, t.Dst, r.Link)
}

func firstOf(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return names[0]
}

// routes asks a host's kernel where flows go, in as many requests as it takes.
func routes(ctx context.Context, con *console.Console, reach string, tuples []flow.Tuple) ([]netstate.FlowRoute, error) {
	t, h, err := con.Open(ctx, reach)
	if err != nil {
		return nil, err
	}
	defer h.Close()
	return routesOf(ctx, h, t.Name, tuples)
}

// routesOf is routes of a host that is reached already.
func routesOf(ctx context.Context, h *fleet.Host, name string, tuples []flow.Tuple) ([]netstate.FlowRoute, error) {
	var all []netstate.FlowRoute
	for part := range slices.Chunk(tuples, agentapi.MostRoutes) {
		reply, err := ask.Call(ctx, h, agentapi.Routes, agentapi.RoutesRequest{Flows: part})
		if err != nil {
			return nil, fmt.Errorf("ask for routes of %s: %w", name, err)
		}
		all = append(all, reply.Routes...)
	}
	return all, nil
}
