package teamd

import (
	"errors"
	"strings"
	"testing"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/fabric/yamldoc"
	"github.com/linerate/linerate/render"
)

// moved reads one configuration, which must come to a fabric.
func moved(t *testing.T, config string) (text string, found render.Found) {
	t.Helper()
	found, err := Read(map[string]string{"/etc/teamd/team0.conf": config})
	if err != nil {
		t.Fatal(err)
	}
	text = string(found.FabricFile("h"))
	if _, err := fabric.Parse("f.yaml", []byte(text)); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return text, found
}

// TestMove: what each setting of a team comes to, and what is said of the rest. The
// configurations are made by teamd.conf(5).
func TestMove(t *testing.T) {
	ports := `"ports": {"eth1": {}, "eth2": {}}`
	for _, c := range []struct {
		name, config string
		want         []string // of the fabric
		not          []string
		said         []string // one line each, in the order of the file
	}{
		{"nothing said", `{` + ports + `}`, []string{"mode: balance-rr", "mii-monitor-interval: 100", "- eth1", "- eth2"}, []string{"transmit-hash-policy"}, nil},
		{"random", `{"runner": {"name": "random"}, ` + ports + `}`, []string{"mode: balance-rr", "packets-per-member: 0"}, nil, nil},
		{"broadcast", `{"runner": {"name": "broadcast"}, ` + ports + `}`, []string{"mode: broadcast"}, nil, nil},
		{"unknown runner", `{"runner": {"name": "nope"}, ` + ports + `}`, []string{"mode: balance-rr"}, nil, []string{"runner.name: teamd has no such runner"}},
		{
			"lacp", `{"runner": {"name": "lacp", "active": false, "fast_rate": true, "sys_prio": 100, "min_ports": 2, "agg_select_policy": "bandwidth", "tx_hash": ["l3", "l4"]},
			"link_watch": {"name": "ethtool", "delay_up": 2500}, "hwaddr": "52:54:00:AA:BB:CC", ` + ports + `}`,
			[]string{"mode: 802.3ad", "lacp-rate: fast", `lacp_active: "off"`, `ad_actor_sys_prio: "100"`, "min-links: 2", "ad-select: bandwidth", "transmit-hash-policy: layer3+4", "up-delay: 2500", "macaddress: 52:54:00:aa:bb:cc"}, nil,
			[]string{"runner.tx_hash: the bond hashes layer3+4"},
		},
		{
			"lacp by priority", `{"runner": {"name": "lacp", "min_ports": 1, "agg_select_policy": "lacp_prio_stable"}, "ports": {"eth1": {"lacp_prio": 10, "lacp_key": 3}, "eth2": {"lacp_prio": 255}}}`,
			[]string{"layer2+3"}, []string{"min-links", "ad-select", "port_prio"},
			[]string{"runner.tx_hash: without tx_hash teamd hashes eth,ipv4,ipv6; the bond hashes layer2+3.", "runner.agg_select_policy: no ad_select", "lacp_prio: a bond's port has one from Linux 6.18", "lacp_key: a bond makes the keys"},
		},
		{
			"balancer", `{"runner": {"name": "loadbalance", "tx_hash": ["ipv4", "tcp", "eths"], "tx_balancer": {"name": "basic", "balancing_interval": 50}}, ` + ports + `}`,
			[]string{"mode: balance-xor", "layer3+4"}, nil,
			[]string{"the nearest: it reads the addresses of IPv4 and IPv6 too; it reads the ports of every protocol; over IPv6", "skips it", "runner.tx_balancer: teamd moves flows"},
		},
		{"vlans", `{"runner": {"name": "loadbalance", "tx_hash": ["eth", "vlan"]}, ` + ports + `}`, []string{"transmit-hash-policy: layer2\n"}, nil, []string{"does not read the VLAN tag"}},
		{"no hash", `{"runner": {"name": "loadbalance", "tx_hash": []}, ` + ports + `}`, []string{"transmit-hash-policy: layer2\n"}, nil, []string{"it reads the MAC addresses"}},
		{
			"backup", `{"runner": {"name": "activebackup", "hwaddr_policy": "by_active"}, "notify_peers": {"count": 3, "interval": 200}, "mcast_rejoin": {"count": 2, "interval": 50},
			"ports": {"eth1": {"prio": -10, "sticky": true}, "eth2": {"prio": 100, "queue_id": 4}}}`,
			[]string{"primary: eth2", "primary-reselect-policy: failure", "fail-over-mac-policy: active", "gratuitous-arp: 3", `peer_notif_delay: "200"`, "resend-igmp: 2", "queue_id: 4"}, []string{"port_prio"},
			[]string{"the fastest port", "every 200 ms"},
		},
		{
			"three ports", `{"runner": {"name": "activebackup"}, "ports": {"a": {"prio": 1, "sticky": true}, "b": {"prio": 3}, "c": {"prio": 2}}}`,
			[]string{"primary: b", "failure", "port_prio: 1", "port_prio: 3", "port_prio: 2"}, nil, []string{"the fastest port", "teamd leaves c when b comes back, and not a (sticky)"},
		},
		{"equal ports", `{"runner": {"name": "activebackup"}, "ports": {"a": {"prio": 5, "sticky": true}, "b": {"prio": 5}}}`, []string{"mode: active-backup"}, []string{"primary", "port_prio"}, nil},
		{
			"arp", `{"runner": {"name": "activebackup"}, "link_watch_policy": "all", "link_watch": [{"name": "arp_ping", "interval": 100, "missed_max": 30, "target_host": "192.0.2.1", "validate_active": true, "validate_inactive": true},
			{"name": "nsna_ping", "interval": 100, "missed_max": 30, "target_host": "2001:db8::1", "validate_active": true, "validate_inactive": true}, {"name": "ethtool", "delay_up": 7}], ` + ports + `}`,
			[]string{"arp-interval: 100", "192.0.2.1", "ns_ip6_target: 2001:db8::1", `arp_missed_max: "30"`, "arp-all-targets: all", "arp-validate: all"}, []string{"mii-monitor-interval", "up-delay"},
			[]string{"a bond that watches by ARP has no such delay"},
		},
		{
			"arp beside the link", `{"runner": {"name": "activebackup"}, "link_watch": [{"name": "ethtool", "delay_down": 150}, {"name": "arp_ping", "target_host": "192.0.2.1"}], ` + ports + `}`,
			[]string{"mii-monitor-interval: 100", "down-delay: 200"}, []string{"arp-"}, []string{"in steps of its miimon: 200 ms", "it decides nothing"},
		},
		{"arp in lacp", `{"runner": {"name": "lacp", "tx_hash": ["eth"]}, "link_watch": {"name": "arp_ping", "target_host": "192.0.2.1"}, ` + ports + `}`, []string{"mii-monitor-interval"}, []string{"arp-"}, []string{"tx_hash", "takes no ARP monitoring"}},
		{"arp to a name", `{"link_watch": {"name": "arp_ping", "target_host": "gateway.example"}, ` + ports + `}`, []string{"mii-monitor-interval"}, []string{"arp-"}, []string{"not for names"}},
		{"arp's own three", `{"link_watch": {"name": "arp_ping", "target_host": "192.0.2.1", "source_host": "192.0.2.2", "init_wait": 0}, ` + ports + `}`, []string{"arp-interval: 1000"}, []string{"arp_missed_max"},
			[]string{"teamd lets 3 replies be missed, the bond 2", "from its own address"}},
		{
			"each port its own", `{"ports": {"a": {"link_watch": {"name": "ethtool", "delay_up": 300}}, "b": {"link_watch": {"name": "ethtool", "delay_up": 300}}, "c": {"link_watch": {"name": "tipc", "tipc_bearer": "x"}}, "d": {}}}`,
			[]string{"up-delay: 300"}, nil, []string{"ports.c.link_watch: a bond watches all", "ports.d.link_watch: a bond watches all"},
		},
		{"what nobody knows", `{"runner": {"name": "roundrobin", "fast_rate": true, "x": [1, {"y": null, "z": "w"}]}, "debug_level": 1, ` + ports + `}`, []string{"balance-rr"}, nil,
			[]string{"runner.fast_rate: a bond in mode balance-rr has nothing like it", "runner.x: a bond has nothing", "runner.x.z: a bond has nothing"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			text, found := moved(t, c.config)
			for _, want := range c.want {
				if !strings.Contains(text, want) {
					t.Errorf("lacks %q:\n%s", want, text)
				}
			}
			for _, not := range c.not {
				if strings.Contains(text, not) {
					t.Errorf("has %q:\n%s", not, text)
				}
			}
			if len(found.Unread) != len(c.said) {
				t.Errorf("%d lines, want %d: %v", len(found.Unread), len(c.said), found.Unread)
			}
			for _, want := range c.said {
				if !strings.Contains(lines(found.Unread), want) {
					t.Errorf("nothing says %q:\n%s", want, lines(found.Unread))
				}
			}
			if len(found.Warnings) != 1 || !strings.Contains(found.Warnings[0].String(), "teamd makes this team now") {
				t.Errorf("warnings %v", found.Warnings)
			}
		})
	}
}

