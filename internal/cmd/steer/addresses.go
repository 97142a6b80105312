package steer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/steer"
)

// addressFlags are what addresses takes beside the bond.
type addressFlags struct {
	systemFlags
	src, dst, subnet, side string
	lanes                  int
	avoid                  []string
	sport, dport, vlan     uint16
	smac, dmac, proto      string
	farPolicy              string
	farLinks               int
	backSystem, backPolicy string
	backLinks              int
	lines                  lineFlags
	check                  []string
	ecmp                   ecmpFlags
	unlooked               string // why the next hop's MAC address is not known
}

func newAddresses(con *console.Console) *cobra.Command {
	var bundle bundleFlags
	var flags addressFlags
	c := &cobra.Command{
		Use: "addresses", Short: "IP aliases that put lanes on different links", Args: console.NoArgs,
		Long: `Chooses the smallest addresses of a subnet that spread lanes (pairs of
addresses) evenly over the links, for policies that go by addresses: layer2+3,
balance-alb, AIX's default hash mode, FreeBSD's lagghash l3. Prints the lines
that add them, and with --nfs the mounts that use them: one for each server
address, each with a directory of its own, so that two mounts never write one
file.

--back-policy and --back-links say how the far host sends its answers;
--far-policy and --far-links how the switch sends what arrives there. All that
is given is made even. With --check, counts the established connections to each
server address instead.

` + bundleHelp + console.ExitHelp,
		Example: `  linerate steer addresses --src 10.0.0.1 --dst 10.0.0.2 --lanes 2 \
      --nfs /srv/data --mount-point /mnt/data
  linerate steer addresses --system aix --links 2 --src 10.0.0.1 \
      --subnet 10.0.0.0/24 --back-system aix --dev en2
  linerate steer addresses --check 10.0.0.2,10.0.0.3`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := refuseZero(cmd); err != nil {
				return err
			}
			if len(flags.check) > 0 {
				return checkConnections(cmd.Context(), con, bundle.host, &flags)
			}
			req, host, err := flags.request(cmd.Context(), con, &bundle)
			if err != nil {
				return err
			}
			sayNote(con, flags.unlooked)
			picked, err := steer.PickAddresses(req)
			var none *steer.NoSpreadError
			switch {
			case errors.As(err, &none):
				return console.WithHint(err, none.Remedy)
			case err != nil:
				return console.BadUsage(err.Error(), "")
			}
			return printAddresses(con, req, picked, flags.lines.commands(req, picked, host, flags.system, flags.backSystem))
		},
	}
	flags.add(c)
	bundle.add(c)
	return c
}

func (a *addressFlags) add(c *cobra.Command) {
	a.systemFlags.add(c)
	c.Flags().StringVar(&a.src, "src", "", "address that the near host has")
	c.Flags().StringVar(&a.dst, "dst", "", "address that the far host has")
	c.Flags().StringVar(&a.subnet, "subnet", "", "subnet to take addresses from (default: that of --src on the host)")
	console.WordVar(c, &a.side, "side", steer.SideFar.String(), "whose addresses to choose: near, far or both")
	c.Flags().IntVar(&a.lanes, "lanes", 0, "number of lanes, the pair of --src and --dst included (default: one a link)")
	c.Flags().StringSliceVar(&a.avoid, "avoid", nil, "addresses that others have, or a list")
	c.Flags().Uint16Var(&a.sport, "sport", 0, "source port, where the program binds one")
	c.Flags().Uint16Var(&a.dport, "dport", 0, fmt.Sprintf("destination port (default: %d)", nfsPort))
	c.Flags().StringVar(&a.smac, "smac", "", "near host's MAC address (default: the host's own for --src)")
	c.Flags().StringVar(&a.dmac, "dmac", "", "next hop's MAC address")
	c.Flags().Uint16Var(&a.vlan, "vlan", 0, "VLAN tag (default: the one --src is on)")
	console.WordVar(c, &a.proto, "proto", flow.TCP.String(), "tcp, udp or a protocol number")
	console.WordVar(c, &a.farPolicy, "far-policy", "", "transmit hash policy towards the far host's links")
	c.Flags().IntVar(&a.farLinks, "far-links", 0, "number of links to the far host")
	console.WordVar(c, &a.backSystem, "back-system", systemLinux, "system of the far host: "+systemList())
	console.WordVar(c, &a.backPolicy, "back-policy", "", "policy by which the far host sends its answers")
	c.Flags().IntVar(&a.backLinks, "back-links", 0, "number of links that the far host sends its answers on")
	c.Flags().StringSliceVar(&a.check, "check", nil, "count the established connections to these server addresses (to --dport)")
	c.Flags().StringVar(&a.ecmp.hops, "ecmp", "", "weights of a route's next hops in place of a bond, such as 1:1; or auto:\nthe host's own route to --dst")
	c.Flags().StringVar(&a.ecmp.policy, "ecmp-policy", "", "fib_multipath_hash_policy of --ecmp: l3, l4, inner, fields or fields=0x37")
	c.Flags().Uint32Var(&a.ecmp.seed, "seed", 0, "net.ipv4.fib_multipath_hash_seed of --ecmp (0: not known)")
	a.lines.add(c)
}

