package steer

import (
	"context"
	"fmt"
	"net/netip"
	"strings"
	"text/tabwriter"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict/declared"
	"github.com/linerate/linerate/predict/tiers"
	"github.com/linerate/linerate/steer"
)

// fabricUsage is the help of --fabric.
const fabricUsage = "fabric file with switches: the port of each switch that a\nflow leaves by"

// shownWay is one flow's way through the switches.
type shownWay struct {
	Proto flow.Proto `json:"proto"`
	Src   netip.Addr `json:"src"`
	Dst   netip.Addr `json:"dst"`
	Sport uint16     `json:"sport"`
	Dport uint16     `json:"dport"`
	// Link is the sender's; null where it cannot be known.
	Link *string     `json:"link"`
	Hops []tiers.Hop `json:"hops"`
	// Known: each hop has one port, to the receiver's link.
	Known bool `json:"known"`
}

// showSwitches says which port of each switch flows leave by.
func showSwitches(ctx context.Context, con *console.Console, path string, frames []flow.Frame) error {
	file, err := console.ReadFabric(ctx, path)
	if err != nil {
		return err
	}
	if file.Topology == nil {
		return console.BadUsage("--fabric: "+path+" describes no switch", "write switches: with their ports and channels")
	}
	state, err := declared.State(file)
	if err != nil {
		return console.BadUsage(path+": "+err.Error(), declared.RemedyFor(err))
	}
	ways := make([]shownWay, 0, len(frames))
	for _, f := range frames {
		way, err := wayOf(file, state.Hosts, f)
		if err != nil {
			return console.BadUsage("--fabric: "+err.Error(), "the file has the hosts' addresses under network, and their links under switches")
		}
		ways = append(ways, way)
	}
	if con.JSON {
		return waysDocument.Print(con, shownWays{ways})
	}
	return printWays(con, ways)
}

// end is a host's links that lead to an address of its own, with what spreads over them.
func end(hosts map[string]netstate.Host, addr netip.Addr) (h netstate.Host, ports []netstate.Link, base netstate.Link, err error) {
	for _, h := range hosts {
		l, ok := h.LinkWith(addr)
		if !ok {
			continue
		}
		ports, _, bond := h.Below(l.Name)
		if bond != nil {
			l = *bond
		} else if len(ports) == 1 {
			l = ports[0]
		}
		return h, ports, l, nil
	}
	return h, nil, base, fmt.Errorf("no host of the file has the address %v", addr)
}

func side(h netstate.Host, ports []netstate.Link) tiers.Side {
	s := tiers.Side{Host: h.Name}
	for _, p := range ports {
		s.Links = append(s.Links, p.Name)
	}
	return s
}

func wayOf(file fabric.Fabric, hosts map[string]netstate.Host, f flow.Frame) (shownWay, error) {
	way := shownWay{Proto: f.Proto, Src: f.Src, Dst: f.Dst, Sport: f.Sport, Dport: f.Dport}
	from, out, sends, err := end(hosts, f.Src)
	if err != nil {
		return way, err
	}
	to, in, receives, err := end(hosts, f.Dst)
	if err != nil {
		return way, err
	}
	over, ok := tiers.Between(file.Topology, side(from, out), side(to, in))
	if !ok {
		return way, fmt.Errorf("no way is described from %s to %s: each link of both hangs on a switch's port, and cables lead from one to the other", from.Name, to.Name)
	}
	if f.SrcMAC.IsZero() {
		f.SrcMAC = sends.MAC
	}
	if f.DstMAC.IsZero() {
		f.DstMAC = receives.MAC
	}
	outs := make([]int, len(out))
	for i := range outs {
		outs[i] = i
	}
	if b, err := steer.BundleOf(from, sends.Name); err == nil {
		if p := b.Place(f); p.Known && p.Index >= 0 {
			outs = []int{p.Index}
		}
	}
	if len(outs) == 1 {
		way.Link = &out[outs[0]].Name
	}
	way.Hops = over.Trace(outs, tiers.Ask{Frame: f, Exact: true})
	way.Known = len(way.Hops) > 0
	for _, h := range way.Hops {
		way.Known = way.Known && h.Known()
	}
	return way, nil
}

// printWays prints a line for each flow.
func printWays(con *console.Console, ways []shownWay) error {
	w := tabwriter.NewWriter(con.Stdout, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "SRC\tDST\tSPORT\tDPORT\tWAY")
	unknown := map[string]bool{}
	var names []string
	for _, f := range ways {
		parts := []string{"?"}
		if f.Link != nil {
			parts = []string{*f.Link}
		}
		for _, h := range f.Hops {
			port := h.Ports[0]
			if !h.Known() {
				port = "?"
				if !unknown[h.Switch] {
					unknown[h.Switch] = true
					names = append(names, fmt.Sprintf("%s (%s)", h.Switch, strings.Join(h.Ports, ", ")))
				}
			}
			parts = append(parts, h.Switch+" "+port)
		}
		if len(f.Hops) > 0 && f.Known {
			parts = append(parts, f.Hops[len(f.Hops)-1].To...)
		}
		fmt.Fprintf(w, "%v\t%v\t%d\t%d\t%s\n", f.Src, f.Dst, f.Sport, f.Dport, strings.Join(parts, " > "))
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("print flows: %w", err)
	}
	if len(names) > 0 {
		fmt.Fprint(con.Stdout, console.Wrapped("note: ", "the port is not known at "+strings.Join(names, ", ")+": a switch's hash is computed where system: linux says that bonding does it, or one link alone is there", con.Width()))
	}
	return nil
}
