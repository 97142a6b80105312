package snippet

import (
	"encoding/json"
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/steer"
)

func lane(src, dst string) flow.Lane {
	return flow.Lane{Src: netip.MustParseAddr(src), Dst: netip.MustParseAddr(dst)}
}

func mac(t *testing.T, s string) (m flow.MAC) {
	t.Helper()
	if err := m.UnmarshalText([]byte(s)); err != nil {
		t.Fatal(err)
	}
	return m
}

func TestProgramWords(t *testing.T) {
	for i, word := range Programs() {
		p := Program(99)
		if err := p.UnmarshalText([]byte(word)); err != nil || int(p) != i || p.String() != word {
			t.Errorf("%s reads as %v, %v", word, p, err)
		}
	}
	var p Program
	if err := p.UnmarshalText([]byte("iperf")); err == nil {
		t.Error("iperf was accepted, and could be 2 or 3")
	}
}

func TestSnippets(t *testing.T) {
	v4, v6 := []flow.Lane{lane("192.168.10.1", "192.168.10.2")}, []flow.Lane{lane("2001:db8::1", "2001:db8::2")}
	layer34 := func(links int) steer.Bundle { return steer.Declared(netstate.Layer34, links) }
	for _, tt := range []struct {
		name    string
		program Program
		req     steer.PickRequest
		want    Snippet // notes are compared by what they contain
		notes   []string
	}{
		{"iperf3, a run of ports", IPerf3, steer.PickRequest{Near: layer34(2), Lanes: v4, Streams: 4}, Snippet{
			Exact: true, Receiver: []string{"iperf3 -s -1 -p 5201"}, Sender: []string{"iperf3 -c 192.168.10.2 -p 5201 -B 192.168.10.1 --cport 40000 -P 4"},
		}, nil},
		{"iperf3, three on four by UDP", IPerf3, steer.PickRequest{Near: layer34(4), Lanes: v4, Streams: 3, Dport: 6000, Proto: flow.UDP}, Snippet{
			Exact: true, Receiver: []string{"iperf3 -s -1 -D -p 6000", "iperf3 -s -1 -D -p 6001", "iperf3 -s -1 -D -p 6002"},
			Sender: []string{
				"iperf3 -c 192.168.10.2 -p 6000 -B 192.168.10.1 --cport 40000 -u &", "iperf3 -c 192.168.10.2 -p 6001 -B 192.168.10.1 --cport 40002 -u &",
				"iperf3 -c 192.168.10.2 -p 6002 -B 192.168.10.1 --cport 40006 -u; wait",
			},
		}, []string{"-b sets the rate"}},
		{"iperf3, four on four", IPerf3, steer.PickRequest{Near: layer34(4), Lanes: v4, Streams: 4}, Snippet{
			Exact:    true,
			Receiver: []string{"iperf3 -s -1 -D -p 5201", "iperf3 -s -1 -D -p 5202", "iperf3 -s -1 -D -p 5203", "iperf3 -s -1 -D -p 5204"},
			Sender: []string{
				"iperf3 -c 192.168.10.2 -p 5201 -B 192.168.10.1 --cport 40002 &", "iperf3 -c 192.168.10.2 -p 5202 -B 192.168.10.1 --cport 40003 &",
				"iperf3 -c 192.168.10.2 -p 5203 -B 192.168.10.1 --cport 40004 &", "iperf3 -c 192.168.10.2 -p 5204 -B 192.168.10.1 --cport 40000; wait",
			},
		}, nil},
		{"iperf3, too few servers", IPerf3, steer.PickRequest{Near: layer34(2), Lanes: v4, Streams: 4, Dports: []uint16{1, 2}}, Snippet{
			Receiver: []string{"iperf3 -s -1 -D -p 1", "iperf3 -s -1 -D -p 2"},
			Sender: []string{
				"iperf3 -c 192.168.10.2 -p 1 -B 192.168.10.1 --cport 40002 &", "iperf3 -c 192.168.10.2 -p 2 -B 192.168.10.1 --cport 40003 &",
				"iperf3 -c 192.168.10.2 -p 1 -B 192.168.10.1 --cport 40006 &", "iperf3 -c 192.168.10.2 -p 2 -B 192.168.10.1 --cport 40007; wait",
			},
		}, []string{"one client at a time"}},
		{"iperf2", IPerf2, steer.PickRequest{Near: layer34(2), Lanes: v4, Streams: 2}, Snippet{
			Exact: true, Receiver: []string{"iperf -s -p 5201"},
			Sender: []string{"iperf -c 192.168.10.2 -p 5201 -B 192.168.10.1:40002 &", "iperf -c 192.168.10.2 -p 5201 -B 192.168.10.1:40000; wait"},
		}, nil},
		{"iperf2 of IPv6", IPerf2, steer.PickRequest{Near: layer34(2), Lanes: v6, Streams: 1, Proto: flow.UDP}, Snippet{
			Receiver: []string{"iperf -s -V -u -p 5201"}, Sender: []string{"iperf -c 2001:db8::2 -V -u -p 5201 -B '[2001:db8::1]:40002'"},
		}, []string{"does not bind the port of an IPv6 address", "-b sets the rate"}},
		{"nfs", NFS, steer.PickRequest{Near: layer34(2), Lanes: v6, Streams: 4}, Snippet{
			Exact: true, Sender: []string{"modprobe sunrpc", "sysctl -w sunrpc.min_resvport=665 sunrpc.max_resvport=668", "mount -t nfs -o nconnect=4,proto=tcp [2001:db8::2]:/EXPORT /MOUNTPOINT"},
		}, []string{"all 4 ports of the window"}},
		{"nfs, four cannot be even on four", NFS, steer.PickRequest{Near: layer34(4), Lanes: v4, Streams: 4}, Snippet{
			Exact: true, Sender: []string{"modprobe sunrpc", "sysctl -w sunrpc.min_resvport=665 sunrpc.max_resvport=672", "mount -t nfs -o nconnect=8,proto=tcp 192.168.10.2:/EXPORT /MOUNTPOINT"},
		}, []string{"no run of 4 ports is even", "all 8 ports"}},
		{"nfs, ports of the user's", NFS, steer.PickRequest{Near: layer34(2), Lanes: v4, Streams: 2, FirstPort: 2000, LastPort: 3000}, Snippet{
			Exact: true, Sender: []string{"modprobe sunrpc", "sysctl -w sunrpc.min_resvport=2001 sunrpc.max_resvport=2002", "mount -t nfs -o nconnect=2,proto=tcp 192.168.10.2:/EXPORT /MOUNTPOINT"},
		}, []string{"insecure"}},
		{"rclone by addresses", Rclone, steer.PickRequest{
			Near: steer.Declared(netstate.Layer23, 2), SrcMAC: mac(t, "02:00:00:00:01:11"), DstMAC: mac(t, "02:00:00:00:02:22"),
			Lanes: []flow.Lane{lane("10.0.0.1", "10.0.0.9"), lane("10.0.0.2", "10.0.0.9")}, Streams: 2,
		}, Snippet{
			Exact: true,
			Sender: []string{
				"rclone copy SOURCE/PART1 REMOTE:PATH --bind 10.0.0.2 --transfers 1 &", "rclone copy SOURCE/PART2 REMOTE:PATH --bind 10.0.0.1 --transfers 1; wait",
			},
		}, []string{"a part of the source"}},
		{"rclone by ports", Rclone, steer.PickRequest{Near: layer34(4), Lanes: v4, Streams: 4}, Snippet{
			Sender: []string{"rclone copy SOURCE REMOTE:PATH --bind 192.168.10.1 --transfers 4"},
		}, []string{"4 connections use all 4 links 9 % of the time; with 21"}},
		{"wdt by ports", WDT, steer.PickRequest{Near: layer34(2), Lanes: v4, Streams: 4}, Snippet{
			Receiver: []string{"wdt -directory /DESTINATION -start_port 22356 -num_ports 4"}, Sender: []string{"wdt -directory /SOURCE -destination 192.168.10.2 -start_port 22356 -num_ports 4"},
		}, []string{"left to chance"}},
		{"wdt on AIX by destination port", WDT, steer.PickRequest{Near: steer.EtherChannel{Hash: steer.ChannelHashDstPort, Adapters: []string{"ent0", "ent1"}}, Lanes: v4, Streams: 4}, Snippet{
			Exact: true, Receiver: []string{"wdt -directory /DESTINATION -start_port 22356 -num_ports 4"},
			Sender: []string{"wdt -directory /SOURCE -destination 192.168.10.2 -start_port 22356 -num_ports 4"},
		}, nil},
		{"wdt, layer2+3", WDT, steer.PickRequest{Near: steer.Declared(netstate.Layer23, 2), Lanes: v4, Streams: 2}, Snippet{
			Receiver: []string{"wdt -directory /DESTINATION -start_port 22356 -num_ports 2"}, Sender: []string{"wdt -directory /SOURCE -destination 192.168.10.2 -start_port 22356 -num_ports 2"},
		}, []string{"linerate steer addresses chooses some that do"}},
		{"a list", AnyProgram, steer.PickRequest{Near: layer34(2), Lanes: v6, Streams: 2}, Snippet{
			Exact: true, Sender: []string{"[2001:db8::1]:40002 [2001:db8::2]:5201", "[2001:db8::1]:40000 [2001:db8::2]:5201"},
		}, []string{"SO_REUSEADDR"}},
	} {
		p, got, err := For(tt.program, tt.req)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		notes := strings.Join(got.Notes, "\n")
		for _, want := range tt.notes {
			if !strings.Contains(notes, want) {
				t.Errorf("%s: notes %q, want %q", tt.name, notes, want)
			}
		}
		tt.want.Program, got.Notes = tt.program, nil
		if d := cmp.Diff(tt.want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, d)
		}
		if got.Exact && !p.Even {
			t.Errorf("%s: exact, but %v", tt.name, p.PerLink)
		}
	}
}

func TestSnippetJSON(t *testing.T) {
	_, r, err := For(IPerf2, steer.PickRequest{Near: steer.Declared(netstate.Layer34, 1), Lanes: []flow.Lane{lane("10.0.0.1", "10.0.0.2")}, Streams: 1})
	if err != nil {
		t.Fatal(err)
	}
	got, err := json.Marshal(r)
	want := `{"program":"iperf2","exact":true,"receiver":["iperf -s -p 5201"],"sender":["iperf -c 10.0.0.2 -p 5201 -B 10.0.0.1:40000"]}`
	if string(got) != want || err != nil {
		t.Errorf("%s, %v\nwant %s", got, err, want)
	}
}
