package steer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/advise/snippet"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/steer"
)

// pickFlags are what pick takes beside the bond and the parts of a flow.
type pickFlags struct {
	systemFlags
	ecmp    ecmpFlags
	streams int
	lanes   []string
	dports  string
	program string
	require bool
	avoid   avoidFlags
	// The other sides: the switch towards the receiver, the receiver itself,
	// and the switch towards the sender.
	farPolicy              string
	farLinks               int
	backSystem, backPolicy string
	backLinks              int
	backFarPolicy          string
	backFarLinks           int
	learned, fabric        string
}

func newPick(con *console.Console) *cobra.Command {
	var bundle bundleFlags
	var flows flowFlags
	var pick pickFlags
	c := &cobra.Command{
		Use: "pick", Short: "ports or addresses that spread streams evenly", Args: console.NoArgs,
		Long: `Chooses source ports, and pairs of addresses or destination ports where those do
not help, so that streams use the links of a bond evenly. Start them in the
order given: any first ones of them are even too.

Every other place that spreads the same connections is made even as well, as far
as it is said: --far-... is the switch towards the receiver, --back-... how the
receiver sends back, --back-far-... the switch towards the sender. Where not all
can be even, they are in that order. --learned FILE has both switches exactly,
where steer probe --learn found their hash. --fabric FILE has all of this: the
hosts' bonds, and how the switches spread over each trunk and tier between them.

Ports that sockets of the host hold, and those it reserves
(net.ipv4.ip_local_reserved_ports), are left out where the bond is read from a
host or --host names one. --for chooses for a program what can be chosen for it:
ports, addresses or the number of connections, prints its commands, and says
what is left to chance.

` + flowHelp + bundleHelp + ecmpHelp + console.ExitHelp,
		Example: `  linerate steer pick --src 10.0.0.1 --dst 10.0.0.2 --streams 4
  linerate steer pick --lane 10.0.0.1,10.0.0.2 --lane 10.0.0.3,10.0.0.4
  linerate steer pick --src 10.0.0.1 --dst 10.0.0.2 --streams 4 --for iperf3
  linerate steer pick --src 10.0.0.1 --dst 10.0.0.2 --streams 6 \
      --far-policy layer3+4 --far-links 3
  linerate steer pick --src 10.0.0.1 --dst 10.0.0.2 --learned fabric.yaml
  linerate steer pick --route --src 10.0.0.1 --dst 10.1.0.2 --streams 4`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := refuseZero(cmd); err != nil {
				return err
			}
			pick.avoid.hostNamed = cmd.Flags().Changed("host")
			return pick.run(cmd.Context(), con, &bundle, &flows)
		},
	}
	flows.addParts(c)
	pick.add(c, &flows)
	bundle.add(c)
	return c
}

func (p *pickFlags) add(c *cobra.Command, flows *flowFlags) {
	p.systemFlags.add(c)
	p.ecmp.add(c)
	c.Flags().StringVar(&p.dports, "dport", fmt.Sprint(steer.DefaultDport), "destination port, or a list such as 5201-5204 where the server listens on several")
	c.Flags().StringVar(&flows.sport, "sport", "", fmt.Sprintf("source ports to choose from, a range or a list of such (default: %d-%d)", steer.DefaultFirstPort, steer.DefaultLastPort))
	c.Flags().IntVar(&p.streams, "streams", 0, "number of streams (default: one a link)")
	c.Flags().StringArrayVar(&p.lanes, "lane", nil, "SRC,DST: a pair of addresses that may be used; again for each")
	console.WordVar(c, &p.program, "for", "", "choose for a program what can be chosen, and print its commands: "+strings.Join(snippet.Programs()[1:], ", ")+"; or ports, for any that binds its ports")
	// The error is a second registration, and there is one.
	_ = c.RegisterFlagCompletionFunc("for", cobra.FixedCompletions(snippet.Programs(), cobra.ShellCompDirectiveNoFileComp))
	c.Flags().BoolVar(&p.require, "require", false, "exit 1 unless the streams are even, for certain, with --for also as the program runs them")
	p.avoid.add(c)
	console.WordVar(c, &p.farPolicy, "far-policy", "", "transmit hash policy of the switch towards the receiver's links")
	c.Flags().IntVar(&p.farLinks, "far-links", 0, "number of links to the receiver")
	console.WordVar(c, &p.backSystem, "back-system", systemLinux, "system of the receiver: "+systemList())
	console.WordVar(c, &p.backPolicy, "back-policy", "", "policy by which the receiver sends back")
	c.Flags().IntVar(&p.backLinks, "back-links", 0, "number of links that the receiver sends back on")
	console.WordVar(c, &p.backFarPolicy, "back-far-policy", "", "transmit hash policy of the switch towards the sender's links")
	c.Flags().IntVar(&p.backFarLinks, "back-far-links", 0, "number of links back to the sender")
	c.Flags().StringVar(&p.learned, "learned", "", learnedUsage)
	c.Flags().StringVar(&p.fabric, "fabric", "", pickFabricUsage)
}

