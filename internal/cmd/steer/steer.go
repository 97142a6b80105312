// Package steer is `linerate steer`: which link a flow takes, and how to choose it.
package steer

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/cmd/discover"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/steer"
)

// New is `linerate steer`.
func New(con *console.Console) *cobra.Command {
	c := console.Group("steer", "which link each flow takes, and which ports spread flows evenly", newShow(con), newPick(con), newAddresses(con), newMPTCP(con), newProbe(con))
	c.Long = `Computes the link that a bond sends each flow on, as the kernel's transmit hash
does, and source ports or addresses that spread flows evenly.

` + console.ExitHelp
	c.Example = "  linerate steer show --src 10.0.0.1 --dst 10.0.0.2 --sport 40000-40007\n  linerate steer pick --src 10.0.0.1 --dst 10.0.0.2 --streams 4"
	c.SuggestionsMinimumDistance = 2
	return c
}

func newShow(con *console.Console) *cobra.Command {
	var bundle bundleFlags
	var flows flowFlags
	var packet packetFlags
	var ecmp ecmpFlags
	var system systemFlags
	var open ovsFlags
	var learned, switches string
	var ask askFlags
	c := &cobra.Command{
		Use: "show", Short: "which link each flow takes", Args: console.NoArgs,
		Long: `Says which link of a bond each flow takes, and how many take each. Links count
from 0 in enslave order. Where no program can know (a secret key, a mode that
goes by load, an address that was not given) the link is unknown, with the
reason.

` + flowHelp + bundleHelp + ecmpHelp + console.ExitHelp,
		Example: `  linerate steer show --src 10.0.0.1 --dst 10.0.0.2 --sport 40000-40015
  linerate steer show --policy layer2 --links 2 --flows flows.csv
  linerate steer show --route --src 10.0.0.1 --dst 10.1.0.2 --sport 40000-40015
  linerate steer show --ecmp 1:2:3 --ecmp-policy l4 --seed 7 --flows flows.csv
  linerate steer show --fabric fabric.yaml --src 10.0.0.1 --dst 10.0.0.3
  linerate steer show --bond-show show.txt --smac 00:16:3e:00:00:01 --vlan 20
  linerate steer show --ask nxos --channel Po10 --src 10.0.0.1 --dst 10.0.0.2 --sport 40000-40003
  linerate steer show --switch-answer answers.txt`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := refuseZero(cmd); err != nil {
				return err
			}
			if err := open.read(cmd.Context(), con, &system, &bundle); err != nil {
				return err
			}
			flows.macAlone = system.system == systemOVS || ask.system != ""
			packet.protocol(&flows)
			if done, err := ask.asked(cmd.Context(), con, func() ([]flow.Frame, error) { return flows.frames(cmd.Context(), con.Stdin) }); done || err != nil {
				return err
			}
			frames, err := flows.frames(cmd.Context(), con.Stdin)
			if err != nil {
				return err
			}
			if err := packet.apply(frames); err != nil {
				return err
			}
			if switches != "" {
				return showSwitches(cmd.Context(), con, switches, frames)
			}
			if learned != "" {
				return showLearned(cmd.Context(), con, learned, frames)
			}
			if asked, err := ecmp.asked("steer show", &bundle, &system); err != nil {
				return err
			} else if asked {
				return ecmp.show(cmd.Context(), con, &bundle, &flows, frames)
			}
			if external, err := system.external(&bundle); err != nil {
				return err
			} else if external {
				return system.show(con, &bundle, open.bond, &flows, frames)
			}
			b, host, err := bundle.resolve(cmd.Context(), con)
			if err != nil {
				return err
			}
			if err := flows.complete(frames, b, host); err != nil {
				return err
			}
			note, err := flows.nextHops(cmd.Context(), con, bundle.host, frames, b, host)
			if err != nil {
				return err
			}
			shown := steer.Show(b, frames)
			if con.JSON {
				sayNote(con, note)
				return showDocument.Print(con, shown)
			}
			if err := printShown(con, b, shown); err != nil {
				return err
			}
			if note != "" {
				fmt.Fprint(con.Stdout, console.Wrapped("note: ", note, con.Width()))
			}
			return nil
		},
	}
	flows.add(c)
	c.Flags().StringVar(&flows.sport, "sport", "", "source ports: 40000, 40000-40015, or a list of both")
	c.Flags().StringVar(&flows.file, "flows", "", "CSV file of flows with the header proto,src,dst,sport,dport,smac,dmac,vlan\n(columns may be missing, and icmp_type, icmp_code, icmp_id, spi, fragment and\nforwarded may be there); - is standard input")
	_ = c.MarkFlagFilename("flows", "csv")
	packet.add(c)
	bundle.add(c)
	ecmp.add(c)
	system.add(c)
	open.add(c)
	ask.add(c)
	c.Flags().StringVar(&learned, "learned", "", learnedUsage+":\nby which link of the receiver a flow arrives")
	c.Flags().StringVar(&switches, "fabric", "", fabricUsage)
	return c
}

