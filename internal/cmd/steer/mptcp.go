package steer

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/advise/snippet"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/steer"
	"github.com/linerate/linerate/steer/subflow"
)

// mptcpFlags are what mptcp takes beside the client's bond.
type mptcpFlags struct {
	src, dst, subnet string
	subflows         int
	avoid            []string
	dport, vlan      uint16
	smac, dmac       string
	dev, farDev      string

	farPolicy, backPolicy, backFarPolicy string
	farLinks, backLinks, backFarLinks    int
}

func newMPTCP(con *console.Console) *cobra.Command {
	var bundle bundleFlags
	var flags mptcpFlags
	c := &cobra.Command{
		Use: "mptcp", Short: "one connection over a whole bond, by MPTCP subflows", Args: console.NoArgs,
		Long: `Chooses IP aliases and MPTCP endpoints under which the subflows of one
connection fall on all links of a bond, and prints the lines that set both hosts
up, that have a program use MPTCP without a change to it, that show the
subflows, and that roll it all back. It prints only: no host is changed.

The client, the host that connects, opens a subflow from each alias; where its
addresses do not decide, the server announces aliases of its own. A policy that
goes by addresses (layer2+3) gives each subflow its link; under layer3+4 the
kernel draws the subflows' ports, so that links are used by chance.

--back-policy and --back-links say how the server sends; --far-policy and
--far-links how the switch sends what arrives there, --back-far-policy and
--back-far-links what arrives at the client. All that is given is made even.

` + bundleHelp + console.ExitHelp,
		Example: `  linerate steer mptcp --src 10.0.0.1 --dst 10.0.0.2
  linerate steer mptcp --policy layer2+3 --links 4 --src 10.0.0.1 \
      --dst 10.0.0.2 --subnet 10.0.0.0/24 \
      --avoid 10.0.0.3,10.0.0.4`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := refuseZero(cmd); err != nil {
				return err
			}
			req, host, notes, err := flags.request(cmd.Context(), con, &bundle)
			if err != nil {
				return err
			}
			plan, err := subflow.Plan(req)
			var impossible *steer.NoSpreadError
			switch {
			case errors.As(err, &impossible):
				return console.WithHint(err, impossible.Remedy)
			case err != nil:
				return console.BadUsage(err.Error(), "")
			}
			return printSubflows(con, req, plan, flags.commands(req, plan, host), notes)
		},
	}
	flags.add(c)
	bundle.add(c)
	return c
}

func (m *mptcpFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&m.src, "src", "", "the client's address")
	c.Flags().StringVar(&m.dst, "dst", "", "the server's address, to which programs connect")
	c.Flags().StringVar(&m.subnet, "subnet", "", "subnet to take aliases from (default: that of --src on the host)")
	c.Flags().IntVar(&m.subflows, "subflows", 0, fmt.Sprintf("number of subflows, the first included, up to %d (default: one a link,\nor %d where chance decides)", subflow.MostSubflows, subflow.MostSubflows))
	c.Flags().StringSliceVar(&m.avoid, "avoid", nil, "addresses that others have, or a list")
	c.Flags().Uint16Var(&m.dport, "dport", steer.DefaultDport, "destination port")
	c.Flags().StringVar(&m.smac, "smac", "", "the client's MAC address (default: the host's own for --src)")
	c.Flags().StringVar(&m.dmac, "dmac", "", "next hop's MAC address (default: as the host's neighbours say)")
	c.Flags().Uint16Var(&m.vlan, "vlan", 0, "VLAN tag (default: the one --src is on)")
	console.WordVar(c, &m.farPolicy, "far-policy", "", "transmit hash policy of the switch towards the server's links")
	c.Flags().IntVar(&m.farLinks, "far-links", 0, "number of links to the server")
	console.WordVar(c, &m.backPolicy, "back-policy", "", "transmit hash policy of the server's bond")
	c.Flags().IntVar(&m.backLinks, "back-links", 0, "number of links that the server sends on")
	console.WordVar(c, &m.backFarPolicy, "back-far-policy", "", "transmit hash policy of the switch towards the client's links")
	c.Flags().IntVar(&m.backFarLinks, "back-far-links", 0, "number of links back to the client")
	c.Flags().StringVar(&m.dev, "dev", "", "the client's interface (default: the host's with --src, else DEV)")
	c.Flags().StringVar(&m.farDev, "far-dev", "", "the server's interface (default: --dev)")
}