// run picks and prints.
func (p *pickFlags) run(ctx context.Context, con *console.Console, bundle *bundleFlags, flows *flowFlags) error {
	req, side, notes, err := p.request(ctx, con, bundle, flows)
	if err != nil {
		return err
	}
	var picked steer.Picked
	var how *snippet.Snippet
	if side != nil {
		defer side.Close()
		picked, how, err = side.settle(ctx, &req, p.choose)
	} else {
		picked, how, err = p.choose(req)
	}
	if err != nil {
		return err
	}
	if err := printPicked(con, req, picked, how, notes); err != nil {
		return err
	}
	if p.require && !picked.Even {
		return errors.New("pick ports: the streams are not even, and --require wants it")
	}
	return nil
}

// choose picks, for a program where one is named.
func (p *pickFlags) choose(req steer.PickRequest) (picked steer.Picked, how *snippet.Snippet, err error) {
	if p.program == "" {
		picked, err = steer.Pick(req)
	} else {
		var program snippet.Program
		if err := program.UnmarshalText([]byte(p.program)); err != nil {
			return picked, nil, console.BadUsage("--for: unknown program "+p.program, console.OrMeant(p.program, snippet.Programs(), "", "the programs are "+strings.Join(snippet.Programs(), ", ")))
		}
		how = new(snippet.Snippet)
		picked, *how, err = snippet.For(program, req)
	}
	switch {
	case errors.Is(err, steer.ErrTooFewPorts):
		return picked, nil, console.BadUsage(err.Error(), "give --sport a longer range, or avoid fewer ports")
	case err != nil:
		return picked, nil, console.BadUsage(err.Error(), "")
	}
	return picked, how, nil
}

// mostStreams bounds what is chosen for at once.
const mostStreams = 4096

// request is what the flags ask for. The side is not nil where a kernel is to
// be asked: the caller closes it.
func (p *pickFlags) request(ctx context.Context, con *console.Console, bundle *bundleFlags, flows *flowFlags) (req steer.PickRequest, side *routeSide, notes []string, err error) {
	base, err := p.parts(&req, flows)
	if err != nil {
		return req, nil, nil, err
	}
	if p.fabric != "" && p.learned != "" {
		return req, nil, nil, console.BadUsage("steer pick: --fabric has what was learned too", "leave out --learned")
	}
	if err := p.otherSides(&req); err != nil {
		return req, nil, nil, err
	}
	learned, err := p.learnedSides(ctx, &req)
	if err != nil {
		return req, nil, nil, err
	}
	if err := p.fabricSides(ctx, &req); err != nil {
		return req, nil, nil, err
	}
	routed, err := p.ecmp.asked("steer pick", bundle, &p.systemFlags)
	switch {
	case err != nil:
		return req, nil, nil, err
	case routed:
		side, notes, err = p.onRoute(ctx, con, &req, bundle, base)
	default:
		notes, err = p.onBond(ctx, con, &req, bundle, flows, base)
	}
	return req, side, append(learned, notes...), err
}

// streamsOn is as many streams as were asked for, else one a link, wherever there are most
// of what a file describes.
func (p *pickFlags) streamsOn(req *steer.PickRequest) {
	if req.Streams = p.streams; req.Streams != 0 {
		return
	}
	req.Streams = len(req.Near.Links())
	if p.fabric == "" {
		return
	}
	for _, s := range append(slices.Clone(req.Between), req.Far) {
		if s != nil {
			req.Streams = max(req.Streams, len(s.Links()))
		}
	}
}

