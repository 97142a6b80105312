package steer

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/linerate/linerate/flow"
)

func channelOf(hash ChannelHash, n int) EtherChannel {
	return EtherChannel{Mode: Channel8023ad, Hash: hash, Adapters: Declared(0, n).Ports}
}

func tcpFrame(src, dst string, sport, dport uint16) flow.Frame {
	return flow.Frame{Tuple: flow.Tuple{Proto: flow.TCP, Src: netip.MustParseAddr(src), Dst: netip.MustParseAddr(dst), Sport: sport, Dport: dport}}
}

// The expected adapters follow from IBM's text by hand: the last byte of the
// value, divided by the adapters, and the remainder.
func TestEtherChannelFollowsTheDocument(t *testing.T) {
	arp := flow.Frame{EtherType: 0x0806, DstMAC: flow.MAC{2, 0, 0, 0, 0, 7}}
	icmp := tcpFrame("10.0.0.1", "10.0.0.7", 0, 0)
	icmp.Proto = flow.ICMP
	for _, c := range []struct {
		name  string
		hash  ChannelHash
		n     int
		frame flow.Frame
		want  int
	}{
		{"default: .7 over 4", ChannelHashDefault, 4, tcpFrame("10.0.0.1", "10.0.0.7", 40000, 5201), 3},
		{"default: .200 over 3", ChannelHashDefault, 3, tcpFrame("10.0.0.1", "10.0.0.200", 1, 2), 2},
		{"default: the source does not matter", ChannelHashDefault, 4, tcpFrame("10.9.9.9", "10.0.0.7", 1, 2), 3},
		{"default: IPv6 ::1f over 4", ChannelHashDefault, 4, tcpFrame("fd00::1", "fd00::1f", 1, 2), 3},
		{"default: ARP by the MAC address", ChannelHashDefault, 4, arp, 3},
		{"src_port: 40001 is 0x9c41, 0x41 over 4", ChannelHashSrcPort, 4, tcpFrame("10.0.0.1", "10.0.0.7", 40001, 5201), 1},
		{"src_port over 3: of the last byte, 65", ChannelHashSrcPort, 3, tcpFrame("10.0.0.1", "10.0.0.7", 40001, 5201), 2},
		{"dst_port: 5201 is 0x1451, 0x51 over 4", ChannelHashDstPort, 4, tcpFrame("10.0.0.1", "10.0.0.7", 40001, 5201), 1},
		{"src_dst_port: 45202 / 2 = 22601 = 0x5849, 0x49 over 4", ChannelHashSrcDstPort, 4, tcpFrame("10.0.0.1", "10.0.0.7", 40001, 5201), 1},
		{"src_dst_port: the half is dropped", ChannelHashSrcDstPort, 4, tcpFrame("10.0.0.1", "10.0.0.7", 40002, 5201), 1},
		{"src_dst_port: two ports on, the next", ChannelHashSrcDstPort, 4, tcpFrame("10.0.0.1", "10.0.0.7", 40003, 5201), 2},
		{"ports of what has none: as default", ChannelHashSrcPort, 4, icmp, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := channelOf(c.hash, c.n).Place(c.frame)
			if !p.Known || p.Index != c.want {
				t.Errorf("Place = %d (%q), want %d", p.Index, p.Why, c.want)
			}
		})
	}
}

func TestEtherChannelSaysWhatItCannot(t *testing.T) {
	fragment := tcpFrame("10.0.0.1", "10.0.0.7", 40001, 5201)
	fragment.Fragment = true
	rotating := channelOf(0, 2)
	rotating.Mode = ChannelRoundRobin
	for _, c := range []struct {
		name    string
		channel EtherChannel
		frame   flow.Frame
		want    string
	}{
		{"no adapters", EtherChannel{}, fragment, "no usable link"},
		{"a fragment by ports", channelOf(ChannelHashSrcPort, 2), fragment, "fragments"},
		{"no destination", channelOf(0, 2), flow.Frame{}, "not given"},
		{"no source port", channelOf(ChannelHashSrcPort, 2), tcpFrame("10.0.0.1", "10.0.0.7", 0, 5201), "src_port takes the source port, which is not given"},
		{"no destination port", channelOf(ChannelHashDstPort, 2), tcpFrame("10.0.0.1", "10.0.0.7", 40001, 0), "destination port"},
		{"no ports", channelOf(ChannelHashSrcDstPort, 2), tcpFrame("10.0.0.1", "10.0.0.7", 0, 0), "source and destination ports"},
		{"round_robin", rotating, fragment, "rotates"},
	} {
		if p := c.channel.Place(unported(c.frame)); p.Known || !strings.Contains(p.Why, c.want) {
			t.Errorf("%s: known %v, why %q, want unknown with %q", c.name, p.Known, p.Why, c.want)
		}
	}
	backup := channelOf(0, 2)
	backup.Mode = ChannelBackup
	if p := backup.Place(fragment); !p.Known || p.Index != 0 {
		t.Errorf("netif_backup: %+v, want the first adapter", p)
	}
}

func TestEtherChannelReach(t *testing.T) {
	for _, c := range []struct {
		hash             ChannelHash
		ports, addresses bool
	}{
		{ChannelHashDefault, false, true}, {ChannelHashSrcPort, true, false},
		{ChannelHashDstPort, false, false}, {ChannelHashSrcDstPort, true, false},
	} {
		if r := channelOf(c.hash, 2).Reach(); r.Ports != c.ports || r.Addresses != c.addresses || r.Why == "" {
			t.Errorf("%s: %+v, want ports %v, addresses %v", c.hash, r, c.ports, c.addresses)
		}
	}
}

func TestAggregationWordsRoundTrip(t *testing.T) {
	for _, h := range ChannelHashes() {
		var back ChannelHash
		if err := back.UnmarshalText([]byte(h.String())); err != nil || back != h {
			t.Errorf("hash mode %s came back as %s, %v", h, back, err)
		}
	}
	for m := range channelModeWords {
		var back ChannelMode
		if err := back.UnmarshalText([]byte(ChannelMode(m).String())); err != nil || int(back) != m {
			t.Errorf("mode %d came back as %s, %v", m, back, err)
		}
	}
	for _, p := range LaggProtos() {
		var back LaggProto
		if err := back.UnmarshalText([]byte(p.String())); err != nil || back != p {
			t.Errorf("laggproto %s came back as %s, %v", p, back, err)
		}
	}
	for h := LaggL2; h <= LaggL2|LaggL3|LaggL4; h++ {
		var back LaggHash
		if err := back.UnmarshalText([]byte(h.String())); err != nil || back != h {
			t.Errorf("lagghash %s came back as %s, %v", h, back, err)
		}
	}
	for s := range sideWords {
		var back Side
		if err := back.UnmarshalText([]byte(Side(s).String())); err != nil || int(back) != s {
			t.Errorf("side %d came back as %s, %v", s, back, err)
		}
	}
	var h LaggHash
	if err := h.UnmarshalText([]byte("l2,l5")); err == nil {
		t.Error("lagghash l5 was taken")
	}
}
