package paste

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
)

// factCase is an output and what it says: "SUBJECT: KEY=VALUE KEY=VALUE", a value
// with blanks in quotes; a dash in front of a key says that it is absent.
type factCase struct {
	name, text string
	want       []string
}

func TestFacts(t *testing.T) {
	for _, c := range slices.Concat(factCases, centreCases) {
		t.Run(c.name, func(t *testing.T) {
			got := Parse([]piece.Text{{Name: "x", Bytes: []byte(c.text)}})
			for _, want := range c.want {
				subject, rest, _ := strings.Cut(want, ": ")
				host := &piece.Host{}
				for _, h := range got.Hosts {
					if h.Facts[subject] != nil {
						host = h
					}
				}
				for _, pair := range quotedFields(rest) {
					key, value, _ := strings.Cut(pair, "=")
					if absent, ok := strings.CutPrefix(key, "-"); ok {
						if v, there := host.Get(subject, absent); there {
							t.Errorf("%s: %s is %q, want none", subject, absent, v.Text)
						}
					} else if v, _ := host.Get(subject, key); v.Text != value {
						t.Errorf("%s: %s is %q, want %q", subject, key, v.Text, value)
					}
				}
			}
			for _, n := range got.NotRead {
				if !strings.Contains(c.text, "prose") {
					t.Errorf("not read: %v", n.Source)
				}
			}
		})
	}
}

// quotedFields parts at blanks outside of quotes.
func quotedFields(s string) []string {
	quoted := false
	all := strings.FieldsFunc(s, func(r rune) bool {
		if r == '"' {
			quoted = !quoted
		}
		return r == ' ' && !quoted
	})
	for i := range all {
		all[i] = strings.ReplaceAll(all[i], `"`, "")
	}
	return all
}

func TestRoutesRead(t *testing.T) {
	const text = `$ ip route
default via 192.0.2.254 dev bond0 proto static metric 100
192.0.2.0/24 dev bond0 proto kernel scope link src 192.0.2.1
198.51.100.0/24 nhid 9 proto ospf metric 20
	nexthop via 192.0.2.2 dev eth1 weight 1
	nexthop via 192.0.2.3 dev eth2 weight 2 linkdown
blackhole 203.0.113.0/24
$ ip -d route show table 7
unicast default via 192.0.2.253 dev eth3 proto boot scope global
$ ip rule
0:	from all lookup local
100:	from 192.0.2.9 lookup 7
101:	not from 192.0.2.8/30 fwmark 0x1 lookup storage
$ ip route get 198.51.100.7 from 192.0.2.1
198.51.100.7 from 192.0.2.1 via 192.0.2.2 dev eth1 uid 0
    cache
$ route -n
Kernel IP routing table
Destination     Gateway         Genmask         Flags Metric Ref    Use Iface
0.0.0.0         192.0.2.1       0.0.0.0         UG    5      0        0 eth9
192.0.2.128     0.0.0.0         255.255.255.128 U     0      0        0 eth8
`
	c := Parse([]piece.Text{{Name: "x", Bytes: []byte(text)}})
	if len(c.NotRead) > 0 {
		t.Errorf("not read: %v", c.NotRead)
	}
	h := c.Hosts[0]
	var got []string
	for _, r := range h.Routes {
		row := fmt.Sprint(r.Dst, " ", r.Link, " ", r.Table, " ", r.Metric, " ", r.Type)
		if r.Gateway.IsValid() {
			row += " via " + r.Gateway.String()
		}
		for _, hop := range r.Hops {
			row += fmt.Sprint(" | ", hop.Gateway, " ", hop.Link, " ", hop.Weight, " ", hop.Dead)
		}
		got = append(got, row)
	}
	want := []string{
		"0.0.0.0/0 bond0 254 100  via 192.0.2.254",
		"192.0.2.0/24 bond0 254 0 ",
		"198.51.100.0/24  254 20  | 192.0.2.2 eth1 1 false | 192.0.2.3 eth2 2 true",
		"203.0.113.0/24  254 0 blackhole",
		"0.0.0.0/0 eth3 7 0  via 192.0.2.253",
		"0.0.0.0/0 eth9 254 5  via 192.0.2.1",
		"192.0.2.128/25 eth8 254 0 ",
	}
	if !slices.Equal(got, want) {
		t.Errorf("routes\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if r := h.Routes[2]; r.From != 4 || r.To != 6 {
		t.Errorf("the multipath route stands in lines %d-%d", r.From, r.To)
	}
	if len(h.Rules) != 3 || h.Rules[1].Table != 7 || h.Rules[1].Rule.From != netip.MustParsePrefix("192.0.2.9/32") ||
		h.Rules[2].TableName != "storage" || h.Rules[2].Selectors != "not fwmark 0x1" {
		t.Errorf("rules %+v", h.Rules)
	}
	if v, _ := h.Get("path 198.51.100.7", "dev"); v.Text != "eth1" {
		t.Errorf("the path's link is %q", v.Text)
	}
}

// TestPortOrder: ports stay in the order that the file has, which the hash counts by.
func TestPortOrder(t *testing.T) {
	c := Parse([]piece.Text{{Name: "x", Bytes: []byte("Slave Interface: eth10\nMII Status: up\nSlave Interface: eth2\nMII Status: up\n")}})
	if got := c.Hosts[0].Ports["bond0"]; !slices.Equal(got, []string{"eth10", "eth2"}) {
		t.Errorf("ports %v", got)
	}
}

// TestCutAnywhere: any head or tail of an output is read without a panic, and says
// nothing that the whole does not.
func TestCutAnywhere(t *testing.T) {
	for _, c := range slices.Concat(factCases, centreCases) {
		lines := strings.Split(c.text, "\n")
		for i := range lines {
			Parse([]piece.Text{{Name: "x", Bytes: []byte(strings.Join(lines[i:], "\n"))}})
			Parse([]piece.Text{{Name: "x", Bytes: []byte(strings.Join(lines[:i], "\n"))}})
		}
	}
}