// onBond completes a request whose sender spreads over a bond, or what another
// system calls one.
func (p *pickFlags) onBond(ctx context.Context, con *console.Console, req *steer.PickRequest, bundle *bundleFlags, flows *flowFlags, base flow.Frame) (notes []string, err error) {
	bond, host, err := p.nearSide(ctx, con, req, bundle)
	if err != nil {
		return nil, err
	}
	if len(req.Near.Links()) == 0 {
		return nil, errors.New("pick ports: the bond has no usable link")
	}
	p.streamsOn(req)
	frames := []flow.Frame{base}
	frames[0].Src, frames[0].Dst = req.Lanes[0].Src, req.Lanes[0].Dst
	chosen := *flows
	chosen.sport = "chosen"
	if err := chosen.complete(frames, bond, host); err != nil {
		return nil, err
	}
	note, err := flows.nextHops(ctx, con, bundle.host, frames, bond, host)
	if err != nil {
		return nil, err
	}
	if note != "" {
		notes = append(notes, note)
	}
	req.Proto, req.VLAN = base.Proto, frames[0].VLAN
	if p.fabric == "" || !frames[0].SrcMAC.IsZero() {
		req.SrcMAC = frames[0].SrcMAC
	}
	if p.fabric == "" || !frames[0].DstMAC.IsZero() {
		req.DstMAC = frames[0].DstMAC
	}
	// On one subnet the frames that come back have the same addresses, swapped.
	req.BackSrcMAC, req.BackDstMAC = req.DstMAC, req.SrcMAC
	avoided, err := p.avoid.apply(ctx, con, req, bundle, host != nil)
	return append(notes, avoided...), err
}

// parts are what the flags alone say: addresses, ports, the number of streams.
func (p *pickFlags) parts(req *steer.PickRequest, flows *flowFlags) (base flow.Frame, err error) {
	if base, err = flows.template(); err != nil {
		return base, err
	}
	if req.Lanes, err = p.lanesOf(flows); err != nil {
		return base, err
	}
	if flows.sport != "" {
		if err := sourcesOf(req, flows.sport); err != nil {
			return base, err
		}
	}
	if req.Dports, err = parseDports(p.dports); err != nil {
		return base, err
	}
	base.Dport = req.Dports[0]
	if p.ownPort() && p.dports == fmt.Sprint(steer.DefaultDport) {
		req.Dports = nil // the program has a default of its own
	}
	if p.streams < 0 || p.streams > mostStreams {
		return base, console.BadUsage(fmt.Sprintf("--streams: want 1 to %d, not %d", mostStreams, p.streams), "")
	}
	return base, nil
}

// ownPort reports a program whose server listens on a port of its own.
func (p *pickFlags) ownPort() bool {
	var program snippet.Program
	if program.UnmarshalText([]byte(p.program)) != nil {
		return false
	}
	w, ok := program.Workload()
	return ok && w.Port() != steer.DefaultDport
}

// sourcesOf puts a list of source ports into the request: from the lowest to
// the highest, without what lies between its parts.
func sourcesOf(req *steer.PickRequest, list string) error {
	ranges, err := flow.ParsePortRanges(list)
	if err != nil || len(ranges) == 0 {
		return console.BadUsage("--sport: "+list+" is no list of ports from 1 to 65535", "write 40000-40999, or a list of such")
	}
	slices.SortFunc(ranges, func(a, b flow.PortRange) int { return int(a.First) - int(b.First) })
	if ranges[0].First == 0 {
		return console.BadUsage("--sport: port 0 is none to choose", "")
	}
	req.FirstPort, req.LastPort = ranges[0].First, ranges[0].Last
	for _, r := range ranges[1:] {
		if int(r.First) > int(req.LastPort)+1 {
			req.AvoidRanges = append(req.AvoidRanges, flow.PortRange{First: req.LastPort + 1, Last: r.First - 1})
		}
		req.LastPort = max(req.LastPort, r.Last)
	}
	return nil
}

