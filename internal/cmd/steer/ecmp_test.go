package steer

import (
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/kernel/netns"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/steer"
)

// The neighbour table's address goes into frames that lack one, where the
// policy hashes it, and nowhere else.
func TestNextHopsAreLookedUp(t *testing.T) {
	ip, err := exec.LookPath("ip")
	if err != nil || os.Getuid() != 0 {
		t.Skip("making a network namespace needs root and ip")
	}
	const ns = "linerate-cli-nexthop"
	_ = netns.Delete(ns) // of a test that was killed
	if _, err := netns.Create(ns); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = netns.Delete(ns) })
	for _, line := range []string{
		"link add a0 type veth peer name b0", "link set a0 up", "link set b0 up", "addr add 10.83.0.1/24 dev a0",
		"neigh add 10.83.0.2 lladdr 02:00:00:00:00:22 dev a0", "route add 10.84.0.0/16 via 10.83.0.2", "route add 10.85.0.0/16 via 10.83.0.3",
	} {
		if out, err := exec.Command(ip, append([]string{"-n", ns}, strings.Fields(line)...)...).CombinedOutput(); err != nil {
			t.Fatalf("ip %s: %v: %s", line, err, out)
		}
	}
	con := &console.Console{Version: "test"}
	host := netstate.Host{Name: "alpha"}
	src := netip.MustParseAddr("10.83.0.1")
	for _, tt := range []struct {
		dst, mac, note string
		policy         netstate.HashPolicy
		ports          []string
	}{
		{"10.83.0.2", "02:00:00:00:00:22", "", netstate.Layer2, []string{"0", "1"}},
		{"10.84.1.2", "02:00:00:00:00:22", "", netstate.Layer23, []string{"0", "1"}},
		{"10.85.1.2", "", "alpha has no MAC address for the next hop 10.83.0.3 on a0: ping it first", netstate.Layer2, []string{"0", "1"}},
		{"10.99.1.2", "", "alpha has no way to 10.99.1.2", netstate.Layer2, []string{"0", "1"}},
		{"10.83.0.2", "", "", netstate.Layer34, []string{"0", "1"}},
		{"10.83.0.2", "", "alpha sends to 10.83.0.2 by a0, which is not on this bond", netstate.Layer2, []string{"eth0", "eth1"}},
	} {
		h := host
		for _, name := range tt.ports {
			if name != "0" && name != "1" {
				h.Links = append(h.Links, netstate.Link{Name: name})
			}
		}
		frames := []flow.Frame{{Tuple: flow.Tuple{Proto: flow.TCP, Src: src, Dst: netip.MustParseAddr(tt.dst), Sport: 1}, SrcMAC: flow.MAC{2, 0, 0, 0, 0, 1}}}
		b := steer.Declared(tt.policy, 2)
		b.Ports = tt.ports
		note, err := (&flowFlags{}).nextHops(t.Context(), con, "netns:"+ns, frames, b, &h)
		if err != nil || frames[0].DstMAC.String() != tt.mac || !strings.HasPrefix(note, tt.note) || tt.note == "" && note != "" {
			t.Errorf("%s, %s: MAC %q, note %q, %v; want %q, %q", tt.dst, tt.policy, frames[0].DstMAC, note, err, tt.mac, tt.note)
		}
	}
}

func TestRouteTo(t *testing.T) {
	prefix, addr := netip.MustParsePrefix, netip.MustParseAddr
	h := netstate.Host{Routes: []netstate.Route{
		{Dst: prefix("0.0.0.0/0"), Table: mainTable, Metric: 100}, {Dst: prefix("0.0.0.0/0"), Table: mainTable, Metric: 50},
		{Dst: prefix("10.0.0.0/8"), Table: mainTable, Metric: 900}, {Dst: prefix("10.1.0.0/16"), Table: 7},
	}}
	for dst, want := range map[string]int{"10.1.2.3": 2, "9.9.9.9": 1, "2001:db8::1": -1} {
		got := routeTo(h, addr(dst))
		if want < 0 && got != nil || want >= 0 && got != &h.Routes[want] {
			t.Errorf("%s: %+v, want route %d", dst, got, want)
		}
	}
}

func TestQuestion(t *testing.T) {
	for _, tt := range []struct {
		proto        flow.Proto
		icmp         *flow.ICMPHeader
		sport, dport uint16
	}{
		{flow.TCP, nil, 7, 9}, {flow.UDP, nil, 7, 9}, {flow.ICMP, nil, 0, 0},
		{flow.ICMPv6, nil, 0, 0x8000}, {flow.ICMPv6, &flow.ICMPHeader{Type: 129, Code: 1}, 0, 0x8101}, {50, nil, 0, 0},
	} {
		got := question(flow.Frame{Tuple: flow.Tuple{Proto: tt.proto, Sport: 7, Dport: 9}, ICMP: tt.icmp})
		if got.Sport != tt.sport || got.Dport != tt.dport {
			t.Errorf("%s: %d to %d, want %d to %d", tt.proto, got.Sport, got.Dport, tt.sport, tt.dport)
		}
	}
}