// request is what the flags ask for, with the client where it was observed.
func (m *mptcpFlags) request(ctx context.Context, con *console.Console, bundle *bundleFlags) (req subflow.SubflowRequest, host *netstate.Host, notes []string, err error) {
	if err := m.addresses(&req); err != nil {
		return req, nil, nil, err
	}
	if err := m.otherSides(&req); err != nil {
		return req, nil, nil, err
	}
	if m.subflows < 0 || m.subflows > subflow.MostSubflows {
		return req, nil, nil, console.BadUsage(fmt.Sprintf("--subflows: want 1 to %d, not %d", subflow.MostSubflows, m.subflows), "more is not possible with the kernel's path manager")
	}
	req.Subflows = m.subflows
	near, host, err := bundle.resolve(ctx, con)
	if err != nil {
		return req, nil, nil, err
	}
	if len(near.Ports) == 0 {
		return req, nil, nil, errors.New("plan subflows: the bond has no usable link")
	}
	req.Near = near
	if host != nil {
		if notes, err = m.fromHost(ctx, con, bundle.host, &req, near, host); err != nil {
			return req, nil, nil, err
		}
	}
	if m.subnet != "" {
		if req.Subnet, err = netip.ParsePrefix(m.subnet); err != nil {
			return req, nil, nil, console.BadUsage("--subnet: "+m.subnet+" is no subnet", "write 10.0.0.0/24")
		}
	}
	if !req.Subnet.IsValid() {
		return req, nil, nil, console.BadUsage("steer mptcp: no subnet to choose aliases from", "say --subnet 10.0.0.0/24, or --src of the host's own addresses")
	}
	return req, host, notes, nil
}

// addresses reads the flags that name addresses.
func (m *mptcpFlags) addresses(req *subflow.SubflowRequest) (err error) {
	if m.src == "" || m.dst == "" {
		return console.BadUsage("steer mptcp: the addresses of both hosts are needed", "say --src 10.0.0.1 --dst 10.0.0.2")
	}
	if req.Client, err = optionalAddress("--src", m.src); err != nil {
		return err
	}
	if req.Server, err = optionalAddress("--dst", m.dst); err != nil {
		return err
	}
	if err := oneFamily("--src and --dst", flow.Lane{Src: req.Client, Dst: req.Server}); err != nil {
		return err
	}
	if req.Client == req.Server {
		return console.BadUsage("steer mptcp: --src and --dst are both "+m.src, "--src is the client's address, --dst the server's")
	}
	if len(m.avoid) > 0 {
		if req.Avoid, err = parseAddresses("--avoid", m.avoid); err != nil {
			return err
		}
	}
	if err := console.CheckVLAN(m.vlan); err != nil {
		return err
	}
	req.Frame.Dport, req.Frame.VLAN = m.dport, m.vlan
	if err := req.Frame.SrcMAC.UnmarshalText([]byte(m.smac)); err != nil {
		return console.BadUsage("--smac: "+err.Error(), "")
	}
	if err := req.Frame.DstMAC.UnmarshalText([]byte(m.dmac)); err != nil {
		return console.BadUsage("--dmac: "+err.Error(), "")
	}
	return nil
}

// otherSides are the spreaders beside the client's, where they are declared.
func (m *mptcpFlags) otherSides(req *subflow.SubflowRequest) (err error) {
	for _, side := range []struct {
		flag, policy string
		links        int
		into         *steer.Spreader
	}{
		{"--far-", m.farPolicy, m.farLinks, &req.Far},
		{"--back-", m.backPolicy, m.backLinks, &req.Back},
		{"--back-far-", m.backFarPolicy, m.backFarLinks, &req.BackFar},
	} {
		if side.policy == "" && side.links == 0 {
			continue
		}
		if *side.into, err = aggregation(side.flag, systemLinux, side.policy, side.links); err != nil {
			return err
		}
	}
	return nil
}

