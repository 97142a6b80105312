package cli

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"

	"github.com/spf13/cobra"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/advise/snippet"
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

func newSteerMPTCP(app *App) *cobra.Command {
	var bundle bundleFlags
	var flags mptcpFlags
	c := &cobra.Command{
		Use: "mptcp", Short: "one connection over a whole bond, by MPTCP subflows", Args: none,
		Long: `Chooses IP aliases and MPTCP endpoints under which the subflows of one
connection fall on all links of a bond, and prints the lines that set both hosts
up, that have a program use MPTCP without a change to it, that show the
subflows, and that take it all back. It prints only: no host is changed.

The client, the host that connects, opens a subflow from each alias; where its
addresses do not decide, the server announces aliases of its own. A policy that
goes by addresses (layer2+3) gives each subflow its link; under layer3+4 the
kernel draws the subflows' ports, so that links are used by chance.

--back-policy and --back-links say how the server sends; --far-policy and
--far-links how the switch sends what arrives there, --back-far-policy and
--back-far-links what arrives at the client. All that is given is made even.

` + bundleHelp + exitHelp,
		Example: `  linerate steer mptcp --src 10.0.0.1 --dst 10.0.0.2
  linerate steer mptcp --policy layer2+3 --links 4 --src 10.0.0.1 \
      --dst 10.0.0.2 --subnet 10.0.0.0/24 --avoid 10.0.0.3,10.0.0.4`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := refuseZero(cmd); err != nil {
				return err
			}
			req, host, notes, err := flags.request(cmd.Context(), app, &bundle)
			if err != nil {
				return err
			}
			plan, err := subflow.Plan(req)
			var impossible *steer.NoSpreadError
			switch {
			case errors.As(err, &impossible):
				return withHint(err, impossible.Remedy)
			case err != nil:
				return usage(err.Error(), "")
			}
			return app.printSubflows(req, plan, flags.commands(req, plan, host), notes)
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
	wordVar(c, &m.farPolicy, "far-policy", "", "transmit hash policy of the switch towards the server's links")
	c.Flags().IntVar(&m.farLinks, "far-links", 0, "number of links to the server")
	wordVar(c, &m.backPolicy, "back-policy", "", "transmit hash policy of the server's bond")
	c.Flags().IntVar(&m.backLinks, "back-links", 0, "number of links that the server sends on")
	wordVar(c, &m.backFarPolicy, "back-far-policy", "", "transmit hash policy of the switch towards the client's links")
	c.Flags().IntVar(&m.backFarLinks, "back-far-links", 0, "number of links back to the client")
	c.Flags().StringVar(&m.dev, "dev", "", "the client's interface (default: the host's with --src, else DEV)")
	c.Flags().StringVar(&m.farDev, "far-dev", "", "the server's interface (default: --dev)")
}

// request is what the flags ask for, with the client where it was observed.
func (m *mptcpFlags) request(ctx context.Context, app *App, bundle *bundleFlags) (req subflow.SubflowRequest, host *netstate.Host, notes []string, err error) {
	if err := m.addresses(&req); err != nil {
		return req, nil, nil, err
	}
	if err := m.otherSides(&req); err != nil {
		return req, nil, nil, err
	}
	if m.subflows < 0 || m.subflows > subflow.MostSubflows {
		return req, nil, nil, usage(fmt.Sprintf("--subflows: want 1 to %d, not %d", subflow.MostSubflows, m.subflows), "more is not possible with the kernel's path manager")
	}
	req.Subflows = m.subflows
	near, host, err := bundle.resolve(ctx, app)
	if err != nil {
		return req, nil, nil, err
	}
	if len(near.Ports) == 0 {
		return req, nil, nil, errors.New("plan subflows: the bond has no usable link")
	}
	req.Near = near
	if host != nil {
		if notes, err = m.fromHost(ctx, app, bundle.host, &req, near, host); err != nil {
			return req, nil, nil, err
		}
	}
	if m.subnet != "" {
		if req.Subnet, err = netip.ParsePrefix(m.subnet); err != nil {
			return req, nil, nil, usage("--subnet: "+m.subnet+" is no subnet", "write 10.0.0.0/24")
		}
	}
	if !req.Subnet.IsValid() {
		return req, nil, nil, usage("steer mptcp: no subnet to choose aliases from", "say --subnet 10.0.0.0/24, or --src of the host's own addresses")
	}
	return req, host, notes, nil
}

// addresses reads the flags that name addresses.
func (m *mptcpFlags) addresses(req *subflow.SubflowRequest) (err error) {
	if m.src == "" || m.dst == "" {
		return usage("steer mptcp: the addresses of both hosts are needed", "say --src 10.0.0.1 --dst 10.0.0.2")
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
		return usage("steer mptcp: --src and --dst are both "+m.src, "--src is the client's address, --dst the server's")
	}
	if len(m.avoid) > 0 {
		if req.Avoid, err = parseAddresses("--avoid", m.avoid); err != nil {
			return err
		}
	}
	if err := checkVLAN(m.vlan); err != nil {
		return err
	}
	req.Frame.Dport, req.Frame.VLAN = m.dport, m.vlan
	if err := req.Frame.SrcMAC.UnmarshalText([]byte(m.smac)); err != nil {
		return usage("--smac: "+err.Error(), "")
	}
	if err := req.Frame.DstMAC.UnmarshalText([]byte(m.dmac)); err != nil {
		return usage("--dmac: "+err.Error(), "")
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
func (m *mptcpFlags) fromHost(ctx context.Context, app *App, reach string, req *subflow.SubflowRequest, near steer.Bundle, host *netstate.Host) (notes []string, err error) {
	fromHost(host, req.Client, &req.Avoid, &req.Subnet, &req.Frame)
	frame := req.Frame
	frame.Src, frame.Dst, frame.Proto = req.Client, req.Server, flow.TCP
	frames := []flow.Frame{frame}
	note, err := (&flowFlags{}).nextHops(ctx, app, reach, frames, near, host)
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