const bundleHelp = `The bond is the running host's (--bond where there are several) unless --policy
and --links say another, of mode balance-xor unless --mode does. Kernel and byte
order are those of --host (this one), where its addresses are looked up as well
when it is named, unless --kernel and --byte-order say others.

`

// bundleFlags say whose hash to compute.
type bundleFlags struct {
	host, bond, mode, policy, kernel, byteOrder string
	links                                       int
	calibrate                                   bool
	flags                                       interface{ Changed(name string) bool }
}

func (b *bundleFlags) add(c *cobra.Command) {
	b.flags = c.Flags()
	c.Flags().StringVar(&b.bond, "bond", "", "bond of the host to take policy and links from (default: the only one)")
	c.Flags().StringVar(&b.host, "host", "local:", "host that has the bond: local:, netns:NAME, ssh://user@host or nats:NAME")
	console.WordVar(c, &b.mode, "mode", "", "bond mode (default: the bond's, or balance-xor where flags describe it): balance-rr, active-backup, balance-xor, broadcast, 802.3ad, balance-tlb or balance-alb")
	console.WordVar(c, &b.policy, "policy", "", "transmit hash policy (default: the bond's): layer2, layer2+3, layer3+4,\nencap2+3, encap3+4 or vlan+srcmac")
	c.Flags().IntVar(&b.links, "links", 0, "number of links (default: the bond's usable ones)")
	c.Flags().StringVar(&b.kernel, "kernel", "", "release of the sending kernel, such as 6.1 (default: the host's)")
	console.WordVar(c, &b.byteOrder, "byte-order", "", "little or big (default: the host's)")
	c.Flags().BoolVar(&b.calibrate, "calibrate", false, "find out by which era's rule the host's kernel hashes: sends at most 64 small\nframes from the bond to itself, which no switch delivers")
}

const mostLinks = 1024

// counts are flags that are left out for their default: zero is none to ask for.
var counts = [...]string{"links", "streams", "lanes", "subflows", "far-links", "back-links", "back-far-links"}

// refuseZero refuses a count of zero that a user gave.
func refuseZero(c *cobra.Command) error {
	for _, name := range counts {
		if f := c.Flags().Lookup(name); f != nil && f.Changed && f.Value.String() == "0" {
			return console.BadUsage("--"+name+": want at least 1, not 0", "leave it out for the default")
		}
	}
	return nil
}

// resolve is the bundle that the flags describe, with the host it was read
// from: nil when the flags alone describe it.
func (b *bundleFlags) resolve(ctx context.Context, con *console.Console) (steer.Bundle, *netstate.Host, error) {
	if b.links < 0 || b.links > mostLinks {
		return steer.Bundle{}, nil, console.BadUsage(fmt.Sprintf("--links: want 1 to %d, not %d", mostLinks, b.links), "")
	}
	policy, err := parsePolicy("--policy", b.policy)
	if err != nil {
		return steer.Bundle{}, nil, err
	}
	mode, err := parseMode(b.mode)
	if err != nil {
		return steer.Bundle{}, nil, err
	}
	bigEndian, err := parseByteOrder(b.byteOrder)
	if err != nil {
		return steer.Bundle{}, nil, err
	}
	if b.kernel != "" && steer.ErasOf(b.kernel) == nil {
		return steer.Bundle{}, nil, console.BadUsage("--kernel: want a release such as 6.1 or 5.15.0-105-generic, not "+b.kernel, "")
	}
	var bundle steer.Bundle
	var host *netstate.Host
	if b.declared(policy, mode) {
		bundle, host, err = b.onHost(ctx, con, steer.Declared(netstate.Layer2, b.links))
	} else {
		bundle, host, err = b.observed(ctx, con)
	}
	if err != nil {
		return steer.Bundle{}, nil, err
	}
	if mode != nil {
		bundle.Mode = *mode
	}
	if policy != nil {
		bundle.Policy = *policy
	}
	if b.links > 0 {
		bundle.Ports = steer.Declared(bundle.Policy, b.links).Ports
	}
	if bigEndian != nil {
		bundle.BigEndian = *bigEndian
	}
	if b.kernel != "" {
		bundle = bundle.OfKernel(b.kernel)
	}
	if b.calibrate {
		bundle, err = b.calibrated(ctx, con, bundle, host)
	}
	return bundle, host, err
}

// linuxRelease is that of the host's kernel; false for a host that does not run Linux.
func linuxRelease(ctx context.Context, con *console.Console, reach string) (release string, linux bool, err error) {
	_, h, err := con.Open(ctx, reach)
	if err != nil {
		return "", false, err
	}
	defer h.Close()
	return h.Hello.Kernel, h.Hello.OS == "linux", nil
}

