package predict

import (
	"errors"
	"fmt"
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict/testfabric"
)

func lane(src, dst string) flow.Lane {
	return flow.Lane{Src: netip.MustParseAddr(src), Dst: netip.MustParseAddr(dst)}
}

func TestLanes(t *testing.T) {
	bond := func(name string, addrs ...string) netstate.Host {
		return testfabric.Bond{Name: name, Addrs: addrs, Ports: 2, Speed: 1e9, Mode: netstate.LACP, Mtu: 1500}.Host()
	}
	docker := netstate.Link{Name: "docker0", Kind: "bridge", Up: true, Addresses: []netip.Prefix{netip.MustParsePrefix("172.17.0.1/16")}}
	with := func(h netstate.Host, l netstate.Link) netstate.Host { h.SetLink(l); return h }
	routed := func(h netstate.Host, dst, via string) netstate.Host {
		h.Routes = append(h.Routes, netstate.Route{Dst: netip.MustParsePrefix(dst), Gateway: netip.MustParseAddr(via)})
		return h
	}
	one := ibm(1500)
	half := one.Hosts["a"]
	half.Routes = nil
	for _, c := range []struct {
		name   string
		a, b   netstate.Host
		family string
		want   []flow.Lane
	}{
		{"one bond, one address", bond("a", "10.0.0.1/24"), bond("b", "10.0.0.2/24"), "", []flow.Lane{lane("10.0.0.1", "10.0.0.2")}},
		{"two aliases", bond("a", "10.0.0.1/24", "10.0.0.3/24"), bond("b", "10.0.0.2/24", "10.0.0.4/24"), "",
			[]flow.Lane{lane("10.0.0.1", "10.0.0.2"), lane("10.0.0.3", "10.0.0.4")}},
		{"aliases on one side", bond("a", "10.0.0.1/24"), bond("b", "10.0.0.2/24", "10.0.0.4/24", "10.0.0.6/24"), "",
			[]flow.Lane{lane("10.0.0.1", "10.0.0.2"), lane("10.0.0.1", "10.0.0.4"), lane("10.0.0.1", "10.0.0.6")}},
		{"two interfaces, two subnets", testfabric.Plain("a", 1e9, 1500, "10.0.1.1/24", "10.0.2.1/24"), testfabric.Plain("b", 1e9, 1500, "10.0.2.2/24", "10.0.1.2/24"), "",
			[]flow.Lane{lane("10.0.1.1", "10.0.1.2"), lane("10.0.2.1", "10.0.2.2")}},
		{"routes to single addresses", one.Hosts["a"], one.Hosts["b"], "",
			[]flow.Lane{lane("172.16.0.4", "172.16.0.104"), lane("172.16.0.5", "172.16.0.105")}},
		{"such routes on the other host only", half, one.Hosts["b"], "",
			[]flow.Lane{lane("172.16.0.4", "172.16.0.104"), lane("172.16.0.5", "172.16.0.105")}},
		{"IPv4 before IPv6", bond("a", "fd00::1/64", "10.0.0.1/24"), bond("b", "fd00::2/64", "10.0.0.2/24"), "", []flow.Lane{lane("10.0.0.1", "10.0.0.2")}},
		{"IPv6 asked for", bond("a", "fd00::1/64", "10.0.0.1/24", "fe80::1/64"), bond("b", "fe80::2/64", "fd00::2/64", "10.0.0.2/24"), "ipv6", []flow.Lane{lane("fd00::1", "fd00::2")}},
		{"IPv6 alone", bond("a", "fd00::1/64", "10.0.0.1/24"), bond("b", "fd00::2/64"), "", []flow.Lane{lane("fd00::1", "fd00::2")}},
		{"a container bridge on both", with(bond("a", "10.0.0.1/24"), docker), with(bond("b", "10.0.0.2/24"), docker), "", []flow.Lane{lane("10.0.0.1", "10.0.0.2")}},
		{"a router between", routed(bond("a", "10.0.0.1/24"), "0.0.0.0/0", "10.0.0.254"), routed(bond("b", "10.1.0.1/24"), "0.0.0.0/0", "10.1.0.254"), "",
			[]flow.Lane{lane("10.0.0.1", "10.1.0.1")}},
		{"a router between, the better route", routed(routed(bond("a", "10.0.0.1/24"), "0.0.0.0/0", "10.0.0.254"), "10.1.0.0/16", "10.0.0.253"),
			testfabric.Plain("b", 1e9, 1500, "192.0.2.7/24", "10.1.0.1/24"), "", []flow.Lane{lane("10.0.0.1", "10.1.0.1")}},
	} {
		got, err := Lanes(Fabric{Hosts: map[string]netstate.Host{"a": c.a, "b": c.b}}, "a", "b", c.family)
		if diff := cmp.Diff(c.want, got, cmp.Comparer(func(a, b netip.Addr) bool { return a == b })); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got)\n%s", c.name, err, diff)
		}
	}
	f := demo(netstate.Layer2, 1500)
	if _, err := Lanes(f, "a", "b", "ipv6"); !errors.Is(err, ErrNoLane) {
		t.Errorf("no IPv6 anywhere: %v; want ErrNoLane", err)
	}
	if _, err := Lanes(f, "a", "x", ""); !errors.Is(err, ErrUnknownHost) {
		t.Errorf("unknown host: %v", err)
	}
}

