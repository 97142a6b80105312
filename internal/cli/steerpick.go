package cli

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/steer"
)

// pickFlags are what pick takes beside the bond and the parts of a flow.
type pickFlags struct {
	streams   int
	lanes     []string
	farPolicy string
	farLinks  int
}

func newSteerPick(app *App) *cobra.Command {
	var bundle bundleFlags
	var flows flowFlags
	var pick pickFlags
	c := &cobra.Command{
		Use: "pick", Short: "ports or addresses that spread streams evenly", Args: none,
		Long: `Chooses source ports, and pairs of addresses where ports alone do not help, so
that streams use the links of a bond evenly. Start them in the order given: any
first ones of them are even too. With --far-policy and --far-links the links of
the switch towards the receiver are spread as well.

` + flowHelp + bundleHelp + exitHelp,
		Example: `  linerate steer pick --src 10.0.0.1 --dst 10.0.0.2 --streams 4
  linerate steer pick --lane 10.0.0.1,10.0.0.2 --lane 10.0.0.3,10.0.0.4`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			req, err := pick.request(cmd.Context(), app, &bundle, &flows)
			if err != nil {
				return err
			}
			picked, err := steer.Pick(req)
			switch {
			case errors.Is(err, steer.ErrTooFewPorts):
				return usage(err.Error(), "give --sport a longer range")
			case err != nil:
				return usage(err.Error(), "")
			}
			return app.printPicked(req, picked)
		},
	}
	flows.add(c)
	c.Flags().StringVar(&flows.sport, "sport", "", fmt.Sprintf("range of source ports to choose from (default: %d-%d)", steer.DefaultFirstPort, steer.DefaultLastPort))
	c.Flags().IntVar(&pick.streams, "streams", 0, "number of streams (default: one a link)")
	c.Flags().StringArrayVar(&pick.lanes, "lane", nil, "SRC,DST: a pair of addresses that may be used; again for each")
	c.Flags().StringVar(&pick.farPolicy, "far-policy", "", "the far side's transmit hash policy")
	c.Flags().IntVar(&pick.farLinks, "far-links", 0, "number of links on the far side")
	bundle.add(c)
	return c
}

// mostStreams bounds what is chosen for at once.
const mostStreams = 4096

func (p *pickFlags) request(ctx context.Context, app *App, bundle *bundleFlags, flows *flowFlags) (steer.PickRequest, error) {
	var req steer.PickRequest
	base, err := flows.template()
	if err != nil {
		return req, err
	}
	if req.Lanes, err = p.lanesOf(flows); err != nil {
		return req, err
	}
	if req.Far, err = p.far(); err != nil {
		return req, err
	}
	if flows.sport != "" {
		if req.FirstPort, req.LastPort, err = parsePortRange(flows.sport); err != nil {
			return req, err
		}
		if req.FirstPort == 0 {
			return req, usage("--sport: port 0 is none to choose", "")
		}
	}
	if p.streams < 0 || p.streams > mostStreams {
		return req, usage(fmt.Sprintf("--streams: want 1 to %d, not %d", mostStreams, p.streams), "")
	}
	var host *netstate.Host
	if req.Bundle, host, err = bundle.resolve(ctx, app); err != nil {
		return req, err
	}
	if len(req.Bundle.Ports) == 0 {
		return req, fmt.Errorf("pick ports: the bond has no usable link")
	}
	if req.Streams = p.streams; req.Streams == 0 {
		req.Streams = len(req.Bundle.Ports)
	}
	frames := []flow.Frame{base}
	frames[0].Src = req.Lanes[0].Src
	flows.sport = "chosen"
	if err := flows.complete(frames, req.Bundle, host); err != nil {
		return req, err
	}
	req.Proto, req.Dport = base.Proto, base.Dport
	req.SrcMAC, req.DstMAC, req.VLAN = frames[0].SrcMAC, frames[0].DstMAC, frames[0].VLAN
	return req, nil
}

// lanesOf are the pairs of --lane, or those of --src and --dst.
func (p *pickFlags) lanesOf(flows *flowFlags) ([]flow.Lane, error) {
	if len(p.lanes) == 0 {
		if len(flows.src) == 0 || len(flows.dst) == 0 {
			return nil, usage("steer pick: no addresses named", "say --src 10.0.0.1 --dst 10.0.0.2, or --lane 10.0.0.1,10.0.0.2 once for each pair")
		}
		return flows.lanes()
	}
	if len(flows.src) > 0 || len(flows.dst) > 0 {
		return nil, usage("steer pick: --lane and --src, --dst exclude each other", "")
	}
	var lanes []flow.Lane
	for _, word := range p.lanes {
		src, dst, found := strings.Cut(word, ",")
		if !found || strings.Contains(dst, ",") {
			return nil, usage("--lane: "+word+" is no pair of addresses", "write --lane 10.0.0.1,10.0.0.2")
		}
		pair, err := parseAddresses("--lane", []string{src, dst})
		if err != nil {
			return nil, err
		}
		lanes = append(lanes, flow.Lane{Src: pair[0], Dst: pair[1]})
	}
	return lanes, nil
}

