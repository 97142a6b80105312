package steer

import (
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/cmd/console"
)

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
