package remedy

import (
	"net/netip"
	"slices"
	"testing"

	"github.com/linerate/linerate/fabric/topology"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/render/switchlines"
)

// lines are a way's commands.
func lines(w record.Way) (out []string) {
	for _, a := range w {
		out = append(out, a.Line())
	}
	return out
}

func tuned(name string, keys map[string]string) netstate.Host {
	h := netstate.Host{Name: name, Sysctls: map[string]netstate.Sysctl{}}
	for k, v := range keys {
		h.Sysctls[k] = netstate.Sysctl{Value: v}
	}
	return h
}

// TestBuffers: what turns tuning off goes first, and a larger maximum is one.
func TestBuffers(t *testing.T) {
	for name, c := range map[string]struct {
		from, to map[string]string
		more     float64
		want     []string
	}{
		"small":             {nil, map[string]string{receiveBuffers: "4096 60416 60416"}, 2, []string{"sysctl -w 'net.ipv4.tcp_rmem=4096 131072 8388608'"}},
		"usual":             {nil, map[string]string{receiveBuffers: "4096 131072 6291456"}, 4, []string{"sysctl -w 'net.ipv4.tcp_rmem=4096 131072 67108864'"}},
		"unread":            {nil, nil, 0, []string{"sysctl -w 'net.ipv4.tcp_rmem=4096 131072 8388608'"}},
		"huge":              {nil, map[string]string{receiveBuffers: "4096 131072 1073741824"}, 9, []string{"sysctl -w 'net.ipv4.tcp_rmem=4096 131072 1073741824'"}},
		"no autotuning":     {nil, map[string]string{moderating: "0", receiveBuffers: "4096 131072 6291456"}, 4, []string{"sysctl -w net.ipv4.tcp_moderate_rcvbuf=1"}},
		"sender unscaled":   {map[string]string{scaling: "0"}, map[string]string{scaling: "1"}, 4, []string{"sysctl -w net.ipv4.tcp_window_scaling=1"}},
		"neither is on":     {map[string]string{scaling: "0"}, map[string]string{scaling: "0", moderating: "0"}, 4, []string{"sysctl -w net.ipv4.tcp_window_scaling=1", "sysctl -w net.ipv4.tcp_window_scaling=1", "sysctl -w net.ipv4.tcp_moderate_rcvbuf=1"}},
		"a default of zero": {nil, map[string]string{receiveBuffers: "0 0 0"}, 3, []string{"sysctl -w 'net.ipv4.tcp_rmem=0 131072 8388608'"}},
	} {
		if got := lines(ReceiveBuffers(tuned("a", c.from), tuned("b", c.to), c.more)); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	if got := lines(SendBuffers(tuned("a", map[string]string{sendBuffers: "4096 16384 4194304"}), 3)); !slices.Equal(got, []string{"sysctl -w 'net.ipv4.tcp_wmem=4096 16384 33554432'"}) {
		t.Error(got)
	}
}

// TestQueues: fq is changed where it stands, a shaper goes where it is the root.
func TestQueues(t *testing.T) {
	l := netstate.Link{Name: "eth0", Qdiscs: []netstate.Qdisc{{Kind: "tbf", Handle: "1:", Parent: "root", Rate: 1e6}, {Kind: "fq", Handle: "9:", Parent: "1:1", FlowRate: 5e5}, {Kind: "htb", Parent: "1:2", Rate: 1e5}}}
	if got := lines(Unpaced("a", l)); !slices.Equal(got, []string{"tc qdisc change dev eth0 parent 1:1 fq maxrate 34359738360bit"}) {
		t.Error(got)
	}
	if got := lines(Unshaped("a", l)); !slices.Equal(got, []string{"tc qdisc del dev eth0 root"}) {
		t.Error(got)
	}
}

// TestLinks: an MTU is set in an order that the kernel takes, a route keeps all but what
// is taken off it.
func TestLinks(t *testing.T) {
	h := netstate.Host{Name: "a", Links: []netstate.Link{{Name: "bond0", MTU: 9000}, {Name: "bond0.7", MTU: 9000, VLAN: &netstate.VLAN{Parent: "bond0", ID: 7}}, {Name: "bond0.8", MTU: 1500, VLAN: &netstate.VLAN{Parent: "bond0", ID: 8}}}}
	for _, c := range []struct {
		link string
		mtu  int
		want []string
	}{
		{"bond0", 1500, []string{"ip link set dev bond0.7 mtu 1500", "ip link set dev bond0 mtu 1500"}},
		{"bond0.7", 1500, []string{"ip link set dev bond0.7 mtu 1500"}},
		{"bond0.8", 9100, []string{"ip link set dev bond0 mtu 9100", "ip link set dev bond0.8 mtu 9100"}},
		{"gone", 1500, nil},
	} {
		if got := lines(MTU(h, c.link, c.mtu)); !slices.Equal(got, c.want) {
			t.Errorf("%s %d: %q", c.link, c.mtu, got)
		}
	}
	h.Routes = []netstate.Route{
		{Dst: netip.MustParsePrefix("10.7.0.0/24"), Link: "bond0", Source: netip.MustParseAddr("10.7.0.1"), Table: 254, Protocol: "kernel", Metrics: map[string]string{"advmss": "163", "window": "9"}},
		{Dst: netip.MustParsePrefix("10.8.0.0/24"), Link: "bond0", Gateway: netip.MustParseAddr("10.7.0.9"), Table: 7, Metric: 5, Metrics: map[string]string{"advmss": "163"}},
	}
	if got := lines(WithoutMetric(h, "advmss", netip.MustParseAddr("10.7.0.2"), netip.MustParseAddr("10.8.0.2"))); !slices.Equal(got, []string{
		"ip route change 10.7.0.0/24 dev bond0 proto kernel src 10.7.0.1 window 9", "ip route change 10.8.0.0/24 via 10.7.0.9 dev bond0 table 7 metric 5"}) {
		t.Errorf("%q", got)
	}
	if got := HashPorts("a", "bond0").Line(); got != "ip link set dev bond0 type bond xmit_hash_policy layer3+4" {
		t.Error(got)
	}
}

// TestOwnTable: a table that leads there already lacks its rule alone.
func TestOwnTable(t *testing.T) {
	own, peer := netip.MustParseAddr("10.7.0.2"), netip.MustParseAddr("10.7.0.102")
	h := netstate.Host{Name: "a", Links: []netstate.Link{{Name: "eth0"}, {Name: "eth1", Addresses: []netip.Prefix{netip.MustParsePrefix("10.7.0.2/24")}}}}
	if got := lines(OwnTable(h, []netip.Addr{own}, peer)); !slices.Equal(got, []string{"ip route add 10.7.0.0/24 dev eth1 src 10.7.0.2 table 101", "ip rule add from 10.7.0.2 table 101"}) {
		t.Errorf("%q", got)
	}
	h.Routes = []netstate.Route{{Dst: netip.MustParsePrefix("10.7.0.0/24"), Link: "eth0", Table: 100}, {Dst: netip.MustParsePrefix("10.7.0.0/24"), Link: "eth1", Table: 102}}
	if got := lines(OwnTable(h, []netip.Addr{own}, peer)); !slices.Equal(got, []string{"ip rule add from 10.7.0.2 table 102"}) {
		t.Errorf("%q", got)
	}
	h.Routes = append(h.Routes, netstate.Route{Dst: netip.MustParsePrefix("10.7.0.102/32"), Link: "eth0", Table: 102})
	if got := lines(OwnTable(h, []netip.Addr{own}, peer)); len(got) != 2 {
		t.Errorf("a table with another way: %q", got)
	}
}

// TestTraffic: options are this program's; ports that were chosen are not chosen again.
func TestTraffic(t *testing.T) {
	for _, c := range []struct {
		of   record.Trial
		want string
	}{
		{record.Trial{Tool: "linerate", Ports: "kernel", Streams: 2}, "measure with `--streams 4 --ports chosen`"},
		{record.Trial{Tool: "linerate", Ports: "chosen", Streams: 6}, "measure with `--streams 6`"},
		{record.Trial{Tool: "iperf3", Streams: 2}, "use at least 4 streams with ports chosen for different links (`linerate steer pick`)"},
	} {
		if got := Of(c.of).Spread(4).Text(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	if got := Of(record.Trial{Tool: "iperf3"}).Without("--pacing", "lower --fq-rate").Text(); got != "lower --fq-rate" {
		t.Error(got)
	}
}

// TestSwitchHash: a switch whose system the file names is told in its own words, and the
// file takes every system that has words.
func TestSwitchHash(t *testing.T) {
	for _, s := range switchlines.Systems() {
		if !slices.Contains(topology.Systems(), s.Name) {
			t.Errorf("a fabric file cannot say %s", s.Name)
		}
		n := topology.New([]topology.Switch{{Name: "leaf", System: s.Name, Ports: []topology.Port{{Name: "p1", Host: "b", Link: "eth0"}}}})
		paths := []flow.Path{{From: "a", To: "b", Switches: n}}
		if got := SwitchHash(paths, "b"); !slices.Equal(got.Lines, s.Hash.Change) || got.Switch != record.HashPorts {
			t.Errorf("%s: %+v", s.Name, got)
		}
		if got := SwitchWords(paths, "leaf"); got != s.Hash.Words() {
			t.Errorf("%s: %q", s.Name, got)
		}
	}
	if got := SwitchHash([]flow.Path{{From: "a", To: "b"}}, "b"); len(got.Lines) != 0 || got.Host != "b" {
		t.Errorf("%+v", got)
	}
}

// TestNoWayToOthers: a way with a command for a host that runs another system is no way.
func TestNoWayToOthers(t *testing.T) {
	hosts := map[string]netstate.Host{"plain": {Name: "plain"}, "win": host("win", "windows", "Lacp", "IPAddresses")}
	both := record.Do(record.Run("plain", "ip", "link"), record.Run("win", "ip", "link"))
	if got := On(hosts, record.MTU, "plain", "win", "", both).Text(); linux.MatchString(got) || got == "" {
		t.Error(got)
	}
	if got := On(hosts, record.MTU, "plain", "win", "", both.Or(record.Ask("raise it"))).Text(); got != "raise it" {
		t.Error(got)
	}
}