// observed reads the bond named, or the only one, from the host.
func (b *bundleFlags) observed(ctx context.Context, con *console.Console) (steer.Bundle, *netstate.Host, error) {
	host, err := discover.Observe(ctx, con, b.host)
	if err != nil {
		return steer.Bundle{}, nil, err
	}
	name := b.bond
	if name == "" {
		if missing, hint := b.half(); missing != "" && len(bondsOf(host)) == 0 {
			return steer.Bundle{}, nil, console.BadUsage("steer: "+missing+", and "+host.Name+" has no bond to take it from", hint)
		}
		if name, err = onlyBond(host); err != nil {
			return steer.Bundle{}, nil, err
		}
	}
	bundle, err := steer.BundleOf(host, name)
	if err != nil {
		return steer.Bundle{}, nil, console.BadUsage("steer: "+err.Error(), bondsHint(host))
	}
	return bundle, &host, nil
}

func bondsOf(h netstate.Host) []string {
	var names []string
	for _, l := range h.Links {
		if l.Bond != nil {
			names = append(names, l.Name)
		}
	}
	return names
}

func bondsHint(h netstate.Host) string {
	names := bondsOf(h)
	if len(names) == 0 && slices.ContainsFunc(h.Links, func(l netstate.Link) bool { return l.Kind == netstate.KindOVSBridge }) {
		return "Open vSwitch's bonds are none of the kernel's: `ovs-appctl bond/show >show.txt`, then --bond-show show.txt"
	}
	if len(names) == 0 {
		return "without a bond each address has a link of its own: give each stream its own addresses; for a bond of another host say --host, or --policy layer3+4 --links 2"
	}
	return "the bonds of " + h.Name + ": " + strings.Join(names, ", ")
}

func onlyBond(h netstate.Host) (string, error) {
	names := bondsOf(h)
	switch len(names) {
	case 0:
		return "", console.BadUsage("steer: no bond on "+h.Name, bondsHint(h))
	case 1:
		return names[0], nil
	}
	return "", console.BadUsage(fmt.Sprintf("steer: %d bonds on %s", len(names), h.Name), "name one with --bond: "+strings.Join(names, ", "))
}

// parsePolicy reads a transmit hash policy; nil for none.
func parsePolicy(flag, word string) (*netstate.HashPolicy, error) {
	if word == "" {
		return nil, nil
	}
	var words []string
	for _, p := range netstate.HashPolicies() {
		if p.String() == word {
			return &p, nil
		}
		words = append(words, p.String())
	}
	slices.Sort(words)
	all := "the policies are " + strings.Join(words, ", ")
	return nil, console.BadUsage(flag+": unknown policy "+word, console.OrMeant(word, words, "", all))
}

// parseByteOrder reports whether it is big; nil for none given.
func parseByteOrder(word string) (*bool, error) {
	big := word == "big"
	switch word {
	case "":
		return nil, nil
	case "big", "little":
		return &big, nil
	}
	return nil, console.BadUsage("--byte-order: want little or big, not "+word, "")
}

// printFlows prints flows with their links, which have these names.
func printFlows(con *console.Console, header string, names []string, s steer.Shown) error {
	b := steer.Bundle{Ports: names}
	fmt.Fprint(con.Stdout, console.Wrapped("", header, con.Width()))
	w := tabwriter.NewWriter(con.Stdout, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "PROTO\tSRC\tDST\tSPORT\tDPORT\tHASH\tLINK")
	var reasons []string
	told := map[string]bool{}
	for _, f := range s.Flows {
		hash, link := "-", "unknown"
		if f.Hash != nil {
			hash = fmt.Sprintf("%#08x", *f.Hash)
			if s.Policy == string(netstate.OVSBalanceSLB) {
				hash = fmt.Sprint(*f.Hash) // a bucket, as ovs-appctl prints it
			}
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
		ports := f.Proto.HasPorts()
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", f.Proto, console.OrNone(f.Src.IsValid(), f.Src.String()), console.OrNone(f.Dst.IsValid(), f.Dst.String()),
			console.OrNone(ports, fmt.Sprint(f.Sport)), console.OrNone(ports, fmt.Sprint(f.Dport)), hash, link)
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("print flows: %w", err)
	}
	if len(names) > 0 {
		fmt.Fprint(con.Stdout, console.Wrapped("on each link: ", perLink(b, s.PerLink), con.Width()))
	}
	for _, why := range reasons {
		fmt.Fprint(con.Stdout, console.Wrapped("note: ", why, con.Width()))
	}
	return nil
}

// note tells people what a document for programs does not hold.
func sayNote(con *console.Console, text string) {
	if text != "" && !con.Quiet {
		fmt.Fprintln(con.Stderr, "note: "+console.OneLine(text))
	}
}
