package team

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/linerate/linerate/flow"
)

func tcpFrame(src, dst string, sport, dport uint16) flow.Frame {
	return flow.Frame{Tuple: flow.Tuple{Proto: flow.TCP, Src: netip.MustParseAddr(src), Dst: netip.MustParseAddr(dst), Sport: sport, Dport: dport}}
}

func macsOn(f flow.Frame) flow.Frame {
	f.SrcMAC, f.DstMAC = flow.MAC{2, 0, 0, 0, 1, 0x11}, flow.MAC{2, 0, 0, 0, 2, 0x22}
	return f
}

// TestHashIsTeamds compares with the program that teamd itself makes: libteam 1.32's
// teamd_bpf_chef.c (337125c) was built, its program for each tx_hash run over these
// frames' bytes, and the result folded as the kernel folds it. What a frame of IPv6 shows:
// its source port makes no difference.
func TestHashIsTeamds(t *testing.T) {
	proto := func(f flow.Frame, p flow.Proto) flow.Frame {
		f.Proto = p
		return f
	}
	tagged := func(f flow.Frame, tag uint16) flow.Frame {
		f.VLAN = tag
		return f
	}
	hashes := []string{"eth", "eth,ipv4,ipv6", "ipv4", "l3", "l3,l4", "eth,l3,tcp", "l4", "udp,sctp", "vlan", "eth,vlan", "vlan,ip,l4", "eth,vlan,ipv4,ipv6,tcp,udp,sctp"}
	for _, c := range []struct {
		name  string
		frame flow.Frame
		want  [12]uint32
	}{
		{"tcp4", tcpFrame("192.168.10.1", "192.168.10.2", 40000, 5201), [...]uint32{195, 192, 3, 3, 154, 89, 153, 0, 0, 195, 154, 89}},
		{"tcp4 next port", tcpFrame("192.168.10.1", "192.168.10.2", 40002, 5201), [...]uint32{195, 192, 3, 3, 152, 91, 155, 0, 0, 195, 152, 91}},
		{"udp4", proto(tcpFrame("10.1.2.3", "172.16.99.200", 55555, 2049), flow.UDP), [...]uint32{195, 222, 29, 29, 206, 222, 211, 211, 0, 195, 206, 13}},
		{"sctp4", proto(tcpFrame("10.1.2.3", "172.16.99.200", 55555, 2905), sctp), [...]uint32{195, 222, 29, 29, 149, 222, 136, 136, 0, 195, 149, 86}},
		{"icmp4", proto(tcpFrame("10.1.2.3", "172.16.99.200", 0, 0), flow.ICMP), [...]uint32{195, 222, 29, 29, 29, 222, 0, 0, 0, 195, 29, 222}},
		{"tcp6", tcpFrame("2001:db8::1", "2001:db8:7::2", 40000, 5201), [...]uint32{195, 199, 0, 4, 65, 130, 69, 0, 0, 195, 65, 130}},
		{"tcp6 next port", tcpFrame("2001:db8::1", "2001:db8:7::2", 40002, 5201), [...]uint32{195, 199, 0, 4, 65, 130, 69, 0, 0, 195, 65, 130}},
		{"udp6", proto(tcpFrame("fd00::5", "fd00::6", 1234, 53), flow.UDP), [...]uint32{195, 192, 0, 3, 54, 192, 53, 53, 0, 195, 54, 245}},
		{"tagged tcp4", tagged(tcpFrame("192.168.10.1", "192.168.10.2", 40000, 5201), 100), [...]uint32{195, 192, 3, 3, 154, 89, 153, 0, 100, 167, 254, 61}},
		{"tagged tcp4 with priority", tagged(tcpFrame("192.168.10.1", "192.168.10.2", 40000, 5201), 0xa7d0), [...]uint32{195, 192, 3, 3, 154, 89, 153, 0, 119, 180, 237, 46}},
		{"arp", flow.Frame{EtherType: 0x0806}, [...]uint32{195, 195, 0, 0, 0, 195, 0, 0, 0, 195, 0, 195}},
	} {
		f := c.frame
		f.SrcMAC, f.DstMAC = flow.MAC{0x52, 0x54, 0x00, 0xa1, 0xb2, 0xc3}, flow.MAC{0x00, 0x1b, 0x21, 0x3c, 0x4d, 0x5e}
		for i, word := range hashes {
			var hash Hash
			if err := hash.UnmarshalText([]byte(word)); err != nil {
				t.Fatal(err)
			}
			p := Team{Runner: LACP, Hash: hash, Ports: []string{"a", "b", "c"}}.Place(f)
			if p.Hash == nil || *p.Hash != c.want[i] || p.Index != int(c.want[i]%3) {
				t.Errorf("%s, tx_hash %s: %+v, want hash %d", c.name, word, p, c.want[i])
			}
		}
	}
}

