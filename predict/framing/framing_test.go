package framing

import (
	"math"
	"testing"

	"github.com/linerate/linerate/netstate"
)

func TestEfficiency(t *testing.T) {
	for _, c := range []struct {
		mtu, tags   int
		framing     netstate.Framing
		ipv6, stamp bool
		want        float64
	}{
		{1500, 0, netstate.FramingL1, false, true, 0.94148},
		{1500, 0, netstate.FramingL1, false, false, 0.94928},
		{1500, 0, netstate.FramingL1, true, true, 0.92848},
		{9000, 0, netstate.FramingL1, false, true, 0.99004},
		{9000, 0, netstate.FramingL1, false, false, 0.99137},
		{9000, 0, netstate.FramingL1, true, true, 0.98783},
		{1500, 1, netstate.FramingL1, false, true, 0.93904},
		{9000, 1, netstate.FramingL1, false, true, 0.98960},
		{1500, 2, netstate.FramingL1, false, true, 1448.0 / 1546},
		{1500, 0, netstate.FramingL2, false, true, 1448.0 / 1514},
		{1500, 1, netstate.FramingL2, false, true, 1448.0 / 1518},
		{9000, 0, netstate.FramingL2, true, true, 8928.0 / 9014},
		{52, 0, netstate.FramingL1, false, true, 0},
		{0, 0, netstate.FramingL2, false, true, 0},
		{-100, 0, netstate.FramingL1, false, true, 0},
	} {
		got := Segment{Mtu: c.mtu, Headers: Headers("tcp", c.ipv6, c.stamp)}.Share(c.framing, c.tags)
		if math.Abs(got-c.want) > 5e-6 {
			t.Errorf("payload's share(%d, %d, %q, ipv6 %v, timestamps %v) = %.5f; want %.5f", c.mtu, c.tags, c.framing, c.ipv6, c.stamp, got, c.want)
		}
	}
}

func TestLinkPayload(t *testing.T) {
	shaped := []netstate.Qdisc{{Kind: "tbf", Parent: "root", Rate: 500e6}}
	for _, c := range []struct {
		name string
		link netstate.Link
		tags int
		want float64
	}{
		{"Ethernet", netstate.Link{Speed: 10e9}, 0, 10e9 * 1448 / 1538},
		{"Ethernet, tagged", netstate.Link{Speed: 10e9}, 1, 10e9 * 1448 / 1542},
		{"emulated by a shaper", netstate.Link{Speed: 500e6, Framing: netstate.FramingL2}, 0, 500e6 * 1448 / 1514},
		{"a shaper counts no tag", netstate.Link{Speed: 500e6, Framing: netstate.FramingL2}, 1, 500e6 * 1448 / 1514},
		{"shaped", netstate.Link{Speed: 10e9, Qdiscs: shaped}, 0, 500e6 * 1448 / 1514},
		{"shaped at its speed", netstate.Link{Speed: 500e6, Framing: netstate.FramingL2, Qdiscs: shaped}, 0, 500e6 * 1448 / 1514},
		{"a shaper's rate alone", netstate.Link{Qdiscs: shaped}, 0, 500e6 * 1448 / 1514},
		{"a child's rate does not count", netstate.Link{Speed: 10e9, Qdiscs: []netstate.Qdisc{{Kind: "tbf", Parent: "1:1", Rate: 1e6}}}, 0, 10e9 * 1448 / 1538},
		{"unknown", netstate.Link{}, 0, 0},
	} {
		if got := LinkPayload(c.link, 1500, c.tags, false); math.Abs(float64(got)-c.want) > 1 {
			t.Errorf("%s: %v; want %.0f", c.name, float64(got), c.want)
		}
	}
}

func TestPacketPayload(t *testing.T) {
	link := netstate.Link{Name: "eth0", Speed: 500e6, Framing: netstate.FramingL2}
	for _, c := range []struct {
		protocol string
		payload  int
		want     float64 // share of the link's speed
	}{
		{"tcp", 0, 1448.0 / 1514},
		{"tcp", 1448, 1448.0 / 1514},
		{"tcp", 9000, 1448.0 / 1514},
		{"tcp", 524, 524.0 / 590},
		{"udp", 100, 100.0 / 142},
	} {
		got := float64(PacketPayload(c.protocol, link, 1500, c.payload, 0, 0, false) / 500e6)
		if math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s of %d bytes: %.4f, want %.4f", c.protocol, c.payload, got, c.want)
		}
	}
}