// request is what the flags ask for, with the near host where it was read.
func (a *addressFlags) request(ctx context.Context, con *console.Console, bundle *bundleFlags) (steer.AddressRequest, *netstate.Host, error) {
	var req steer.AddressRequest
	var err error
	if req.Frame, err = a.template(); err != nil {
		return req, nil, err
	}
	if err := req.Side.UnmarshalText([]byte(a.side)); err != nil {
		return req, nil, console.BadUsage("--side: want near, far or both, not "+a.side, "")
	}
	if req.Src, err = optionalAddress("--src", a.src); err != nil {
		return req, nil, err
	}
	if req.Dst, err = optionalAddress("--dst", a.dst); err != nil {
		return req, nil, err
	}
	if err := oneFamily("--src and --dst", flow.Lane{Src: req.Src, Dst: req.Dst}); err != nil {
		return req, nil, err
	}
	if req.Src.IsValid() && req.Src == req.Dst {
		return req, nil, console.BadUsage("steer addresses: --src and --dst are both "+a.src, "--src is the near host's address, --dst the far host's")
	}
	if len(a.avoid) > 0 {
		if req.Avoid, err = parseAddresses("--avoid", a.avoid); err != nil {
			return req, nil, err
		}
	}
	if err := errors.Join(a.lines.validate(req.Side), a.otherSides(&req)); err != nil {
		return req, nil, err
	}
	host, err := a.nearSide(ctx, con, bundle, &req)
	if err != nil {
		return req, nil, err
	}
	if a.subnet != "" {
		if req.Subnet, err = netip.ParsePrefix(a.subnet); err != nil {
			return req, nil, console.BadUsage("--subnet: "+a.subnet+" is no subnet", "write 10.0.0.0/24")
		}
	}
	if !req.Subnet.IsValid() {
		return req, nil, console.BadUsage("steer addresses: no subnet to choose from", "say --subnet 10.0.0.0/24, or --src of the host's own addresses")
	}
	if a.lanes < 0 || a.lanes > mostLanes {
		return req, nil, console.BadUsage(fmt.Sprintf("--lanes: want 1 to %d, not %d", mostLanes, a.lanes), "")
	}
	if req.Lanes = a.lanes; req.Lanes == 0 {
		req.Lanes = len(req.Near.Links())
	}
	return req, host, nil
}

// nearSide is how the near host spreads, with the host where it was read.
func (a *addressFlags) nearSide(ctx context.Context, con *console.Console, bundle *bundleFlags, req *steer.AddressRequest) (*netstate.Host, error) {
	routed, err := a.ecmp.asked("steer addresses", bundle, &a.systemFlags)
	if err != nil {
		return nil, err
	}
	external, err := a.external(bundle)
	if err != nil {
		return nil, err
	}
	if external {
		req.Near, err = aggregation("--", a.system, bundle.policy, bundle.links)
		return nil, err
	}
	frame := req.Frame
	frame.Src, frame.Dst = req.Src, req.Dst
	if routed {
		req.Near, _, err = a.ecmp.resolve(ctx, con, bundle, []flow.Frame{frame})
		return nil, err
	}
	bond, host, err := bundle.resolve(ctx, con)
	if err != nil {
		return nil, err
	}
	if req.Near = bond; host == nil {
		return nil, nil
	}
	fromHost(host, req.Src, &req.Avoid, &req.Subnet, &req.Frame)
	frames := []flow.Frame{req.Frame}
	frames[0].Src, frames[0].Dst = req.Src, req.Dst
	a.unlooked, err = new(flowFlags).nextHops(ctx, con, bundle.host, frames, bond, host)
	req.Frame.DstMAC = frames[0].DstMAC
	return host, err
}

// mostLanes bounds what is chosen at once.
const mostLanes = 64

// nfsPort is NFS's (IANA), the usual reason for aliases.
const nfsPort = 2049

func (a *addressFlags) template() (flow.Frame, error) {
	f, err := frameOf(a.vlan, a.proto, a.smac, a.dmac)
	f.Sport, f.Dport = a.sport, cmp.Or(a.dport, nfsPort)
	return f, err
}

// otherSides are the spreaders of the far host, where they are declared.
func (a *addressFlags) otherSides(req *steer.AddressRequest) (err error) {
	if a.farPolicy != "" || a.farLinks != 0 {
		if req.Far, err = aggregation("--far-", systemLinux, a.farPolicy, a.farLinks); err != nil {
			return err
		}
	}
	if err := knownSystem("--back-system", a.backSystem); err != nil {
		return err
	}
	if a.backPolicy != "" || a.backLinks != 0 {
		if req.Back, err = aggregation("--back-", a.backSystem, a.backPolicy, a.backLinks); err != nil {
			return err
		}
	}
	return nil
}

// fromHost fills in what the near host says of its own address: the subnet,
// the MAC address, the VLAN tag, and that its addresses are taken.
func fromHost(host *netstate.Host, own netip.Addr, avoid *[]netip.Addr, subnet *netip.Prefix, frame *flow.Frame) {
	for _, l := range host.Links {
		for _, p := range l.Addresses {
			*avoid = append(*avoid, p.Addr())
			if p.Addr() != own {
				continue
			}
			*subnet = p.Masked()
			if frame.SrcMAC.IsZero() {
				frame.SrcMAC = l.MAC
			}
			if l.VLAN != nil && frame.VLAN == 0 {
				frame.VLAN = uint16(l.VLAN.ID)
			}
		}
	}
}

// optionalAddress reads an address; "" is none.
func optionalAddress(flag, word string) (netip.Addr, error) {
	if word == "" {
		return netip.Addr{}, nil
	}
	all, err := parseAddresses(flag, []string{word})
	if err != nil {
		return netip.Addr{}, err
	}
	return all[0].Unmap(), nil
}

// servers are the far addresses of the lanes, each once.
func servers(lanes []steer.AddressLane) []netip.Addr {
	var out []netip.Addr
	for _, l := range lanes {
		if !slices.Contains(out, l.Dst) {
			out = append(out, l.Dst)
		}
	}
	return out
}

// words joins addresses for people.
func words(addrs []netip.Addr) string {
	out := make([]string, len(addrs))
	for i, a := range addrs {
		out[i] = a.String()
	}
	return strings.Join(out, ", ")
}