func lines(unread []render.Unread) string {
	var b strings.Builder
	for _, u := range unread {
		b.WriteString(u.String() + "\n")
	}
	return b.String()
}

func TestRead(t *testing.T) {
	found, err := Read(map[string]string{"/x/a.conf": `{"device": "team7", "ports": {"e1": {}}}`, "/x/b.conf": `{"device": "team7"}`, "/x/c.conf": "{\n  \"a\": 1,\n  \"a\": 2\n}", "/x/d.conf": `{"device": "not a name"}`})
	if err != nil {
		t.Fatal(err)
	}
	said := lines(found.Unread)
	for _, want := range []string{"/x/b.conf:1: device: another file", "/x/c.conf:3:", "there twice", "/x/d.conf:1: device: is no interface's name"} {
		if !strings.Contains(said, want) {
			t.Errorf("lacks %q:\n%s", want, said)
		}
	}
	if _, err := Read(map[string]string{"/x/a.conf": "no JSON"}); !errors.Is(err, render.ErrEmpty) {
		t.Errorf("error %v", err)
	}
}

func TestParsePlaces(t *testing.T) {
	n, err := Parse("{\n\t\"ä\":\t[1, \"x\"],\n  \"ports\": {\"e\":\n {\"prio\": -10}}}")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		n            *yamldoc.Node
		line, column int
		text         string
	}{{n.Get("ä").Items[1], 2, 11, "x"}, {n.Get("ports").Get("e").Get("prio"), 4, 11, "-10"}} {
		if c.n.Line != c.line || c.n.Column != c.column || c.n.Text != c.text {
			t.Errorf("%q at %d:%d, want %q at %d:%d", c.n.Text, c.n.Line, c.n.Column, c.text, c.line, c.column)
		}
	}
	for _, bad := range []string{"", "[]", "{", `{"a": }`, "{} {}", `{"a": 1,, "b": 2}`, strings.Repeat(`{"a":`, 100) + "1" + strings.Repeat("}", 100)} {
		if _, err := Parse(bad); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}

// FuzzRead: no text is a panic, and what is read is a fabric.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		`{"device": "team0", "runner": {"name": "lacp", "tx_hash": ["eth", "l3", "l4"], "fast_rate": true}, "link_watch": [{"name": "arp_ping", "target_host": "192.0.2.1"}], "ports": {"eth1": {"prio": 7, "sticky": true}, "eth2": {}}}`,
		`{"runner": {"name": "activebackup"}, "ports": {"a/b": {}, "c": {"prio": "x", "link_watch": 3}}}`, `{"link_watch": "x", "hwaddr": 0, "ports": []}`, `{`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		Is(text)
		found, err := Read(map[string]string{"/etc/teamd/team0.conf": text})
		if err != nil {
			return
		}
		if _, err := fabric.Parse("f.yaml", found.FabricFile("h")); err != nil {
			t.Errorf("%v\n%s", err, found.FabricFile("h"))
		}
	})
}
