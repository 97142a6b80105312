package steer

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/userfile"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/steer"
	"github.com/linerate/linerate/steer/flowfile"
)

const flowHelp = `Lists of --src and --dst as long as each other are paired in order; one address
on a side goes with each of the other's.

`

// mostFlows bounds what flags may multiply to.
const mostFlows = 1 << 20

// flowFlags name flows by their parts.
type flowFlags struct {
	src, dst          []string
	sport, file       string
	dport, vlan       uint16
	dports            string // show's list; pick has its own
	smac, dmac, proto string
	flags             interface{ Changed(name string) bool }
	macAlone          bool // --smac may stand alone: nothing else decides
}

func (f *flowFlags) add(c *cobra.Command) {
	f.addParts(c)
	c.Flags().StringVar(&f.dports, "dport", fmt.Sprint(steer.DefaultDport), "destination ports: 5201, 5201-5204, or a list of both")
}

// addParts is add without the destination port, of which pick takes several.
func (f *flowFlags) addParts(c *cobra.Command) {
	f.flags = c.Flags()
	c.Flags().StringSliceVar(&f.src, "src", nil, "source address, or a list")
	c.Flags().StringSliceVar(&f.dst, "dst", nil, "destination address, or a list")
	c.Flags().StringVar(&f.smac, "smac", "", "sender's MAC address (default: the host's own for --src)")
	c.Flags().StringVar(&f.dmac, "dmac", "", "next hop's MAC address")
	c.Flags().Uint16Var(&f.vlan, "vlan", 0, "VLAN tag (default: the one --src is on)")
	console.WordVar(c, &f.proto, "proto", "tcp", "tcp, udp, icmp, icmpv6, sctp, esp, gre or a protocol number")
}

// template is the frame that all flows of the flags have in common.
func (f *flowFlags) template() (flow.Frame, error) {
	frame, err := frameOf(f.vlan, f.proto, f.smac, f.dmac)
	frame.Dport = f.dport
	return frame, err
}

// frameOf is a frame with what --vlan, --proto, --smac and --dmac say.
func frameOf(vlan uint16, proto, smac, dmac string) (flow.Frame, error) {
	frame := flow.Frame{VLAN: vlan}
	for _, part := range []struct {
		flag string
		err  error
	}{
		{"--proto", frame.Proto.UnmarshalText([]byte(proto))},
		{"--smac", frame.SrcMAC.UnmarshalText([]byte(smac))},
		{"--dmac", frame.DstMAC.UnmarshalText([]byte(dmac))},
	} {
		if part.err != nil {
			return frame, console.BadUsage(part.flag+": "+part.err.Error(), "")
		}
	}
	return frame, console.CheckVLAN(vlan)
}

// frames are the flows that the flags or the file name, in order.
func (f *flowFlags) frames(ctx context.Context, stdin io.Reader) ([]flow.Frame, error) {
	if f.file != "" {
		if len(f.src) > 0 || len(f.dst) > 0 || f.sport != "" {
			return nil, console.BadUsage("steer show: --flows and --src, --dst, --sport exclude each other", "put the flows into the file, or leave the file out")
		}
		return readFlows(ctx, f.file, stdin)
	}
	if len(f.src) == 0 && len(f.dst) == 0 && f.sport == "" && f.macAlone && f.smac != "" {
		frame, err := f.template()
		frame.NoSport = true
		return []flow.Frame{frame}, err
	}
	if len(f.src) == 0 && len(f.dst) == 0 && f.sport == "" {
		return nil, console.BadUsage("steer show: no flows named", "say --src 10.0.0.1 --dst 10.0.0.2 --sport 40000-40015, or --flows FILE.csv")
	}
	base, err := f.template()
	if err != nil {
		return nil, err
	}
	lanes, err := f.lanes()
	if err != nil {
		return nil, err
	}
	ports, err := parsePorts(f.sport)
	if err != nil {
		return nil, err
	}
	dports, err := f.destinations(base.Proto)
	if err != nil {
		return nil, err
	}
	count := len(lanes) * len(ports) * len(dports)
	if count > mostFlows {
		return nil, console.BadUsage(fmt.Sprintf("steer show: %d flows: want at most %d", count, mostFlows), "")
	}
	frames := make([]flow.Frame, 0, count)
	for _, lane := range lanes {
		for _, port := range ports {
			for _, dport := range dports {
				frame := base
				frame.Src, frame.Dst, frame.Sport, frame.Dport = lane.Src, lane.Dst, port, dport
				frame.NoSport = f.sport == "" && frame.Proto.HasPorts()
				frames = append(frames, frame)
			}
		}
	}
	return frames, nil
}