// far is the far side's bundle; nil when nothing is said of it.
func (p *pickFlags) far() (*steer.Bundle, error) {
	if p.farPolicy == "" && p.farLinks == 0 {
		return nil, nil
	}
	policy, err := parsePolicy("--far-policy", p.farPolicy)
	if err != nil {
		return nil, err
	}
	if policy == nil || p.farLinks < 1 || p.farLinks > mostLinks {
		return nil, usage("--far-policy and --far-links go together", fmt.Sprintf("say both, such as --far-policy layer3+4 --far-links 2 (at most %d)", mostLinks))
	}
	b := steer.Declared(*policy, p.farLinks)
	return &b, nil
}

func linkText(b steer.Bundle, i int) string {
	if i < 0 || i >= len(b.Ports) {
		return "unknown"
	}
	if b.Ports[i] == strconv.Itoa(i) {
		return b.Ports[i]
	}
	return fmt.Sprintf("%d %s", i, b.Ports[i])
}

// perLink is how many flows each link gets.
func perLink(b steer.Bundle, counts []int) string {
	parts := make([]string, len(counts))
	for i, n := range counts {
		parts[i] = fmt.Sprintf("%s: %d", linkText(b, i), n)
	}
	return strings.Join(parts, ", ")
}

func (a *App) printShown(b steer.Bundle, s steer.Shown) error {
	fmt.Fprint(a.Stdout, wrapped("", fmt.Sprintf("%s, %s over %d links, %s", b.Mode, b.Policy, len(b.Ports), kernelText(b)), a.width()))
	w := tabwriter.NewWriter(a.Stdout, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "PROTO\tSRC\tDST\tSPORT\tDPORT\tHASH\tLINK")
	var reasons []string
	told := map[string]bool{}
	for _, f := range s.Flows {
		hash, link := "-", "unknown"
		if f.Hash != nil {
			hash = fmt.Sprintf("%#08x", *f.Hash)
		}
		switch {
		case f.Link != nil:
			link = linkText(b, *f.Link)
		case f.Known:
			link = "all"
		}
		if f.Why != "" && !told[f.Why] {
			told[f.Why] = true
			reasons = append(reasons, f.Why)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%d\t%s\t%s\n", f.Proto, orNone(f.Src.IsValid(), f.Src.String()), orNone(f.Dst.IsValid(), f.Dst.String()), f.Sport, f.Dport, hash, link)
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("print flows: %w", err)
	}
	fmt.Fprint(a.Stdout, wrapped("on each link: ", perLink(b, s.PerLink), a.width()))
	for _, why := range reasons {
		fmt.Fprint(a.Stdout, wrapped("note: ", why, a.width()))
	}
	return nil
}

func orNone(given bool, s string) string {
	if !given {
		return "-"
	}
	return s
}

func (a *App) printPicked(req steer.PickRequest, p steer.Picked) error {
	if a.json {
		if p.Why != "" && !a.quiet {
			fmt.Fprintln(a.Stderr, "note: "+oneLine(p.Why))
		}
		return a.printJSON(p.Shown())
	}
	b := req.Bundle
	fmt.Fprint(a.Stdout, wrapped("", fmt.Sprintf("%d streams, %s, %s over %d links, %s", len(p.Streams), b.Mode, b.Policy, len(b.Ports), kernelText(b)), a.width()))
	w := tabwriter.NewWriter(a.Stdout, 0, 8, 2, ' ', 0)
	header := "STREAM\tSPORT\tSRC\tDST\tDPORT\tLINK"
	if req.Far != nil {
		header += "\tFAR LINK"
	}
	fmt.Fprintln(w, header)
	ports := make([]string, len(p.Streams))
	for i, s := range p.Streams {
		ports[i] = strconv.Itoa(int(s.Sport))
		row := fmt.Sprintf("%d\t%d\t%s\t%s\t%d\t%s", i, s.Sport, s.Src, s.Dst, req.Dport, linkText(b, s.Link))
		if req.Far != nil {
			row += "\t" + linkText(*req.Far, s.FarLink)
		}
		fmt.Fprintln(w, row)
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("print streams: %w", err)
	}
	fmt.Fprint(a.Stdout, wrapped("on each link: ", perLink(b, p.PerLink), a.width()))
	if req.Far != nil {
		fmt.Fprint(a.Stdout, wrapped("on each far link: ", perLink(*req.Far, p.FarPerLink), a.width()))
	}
	even := "no"
	if p.Even {
		even = "yes"
	}
	if p.Relative {
		even += "; the links are told apart, but their numbers are not known"
	}
	fmt.Fprint(a.Stdout, wrapped("even: ", even, a.width()))
	if p.Why != "" {
		fmt.Fprint(a.Stdout, wrapped("note: ", p.Why, a.width()))
	}
	fmt.Fprintln(a.Stdout, "ports: "+strings.Join(ports, ","))
	return nil
}