// fromHost fills in what the client says of its own address and of MPTCP, and
// what it knows of the next hop.
func (m *mptcpFlags) fromHost(ctx context.Context, con *console.Console, reach string, req *subflow.SubflowRequest, near steer.Bundle, host *netstate.Host) (notes []string, err error) {
	fromHost(host, req.Client, &req.Avoid, &req.Subnet, &req.Frame)
	frame := req.Frame
	frame.Src, frame.Dst, frame.Proto = req.Client, req.Server, flow.TCP
	frames := []flow.Frame{frame}
	note, err := (&flowFlags{}).nextHops(ctx, con, reach, frames, near, host)
	if err != nil {
		return nil, err
	}
	req.Frame.DstMAC = frames[0].DstMAC
	req.ClientBefore = host.MPTCP
	return append(notes, mptcpNotes(note, host)...), nil
}

// mptcpNotes are what a user should know of the client before using the plan.
func mptcpNotes(nextHop string, host *netstate.Host) []string {
	var notes []string
	if nextHop != "" {
		notes = append(notes, nextHop)
	}
	if host.MPTCP == nil {
		return append(notes, host.Name+" has no MPTCP, or does not say what it is set to: Linux has it since 5.6")
	}
	var there []string
	for _, e := range host.MPTCP.Endpoints {
		there = append(there, fmt.Sprintf("%s (id %d, %s)", e.Addr, e.ID, e.Flags))
	}
	if len(there) > 0 {
		notes = append(notes, host.Name+" has MPTCP endpoints already, which make subflows of their own within the same limits: "+
			strings.Join(there, ", ")+". Delete those that are not wanted: ip mptcp endpoint delete id N")
	}
	return notes
}

// commands are the lines for both hosts.
func (m *mptcpFlags) commands(req subflow.SubflowRequest, plan subflow.Subflows, host *netstate.Host) map[string]snippet.SubflowCommands {
	near := device{"DEV", snippet.KindBond}
	if host != nil {
		if link, ok := host.LinkWith(req.Client); ok {
			near = device{link.Name, kindOf(link)}
		}
	}
	far := device{"DEV", snippet.KindBond}
	if m.dev != "" {
		near, far = device{m.dev, kindByName(m.dev, host)}, device{m.dev, kindByName(m.dev, nil)}
	}
	if m.farDev != "" {
		far = device{m.farDev, kindByName(m.farDev, nil)}
	}
	bits := req.Subnet.Bits()
	return map[string]snippet.SubflowCommands{
		"client": snippet.SubflowClient(plan, snippet.SubflowHost{Device: near.name, Kind: near.kind, Before: req.ClientBefore}, bits),
		"server": snippet.SubflowServer(plan, snippet.SubflowHost{Device: far.name, Kind: far.kind, Before: req.ServerBefore}, bits),
	}
}

// printSubflows prints a plan and its lines.
func printSubflows(con *console.Console, req subflow.SubflowRequest, p subflow.Subflows, commands map[string]snippet.SubflowCommands, notes []string) error {
	if con.JSON {
		for _, n := range notes {
			sayNote(con, n)
		}
		return mptcpDocument.Print(con, snippet.ShownSubflows{ShownSubflows: p.Shown(), Commands: commands})
	}
	fmt.Fprint(con.Stdout, console.Wrapped("", fmt.Sprintf("%d subflows of one connection: %s", len(p.Flows), aggregationText(req.Near)), con.Width()))
	if err := printSubflowTable(con, req, p); err != nil {
		return err
	}
	printSubflowSpread(con, req, p)
	for _, n := range notes {
		fmt.Fprint(con.Stdout, console.Wrapped("note: ", n, con.Width()))
	}
	for _, s := range subflowSections(p, commands) {
		fmt.Fprintln(con.Stdout)
		fmt.Fprint(con.Stdout, console.Wrapped("# ", s.heading, con.Width()))
		fmt.Fprintln(con.Stdout, strings.Join(s.lines, "\n"))
	}
	return nil
}