// complete gives frames the MAC address and the VLAN tag that their source
// address has on the host, and refuses flows that lack a port which decides.
func (f *flowFlags) complete(frames []flow.Frame, b steer.Bundle, host *netstate.Host) error {
	if f.file == "" && f.sport == "" && frames[0].Proto.HasPorts() && b.Reach().Ports && len(b.Ports) > 1 {
		return console.BadUsage("steer show: no source port, and "+b.Policy.String()+" goes by it", "say --sport 40000, or a range such as 40000-40015")
	}
	if host == nil {
		return nil
	}
	for i := range frames {
		l, ok := host.LinkWith(frames[i].Src)
		if !ok {
			continue
		}
		if frames[i].SrcMAC.IsZero() {
			frames[i].SrcMAC = l.MAC
		}
		if l.VLAN != nil && frames[i].VLAN == 0 {
			frames[i].VLAN = uint16(l.VLAN.ID)
		}
	}
	return nil
}

// lanes pair --src with --dst; an address that is not given is not valid.
func (f *flowFlags) lanes() ([]flow.Lane, error) {
	src, err := parseAddresses("--src", f.src)
	if err != nil {
		return nil, err
	}
	dst, err := parseAddresses("--dst", f.dst)
	if err != nil {
		return nil, err
	}
	n := max(len(src), len(dst))
	if len(src) != n && len(src) != 1 || len(dst) != n && len(dst) != 1 {
		return nil, console.BadUsage(fmt.Sprintf("--src and --dst: %d and %d addresses cannot be paired", len(src), len(dst)), "give as many of each, or one of one")
	}
	lanes := make([]flow.Lane, n)
	for i := range lanes {
		lanes[i] = flow.Lane{Src: src[i%len(src)], Dst: dst[i%len(dst)]}
		if err := oneFamily("--src and --dst", lanes[i]); err != nil {
			return nil, err
		}
	}
	return lanes, nil
}

// oneFamily refuses a pair of addresses that no packet can have.
func oneFamily(flag string, l flow.Lane) error {
	if l.OneFamily() {
		return nil
	}
	return console.BadUsage(fmt.Sprintf("%s: %s and %s are of different families", flag, l.Src, l.Dst), "pair IPv4 with IPv4, and IPv6 with IPv6")
}

// parseAddresses reads addresses; without any it is one that is not given.
func parseAddresses(flag string, words []string) ([]netip.Addr, error) {
	if len(words) == 0 {
		return []netip.Addr{{}}, nil
	}
	var out []netip.Addr
	for _, word := range words {
		a, err := netip.ParseAddr(strings.TrimSpace(word))
		if err != nil {
			return nil, console.BadUsage(flag+": "+word+" is no IPv4 or IPv6 address", "")
		}
		out = append(out, a)
	}
	return out, nil
}

// destinations are the ports of --dport, the default one for protocols that
// have ports.
func (f *flowFlags) destinations(proto flow.Proto) ([]uint16, error) {
	if !proto.HasPorts() && !f.flags.Changed("dport") {
		return []uint16{0}, nil
	}
	ranges, err := flow.ParsePortRanges(f.dports)
	if err != nil || len(ranges) == 0 {
		return nil, console.BadUsage("--dport: "+f.dports+" is no list of ports from 0 to 65535", "write 5201, 5201-5204, or a list of both")
	}
	var ports []uint16
	for _, r := range ranges {
		for port := int(r.First); port <= int(r.Last); port++ {
			ports = append(ports, uint16(port))
		}
		if len(ports) > mostFlows {
			return nil, console.BadUsage(fmt.Sprintf("--dport: more than %d ports", mostFlows), "")
		}
	}
	return ports, nil
}

// parsePorts reads "40000", "40000-40015" and lists of both; "" is port zero,
// which is none.
func parsePorts(s string) ([]uint16, error) {
	if s == "" {
		return []uint16{0}, nil
	}
	var ports []uint16
	for part := range strings.SplitSeq(s, ",") {
		first, last, err := parsePortRange(part)
		if err != nil {
			return nil, err
		}
		for p := int(first); p <= int(last); p++ {
			ports = append(ports, uint16(p))
		}
		if len(ports) > mostFlows {
			return nil, console.BadUsage(fmt.Sprintf("--sport: more than %d ports", mostFlows), "")
		}
	}
	return ports, nil
}