// TestBridgeOverBond: the address of a virtualisation host's bridge uses the
// bond under it; the guests' interfaces beside it do not count.
func TestBridgeOverBond(t *testing.T) {
	f := demo(netstate.Layer34, 9000)
	for _, name := range []string{"a", "b"} {
		h := f.Hosts[name].Clone()
		bond, _ := h.Link("bond0")
		addrs := bond.Addresses
		bond.Addresses, bond.Master = nil, "vmbr0"
		h.SetLink(bond)
		h.SetLink(netstate.Link{Name: "tap7", Kind: "tun", Master: "vmbr0", Up: true})
		h.SetLink(netstate.Link{Name: "vmbr0", Kind: "bridge", MTU: 9000, Up: true, Carrier: true, Addresses: addrs})
		f.Hosts[name] = h
	}
	p := mustPredict(t, f, Traffic{Streams: 2})
	if !near(p.Rate, 1e9*8948/9014, 1e-6) {
		t.Errorf("got %v, %+v", p.Rate, p.Limits)
	}
}

func TestCeilingMTU(t *testing.T) {
	f := demo(netstate.Layer2, 1500)
	for _, c := range []struct {
		mtu, used int
		d         flow.Direction
		want      float64
	}{{0, 1500, flow.Forward, 1e9 * 1448 / 1514}, {9000, 9000, flow.Forward, 1e9 * 8948 / 9014}, {9000, 9000, flow.Both, 2e9 * 8948 / 9014}} {
		got, used, err := CeilingOf(f, Between("a", "b", c.d, 1), c.mtu)
		if err != nil || used != c.used || !near(got, c.want, 1e-9) {
			t.Errorf("%+v: %v at %d, %v", c, got, used, err)
		}
	}
	mixed := JoinedHosts(testfabric.Plain("a", 1e9, 9000, "10.0.0.1/24"), testfabric.Plain("b", 1e9, 1500, "10.0.0.2/24"), 0, "")
	if got, used, err := CeilingOf(mixed, Between("a", "b", flow.Forward, 1), 0); err != nil || used != 1500 || !near(got, 1e9*1448/1538, 1e-9) {
		t.Errorf("unequal MTUs: %v at %d, %v", got, used, err)
	}
	blind := JoinedHosts(testfabric.Plain("a", 0, 1500, "10.0.0.1/24"), testfabric.Plain("b", 0, 1500, "10.0.0.2/24"), 0, "")
	if _, _, err := CeilingOf(blind, Between("a", "b", flow.Forward, 1), 0); !errors.Is(err, ErrUnknownSpeed) {
		t.Errorf("nothing known: %v; want ErrUnknownSpeed", err)
	}
}

func TestLinkShares(t *testing.T) {
	p := mustPredict(t, demo(netstate.Layer34, 9000), Traffic{Streams: 3})
	var got []string
	for _, l := range p.Links {
		got = append(got, fmt.Sprintf("%s/%s %s transmit=%v %.0f streams %v", l.Host, l.Link, l.Way, l.Transmit, l.Streams, l.Load))
	}
	want := []string{
		"a/a0 forward transmit=true 2 streams 496 Mbit/s", "a/a1 forward transmit=true 1 streams 496 Mbit/s",
		"b/b0 forward transmit=false 2 streams 496 Mbit/s", "b/b1 forward transmit=false 1 streams 496 Mbit/s",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestLinkSharesByChance: luck is told by itself for each end, also where the
// mean is a whole number.
func TestLinkSharesByChance(t *testing.T) {
	for _, c := range []struct {
		ports   string
		policy  netstate.HashPolicy
		streams int
		out, in bool
	}{
		{PortsKernel, netstate.Layer34, 2, true, true}, {PortsKernel, netstate.Layer34, 1, true, true},
		{PortsChosen, netstate.Layer34, 2, false, false}, {PortsKernel, netstate.Layer2, 2, false, true},
	} {
		f := demo(c.policy, 1500)
		for _, l := range mustPredict(t, f, Traffic{Streams: c.streams, Ports: c.ports}).Links {
			if want := l.Transmit && c.out || !l.Transmit && c.in; l.Chance != want {
				t.Errorf("%+v: %s of %s by chance %v", c, l.Link, l.Host, l.Chance)
			}
		}
	}
}