// column is one side's links in the table.
type column struct {
	heading string
	side    steer.Spreader
	link    func(subflow.Subflow) int
}

// nearHeading is over the client's own links.
const nearHeading = "LINK"

func printSubflowTable(con *console.Console, req subflow.SubflowRequest, p subflow.Subflows) error {
	var columns []column
	for _, c := range []column{
		{nearHeading, req.Near, func(f subflow.Subflow) int { return f.Link }},
		{"FAR LINK", req.Far, func(f subflow.Subflow) int { return f.FarLink }},
		{"LINK BACK", req.Back, func(f subflow.Subflow) int { return f.BackLink }},
		{"FAR LINK BACK", req.BackFar, func(f subflow.Subflow) int { return f.BackFarLink }},
	} {
		if c.side != nil {
			columns = append(columns, c)
		}
	}
	w := tabwriter.NewWriter(con.Stdout, 0, 8, 2, ' ', 0)
	header := "SUBFLOW\tCLIENT\tSERVER"
	for _, c := range columns {
		header += "\t" + c.heading
	}
	fmt.Fprintln(w, header)
	for i, f := range p.Flows {
		row := fmt.Sprintf("%d\t%s\t%s", i, f.Src, f.Dst)
		for _, c := range columns {
			row += "\t" + indexText(c.side, c.link(f))
			if c.heading == nearHeading && f.Link < 0 && f.Group >= 0 {
				row += " " + groupLetters(f.Group)
			}
		}
		fmt.Fprintln(w, row)
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("print subflows: %w", err)
	}
	return nil
}

func printSubflowSpread(con *console.Console, req subflow.SubflowRequest, p subflow.Subflows) {
	fmt.Fprint(con.Stdout, console.Wrapped("even: ", evenText(p.Even, p.Relative), con.Width()))
	printWhy(con, p.Why, p.Remedy)
	if len(p.AddFar) > 0 {
		fmt.Fprint(con.Stdout, console.Wrapped("note: ", "the server must listen on all its addresses (0.0.0.0 or ::), not on "+req.Server.String()+" alone", con.Width()))
	}
	fmt.Fprint(con.Stdout, console.Wrapped("", "Nothing has been changed. Both hosts need Linux 5.6 or newer with MPTCP; the lines below need root, and act on connections that are made afterwards.", con.Width()))
}

// subflowSections are the lines of both hosts in the order of use.
func subflowSections(p subflow.Subflows, commands map[string]snippet.SubflowCommands) []section {
	var out []section
	add := func(host, kind, heading string, lines []string) {
		if len(lines) > 0 {
			out = append(out, section{host, kind, heading, lines})
		}
	}
	client, server := commands["client"], commands["server"]
	add("client", "check", "before: does another host have the client's new addresses?", client.Check)
	add("server", "check", "before: does another host have the server's new addresses?", server.Check)
	add("server", "set", "on the server, until it reboots", server.Set)
	add("client", "set", "on the client, until it reboots", client.Set)
	add("server", "netplan", "on the server, to stay: /etc/netplan/60-mptcp.yaml, mode 0600", server.Netplan)
	add("client", "netplan", "on the client, to stay: /etc/netplan/60-mptcp.yaml, mode 0600", client.Netplan)
	add("server", "unit", "on the server, to stay (then: systemctl enable "+snippet.SubflowUnit+")", server.Unit)
	add("client", "unit", "on the client, to stay (then: systemctl enable "+snippet.SubflowUnit+")", client.Unit)
	add("server", "run", "on the server: programs that listen, one of", server.Run)
	add("client", "run", "on the client: programs that connect, one of", client.Run)
	add("client", "verify", fmt.Sprintf("while it runs: %d subflows of one connection", len(p.Flows)), client.Verify)
	add("client", "undo", "on the client, to roll it back (and what was made to stay)", client.Rollback)
	add("server", "undo", "on the server, to roll it back (and what was made to stay)", server.Rollback)
	return out
}