// parsePortRange reads "40000-40015" of --sport, or one port as a range of one.
func parsePortRange(s string) (first, last uint16, err error) {
	r, err := flow.ParsePortRange(s)
	if err != nil {
		return 0, 0, console.BadUsage("--sport: "+err.Error(), "write 40000, 40000-40015, or a list of both")
	}
	return r.First, r.Last, nil
}

// readFlows reads a CSV file of flows; "-" is standard input.
func readFlows(ctx context.Context, path string, stdin io.Reader) ([]flow.Frame, error) {
	var text []byte
	var err error
	name := path
	if path == "-" {
		name = "standard input"
		text, err = userfile.ReadStream(ctx, name, stdin, console.MostFabric)
	} else {
		text, err = userfile.Read(ctx, path, console.MostFabric)
	}
	if err != nil {
		return nil, console.BadFile("read flows", err)
	}
	frames, err := flowfile.Parse(text)
	if err != nil {
		return nil, console.BadUsage("read flows "+located(name, err.Error()), "")
	}
	if len(frames) == 0 {
		return nil, console.BadUsage("read flows "+name+": a header and no flows", "write a line for each flow below it")
	}
	return frames, nil
}

// located turns "line 3, column 12: what" into "name:3:12: what".
func located(name, what string) string {
	var line, column int
	place, rest, found := strings.Cut(what, ": ")
	if _, err := fmt.Sscanf(place, "line %d, column %d", &line, &column); err != nil || !found {
		return name + ": " + what
	}
	return fmt.Sprintf("%s:%d:%d: %s", name, line, column, rest)
}

// nativeBigEndian reports this machine's byte order.
func nativeBigEndian() bool { return binary.NativeEndian.Uint16([]byte{0, 1}) == 1 }

// packetFlags say of flows what is neither address nor port and enters a hash.
type packetFlags struct {
	icmp, spi           string
	fragment, forwarded bool
}

func (p *packetFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&p.icmp, "icmp", "", "ICMP message as TYPE, TYPE/CODE or TYPE/CODE/ID, such as 8/0/4711 (--proto icmp)")
	c.Flags().StringVar(&p.spi, "spi", "", "security parameter index of ESP or AH, 0x for hexadecimal (--proto esp)")
	c.Flags().BoolVar(&p.fragment, "fragment", false, "fragments, in which no ports are read")
	c.Flags().BoolVar(&p.forwarded, "forwarded", false, "frames that no socket of the host sends and that came without a receive hash\n(ethtool -k: receive-hashing, and RPS, off)")
}

// protocol is the flows' where none is named and a packet's part implies it.
func (p *packetFlags) protocol(f *flowFlags) {
	if f.flags.Changed("proto") {
		return
	}
	switch {
	case p.icmp != "" && slices.ContainsFunc(slices.Concat(f.src, f.dst), func(a string) bool { return strings.Contains(a, ":") }):
		f.proto = flow.ICMPv6.String()
	case p.icmp != "":
		f.proto = flow.ICMP.String()
	case p.spi != "":
		f.proto = flow.ESP.String()
	}
}

// apply adds what the flags say to every frame; what a file says it keeps.
func (p *packetFlags) apply(frames []flow.Frame) error {
	var icmp *flow.ICMPHeader
	if p.icmp != "" {
		h, err := flow.ParseICMPHeader(p.icmp)
		if err != nil {
			return console.BadUsage("--icmp: "+err.Error(), "a ping is 8/0/ID, over IPv6 128/0/ID")
		}
		icmp = &h
	}
	var spi uint64
	if p.spi != "" {
		var err error
		if spi, err = strconv.ParseUint(p.spi, 0, 32); err != nil || spi == 0 {
			return console.BadUsage("--spi: want 1 to 4294967295, not "+p.spi, "ip xfrm state shows them")
		}
	}
	for i := range frames {
		f := &frames[i]
		if icmp != nil && f.ICMP == nil {
			f.ICMP = icmp
		}
		if f.SPI == 0 {
			f.SPI = uint32(spi)
		}
		f.Fragment = f.Fragment || p.fragment
		f.Forwarded = f.Forwarded || p.forwarded
	}
	return nil
}