// parseDports reads destination ports, each once.
func parseDports(s string) ([]uint16, error) {
	ranges, err := flow.ParsePortRanges(s)
	if err != nil {
		return nil, console.BadUsage("--dport: "+s+" is no list of ports", "write 5201, 5201-5204, or a list of both")
	}
	var ports []uint16
	for _, r := range ranges {
		for port := int(r.First); port <= int(r.Last); port++ {
			ports = append(ports, uint16(port))
		}
	}
	slices.Sort(ports)
	ports = slices.Compact(ports)
	if len(ports) == 0 || len(ports) > mostStreams || ports[0] == 0 {
		return nil, console.BadUsage(fmt.Sprintf("--dport: want 1 to %d ports above 0", mostStreams), "")
	}
	return ports, nil
}

// nearSide is how the sender spreads, with the bond and the host it was read
// from, where it is one.
func (p *pickFlags) nearSide(ctx context.Context, con *console.Console, req *steer.PickRequest, bundle *bundleFlags) (bond steer.Bundle, host *netstate.Host, err error) {
	external, err := p.external(bundle)
	switch {
	case err != nil:
		return bond, nil, err
	case req.Near != nil && (external || bundle.bond != "" || bundle.policy != ""):
		return bond, nil, console.BadUsage("steer pick: --fabric says how the sender spreads its flows", "leave out --system, --bond and --policy")
	case req.Near != nil: // the file's
		bond, _ = req.Near.(steer.Bundle)
		return bond, nil, nil
	}
	if external {
		req.Near, err = aggregation("--", p.system, bundle.policy, bundle.links)
		return bond, nil, err
	}
	if bond, host, err = bundle.resolve(ctx, con); err != nil {
		return bond, nil, err
	}
	req.Near = bond
	return bond, host, nil
}

// otherSides are the spreaders beyond the sender, where they are declared.
func (p *pickFlags) otherSides(req *steer.PickRequest) error {
	if err := knownSystem("--back-system", p.backSystem); err != nil {
		return err
	}
	for _, side := range []struct {
		flag, system, policy string
		links                int
		to                   *steer.Spreader
	}{
		{"--far-", systemLinux, p.farPolicy, p.farLinks, &req.Far},
		{"--back-", p.backSystem, p.backPolicy, p.backLinks, &req.Back},
		{"--back-far-", systemLinux, p.backFarPolicy, p.backFarLinks, &req.BackFar},
	} {
		if side.policy == "" && side.links == 0 {
			continue
		}
		if side.system == systemLinux && side.policy == "" || side.links == 0 {
			return console.BadUsage(fmt.Sprintf("%[1]spolicy and %[1]slinks go together", side.flag), fmt.Sprintf("say both, such as %[1]spolicy layer3+4 %[1]slinks 2", side.flag))
		}
		spreader, err := aggregation(side.flag, side.system, side.policy, side.links)
		if err != nil {
			return err
		}
		*side.to = spreader
	}
	return nil
}

// lanesOf are the pairs of --lane, or those of --src and --dst.
func (p *pickFlags) lanesOf(flows *flowFlags) ([]flow.Lane, error) {
	if len(p.lanes) == 0 {
		if len(flows.src) == 0 || len(flows.dst) == 0 {
			return nil, console.BadUsage("steer pick: no addresses named", "say --src 10.0.0.1 --dst 10.0.0.2, or --lane 10.0.0.1,10.0.0.2 once for each pair")
		}
		return flows.lanes()
	}
	if len(flows.src) > 0 || len(flows.dst) > 0 {
		return nil, console.BadUsage("steer pick: --lane and --src, --dst exclude each other", "")
	}
	var lanes []flow.Lane
	for _, word := range p.lanes {
		src, dst, found := strings.Cut(word, ",")
		if !found || strings.Contains(dst, ",") {
			return nil, console.BadUsage("--lane: "+word+" is no pair of addresses", "write --lane 10.0.0.1,10.0.0.2")
		}
		pair, err := parseAddresses("--lane", []string{src, dst})
		if err != nil {
			return nil, err
		}
		lane := flow.Lane{Src: pair[0], Dst: pair[1]}
		if err := oneFamily("--lane", lane); err != nil {
			return nil, err
		}
		lanes = append(lanes, lane)
	}
	return lanes, nil
}