func TestSaysWhatItCannot(t *testing.T) {
	f := macsOn(tcpFrame("192.168.10.1", "192.168.10.2", 40000, 5201))
	fragment, noPort, tag := f, f, f
	fragment.Fragment, noPort.NoSport, tag.EtherType = true, true, etherTag
	two := []string{"a", "b"}
	all := Eth | bothIP | allPorts
	for _, c := range []struct {
		name string
		team Team
		f    flow.Frame
		want string
	}{
		{"no port", Team{}, f, "no usable link"},
		{"roundrobin", Team{Ports: two}, f, "no port of its own"},
		{"random", Team{Runner: Random, Ports: two}, f, "by chance"},
		{"active unknown", Team{Runner: ActiveBackup, Ports: two}, f, "not given"},
		{"balancer", Team{Runner: LoadBalance, Hash: all, Balanced: true, Ports: two}, f, "by load"},
		{"fragment", Team{Runner: LACP, Hash: all, Ports: two}, fragment, "first fragment"},
		{"no source port", Team{Runner: LACP, Hash: all, Ports: two}, noPort, "source port"},
		{"no MAC", Team{Runner: LACP, Hash: DefaultHash, Ports: two}, tcpFrame("10.0.0.1", "10.0.0.2", 1, 2), "MAC"},
		{"inline tag", Team{Runner: LACP, Hash: DefaultHash, Ports: two}, tag, "tag"},
	} {
		if p := c.team.Place(c.f); p.Known || p.Index != -1 || !strings.Contains(p.Why, c.want) {
			t.Errorf("%s: %+v, want a reason with %q", c.name, p, c.want)
		}
	}
	six := macsOn(tcpFrame("fd00::1", "fd00::2", 0, 5201))
	six.NoSport = true // teamd's program never reads it over IPv6
	for _, c := range []struct {
		team  Team
		f     flow.Frame
		index int
	}{
		{Team{Runner: ActiveBackup, Active: "b", Ports: two}, f, 1},
		{Team{Runner: LACP, Hash: all, Ports: two[:1]}, fragment, 0},
		{Team{Runner: LoadBalance, Ports: two}, f, 0},
		{Team{Runner: LACP, Hash: TCP, Ports: two}, six, (0x14 ^ 0x51) % 2},
	} {
		if p := c.team.Place(c.f); !p.Known || p.Index != c.index {
			t.Errorf("%+v: %+v, want port %d", c.team, p, c.index)
		}
	}
}

func TestReach(t *testing.T) {
	two := []string{"a", "b"}
	for _, c := range []struct {
		team                     Team
		ports, addresses, chosen bool
		why                      string
	}{
		{Team{Ports: two}, true, true, false, "out of order"},
		{Team{Runner: ActiveBackup, Ports: two}, false, false, false, "one port at a time"},
		{Team{Runner: LACP, Hash: DefaultHash, Ports: two}, false, true, true, "reads no ports"},
		{Team{Runner: LACP, Hash: Eth, Ports: two}, false, false, false, "all flows between two hosts"},
		{Team{Runner: LoadBalance, Hash: bothIP | allPorts, Ports: two}, true, true, true, "destination port alone"},
		{Team{Runner: LoadBalance, Hash: bothIP | allPorts, Balanced: true, Ports: two}, true, true, false, "by load"},
	} {
		r := c.team.Reach()
		if r.Ports != c.ports || r.Addresses != c.addresses || r.Chosen != c.chosen || !strings.Contains(r.Why, c.why) {
			t.Errorf("%+v: %+v", c.team, r)
		}
	}
	for _, r := range Runners() {
		var back Runner
		if err := back.UnmarshalText([]byte(r.String())); err != nil || back != r {
			t.Errorf("%s is read as %s, %v", r, back, err)
		}
	}
	var h Hash
	if err := h.UnmarshalText([]byte("eth,nonsense")); err == nil {
		t.Error("an unknown word is taken")
	}
}
