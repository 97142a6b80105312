package plan_test

import (
	"errors"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/plan"
)

func bondOf(ports ...string) netstate.Link {
	l, _ := plan.Fresh("b", plan.Made{Kind: "bond"}, netstate.Host{})
	l.Bond.Ports, l.Up = ports, true
	l.Bond.Miimon = 100 * time.Millisecond
	l.Addresses = []netip.Prefix{netip.MustParsePrefix("10.0.0.1/24")}
	return l
}

// TestRefuses: each rule by its words, and nothing planned.
func TestRefuses(t *testing.T) {
	vlan := func(name, parent string, id int) netstate.Link {
		return netstate.Link{Name: name, Kind: "vlan", VLAN: &netstate.VLAN{ID: id, Parent: parent}}
	}
	for name, tt := range map[string]struct {
		wish func(h *netstate.Host)
		want string
	}{
		"VLAN on a missing link": {func(h *netstate.Host) { h.SetLink(vlan("v", "nope", 7)) }, "there is no such link"},
		"VLAN ID":                {func(h *netstate.Host) { h.SetLink(vlan("v", "p0", 4095)) }, "outside 1 to 4094"},
		"VLAN on itself":         {func(h *netstate.Host) { h.SetLink(vlan("v", "w", 7)); h.SetLink(vlan("w", "v", 7)) }, "on itself"},
		"name":                   {func(h *netstate.Host) { h.SetLink(vlan("a name of far too many bytes", "p0", 7)) }, "dev_valid_name"},
		"unknown kind":           {func(h *netstate.Host) { h.SetLink(netstate.Link{Name: "br0", Kind: "bridge"}) }, "makes only bonds, VLANs and dummies"},
		"two bonds": {func(h *netstate.Host) {
			b, c := bondOf("p1"), bondOf("p1")
			c.Name, c.Addresses = "c", nil
			h.SetLink(b)
			h.SetLink(c)
		}, "a link can be in one bond only"},
		"port twice":       {func(h *netstate.Host) { h.SetLink(bondOf("p1", "p1")) }, "named twice"},
		"missing port":     {func(h *netstate.Host) { h.SetLink(bondOf("p9")) }, "there is no link p9"},
		"loopback":         {func(h *netstate.Host) { h.SetLink(bondOf("lo")) }, "loopback"},
		"a VLAN on itself": {func(h *netstate.Host) { h.SetLink(vlan("v", "b", 7)); h.SetLink(bondOf("v")) }, "VLAN on b itself"},
		"cut off": {func(h *netstate.Host) {
			b := bondOf("p0")
			b.Addresses = nil
			h.SetLink(b)
		}, "no other link gets"},
		"duplicate address": {func(h *netstate.Host) {
			l, _ := h.Link("p1")
			l.Addresses = []netip.Prefix{netip.MustParsePrefix("10.0.0.1/32")}
			h.SetLink(l)
		}, "on one link of a host only"},
		"MTU 70000": {func(h *netstate.Host) {
			b := bondOf("p1")
			b.Addresses, b.MTU = nil, 70000
			h.SetLink(b)
		}, "outside the 68 to 65535"},
		"MTU of a port": {func(h *netstate.Host) {
			b := bondOf("p1")
			b.Addresses, b.MTU = nil, 9500
			h.SetLink(b)
		}, "its port p1 can"},
		"sysctl":  {func(h *netstate.Host) { h.Sysctls["net.ipv4.nope"] = netstate.Sysctl{Value: "1"} }, "not observed"},
		"kind":    {func(h *netstate.Host) { h.Absent = []string{"p1"} }, "all that a plan deletes"},
		"ring":    {func(h *netstate.Host) { h.Links[1].Device.Rings.Rx = 9999 }, "more than the 4096"},
		"offload": {func(h *netstate.Host) { h.Links[1].Offloads["nope"] = true }, "no such offload"},
		"rule": {func(h *netstate.Host) {
			h.Rules = append(h.Rules, netstate.Rule{Table: 9, From: netip.MustParsePrefix("10.0.0.1/32")})
		}, "needs a priority"},
		"no MPTCP": {func(h *netstate.Host) { h.MPTCP.Subflows = 9 }, "EINVAL"},
		"option of another mode": {func(h *netstate.Host) {
			b := bondOf("p1")
			b.Addresses, b.Bond.LACPRate = nil, netstate.LACPFast
			h.SetLink(b)
		}, "only in mode 802.3ad"},
		"option of a newer kernel": {func(h *netstate.Host) {
			b := bondOf("p1")
			b.Addresses = nil
			b.Bond.Mode, b.Bond.Options["broadcast_neighbor"] = netstate.LACP, "on"
			h.SetLink(b)
		}, "came with Linux 6.17"},
		"carrier by ioctl": {func(h *netstate.Host) {
			b := bondOf("p1")
			b.Addresses = nil
			b.Bond.Options["use_carrier"] = "0"
			h.SetLink(b)
			h.Kernel.Release = "6.18.1"
		}, "takes no 0"},
		"lease cut off": {func(h *netstate.Host) { h.SetLink(bondOf("p2")) }, "leased 10.5.0.9/24"},
	} {
		t.Run(name, func(t *testing.T) {
			observed := anyHost()
			observed.Links = append(observed.Links, netstate.Link{Name: "lo", Kind: "loopback", Up: true})
			observed.Links[2].Addresses = []netip.Prefix{netip.MustParsePrefix("10.5.0.9/24")}
			observed.Links[2].Leases = observed.Links[2].Addresses
			desired := observed.Clone()
			tt.wish(&desired)
			observed.Kernel = desired.Kernel
			p, err := plan.Between(observed, desired)
			var broken *plan.RuleError
			if !errors.As(err, &broken) || !strings.Contains(err.Error(), tt.want) || len(p.Steps) > 0 {
				t.Errorf("%v, want %q\n%s", err, tt.want, p.Text(80))
			}
		})
	}
}

// TestLeaseGoesWithItsPort: `dhcp4: true` on the bond keeps the lease and its
// routes, and says that it may change.
func TestLeaseGoesWithItsPort(t *testing.T) {
	observed := anyHost()
	p0 := &observed.Links[0]
	p0.Leases = p0.Addresses
	observed.Routes[0].Protocol = "dhcp"
	desired := observed.Clone()
	b := bondOf("p0", "p1")
	b.Leases = b.Addresses
	desired.SetLink(b)
	p, err := plan.Between(observed, desired)
	if err != nil {
		t.Fatal(err)
	}
	after, err := plan.Apply(observed, p)
	if err != nil {
		t.Fatal(err)
	}
	l, _ := after.Link("b")
	if !slices.Equal(l.Addresses, b.Addresses) || len(after.Routes) != 1 || after.Routes[0].Link != "b" || after.Routes[0].Protocol != "dhcp" {
		t.Errorf("%v %v\n%s", l.Addresses, after.Routes, p.Text(80))
	}
	if !strings.Contains(p.Text(80), "the leased 10.0.0.1/24 moves to b; it may change") {
		t.Errorf("no warning:\n%s", p.Text(80))
	}
	rest, err := plan.Between(after, desired)
	if err != nil || len(rest.Steps) > 0 {
		t.Errorf("left: %v\n%s", err, rest.Text(80))
	}
	before, err := plan.Apply(after, p.Rollback())
	if err != nil || !slices.Equal(before.Links[0].Addresses, p0.Addresses) || before.Routes[0].Link != "p0" {
		t.Errorf("undone: %v %v", err, before.Routes)
	}
}

// TestQdiscWords: what a person writes, what the steps say, and that saying it
// again changes nothing.
func TestQdiscWords(t *testing.T) {
	for in, want := range map[string]string{
		"fq maxrate 10gbit":                         "fq maxrate 10000000000bit",
		"fq limit 10000":                            "fq",
		"fq_codel":                                  "fq_codel",
		"tbf rate 100mbit burst 128kb limit 1mb":    "tbf rate 100000000bit burst 131072b limit 1048576b",
		"tbf rate 10gbit burst 128000b limit 1000b": "tbf rate 10000000000bit burst 128000b limit 1000b",
		"default":                                   "default",
	} {
		q, err := plan.ParseQdisc(in)
		if err != nil {
			t.Errorf("%s: %v", in, err)
			continue
		}
		got, err := plan.QdiscWords(q)
		if err != nil || got != want {
			t.Errorf("%s: %q, %v; want %q", in, got, err, want)
		}
		if again, err := plan.ParseQdisc(got); err != nil || again != q {
			t.Errorf("%s again: %+v, %v", got, again, err)
		}
	}
	for _, bad := range []string{"", "htb", "fq maxrate", "fq burst 1", "tbf rate 1mbit", "fq maxrate 40gbit", "fq maxrate x", "fq limit 0", "fq limit 1 limit 2", "pfifo limit -1"} {
		if q, err := plan.ParseQdisc(bad); err == nil {
			t.Errorf("%q is %+v", bad, q)
		}
	}
}

// FuzzQdisc: what is read is spelled, and read again the same.
func FuzzQdisc(f *testing.F) {
	for _, s := range []string{"fq maxrate 10gbit", "tbf rate 1mbit burst 10kb limit 1mb", "default", "pfifo limit 7p"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		q, err := plan.ParseQdisc(s)
		if err != nil {
			return
		}
		w, err := plan.QdiscWords(q)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := plan.ParseQdisc(w); err != nil || again != q {
			t.Errorf("%q is %q, and that %+v, %v; want %+v", s, w, again, err, q)
		}
	})
}
