package act

import (
	"errors"
	"io/fs"
	"net"
	"net/netip"
	"strings"
	"syscall"
	"testing"

	"github.com/vishvananda/netlink"

	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/plan"
)

// present is a step that makes what other describes.
func present(s plan.Step) plan.Step {
	s.Old, s.New = plan.Absent, plan.Present
	return s
}

// cable makes the veths v0 and v1, up, with two addresses on v0.
func cable(t *testing.T) {
	t.Helper()
	must(t, netlink.LinkAdd(&netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: "v0"}, PeerName: "v1"}))
	for _, name := range []string{"v0", "v1"} {
		must(t, do(t.Context(), plan.Step{Kind: plan.LinkState, Link: name, New: plan.Up}))
	}
	must(t, setAddress("v0", netip.MustParsePrefix("10.77.0.1/24"), false, plan.Present))
	must(t, setAddress("v0", netip.MustParsePrefix("fd77::1/64"), false, plan.Present))
}

// undelivered makes routes of every type that delivers nothing, in both families, also
// where the step names a link or a gateway: the kernel has them on none, or on lo.
func undelivered(route func(netstate.Route) plan.Step) []plan.Step {
	var all []plan.Step
	for i, kind := range []string{"blackhole", "unreachable", "prohibit", "throw"} {
		for _, dst := range []string{"10.40.0.0/16", "fd40::/48"} {
			p := netip.MustParsePrefix(dst)
			all = append(all,
				route(netstate.Route{Dst: p, Type: kind, Table: 254, Metric: 2000 + i}),
				route(netstate.Route{Dst: p, Type: kind, Table: 100 + i}),
				route(netstate.Route{Dst: p, Type: kind, Table: 200 + i, Link: "v0"}),
				route(netstate.Route{Dst: p, Type: kind, Table: 300 + i, Link: "v0", Gateway: map[bool]netip.Addr{true: netip.MustParseAddr("10.77.0.254"), false: netip.MustParseAddr("fd77::9")}[p.Addr().Is4()]}),
				route(netstate.Route{Dst: p, Type: kind, Table: 400 + i, MTU: 1400, Metrics: map[string]string{"initcwnd": "20"}}))
		}
	}
	return all
}

// TestKernelKinds carries out, and takes back, every kind of step that the
// running kernel has something for.
func TestKernelKinds(t *testing.T) {
	addr, prefix := netip.MustParseAddr, netip.MustParsePrefix
	via := addr("10.77.0.254")
	route := func(r netstate.Route) plan.Step {
		r.Protocol = "static"
		return present(plan.Step{Kind: plan.Route, Link: r.Link, Route: &r})
	}
	rule := func(r netstate.Rule) plan.Step {
		r.Protocol = "static"
		return present(plan.Step{Kind: plan.Rule, Rule: &r})
	}
	for name, steps := range map[string][]plan.Step{
		"routes": {
			route(netstate.Route{Dst: prefix("0.0.0.0/0"), Gateway: via, Link: "v0", Table: 254}),
			route(netstate.Route{Dst: prefix("10.1.0.5/32"), Gateway: via, Link: "v0", Table: 101, Metric: 7, Source: addr("10.77.0.1"), MTU: 1400, Metrics: map[string]string{"advmss": "1300", "initcwnd": "20", "congctl": "reno"}}),
			route(netstate.Route{Dst: prefix("10.2.0.0/16"), Gateway: addr("192.0.2.1"), Link: "v0", OnLink: true, Table: 254}),
			route(netstate.Route{Dst: prefix("10.3.0.0/16"), Link: "v0", Table: 4711}),
			route(netstate.Route{Dst: prefix("10.4.0.0/16"), Type: "blackhole", Table: 254}),
			route(netstate.Route{Dst: prefix("10.4.0.0/16"), Type: "unreachable", Table: 254, Metric: 9}),
			route(netstate.Route{Dst: prefix("10.5.0.0/16"), Table: 254, Hops: []netstate.NextHop{{Gateway: via, Link: "v0", Weight: 2}, {Gateway: addr("10.77.0.253"), Link: "v0", Weight: 1}, {Gateway: addr("192.0.2.9"), Link: "v0", Weight: 1, OnLink: true}}}),
			route(netstate.Route{Dst: prefix("10.6.0.0/16"), Gateway: addr("fd77::9"), Link: "v0", Table: 254}),
			route(netstate.Route{Dst: prefix("::/0"), Gateway: addr("fe80::9"), Link: "v0", Table: 254, Metric: 1024}),
			route(netstate.Route{Dst: prefix("fd01::/48"), Gateway: addr("fd77::9"), Link: "v0", Table: 200, Metric: 50, MTU: 1400, Metrics: map[string]string{"advmss": "1300"}}),
			route(netstate.Route{Dst: prefix("fd02::/48"), Table: 254, Hops: []netstate.NextHop{{Gateway: addr("fd77::9"), Link: "v0", Weight: 3}, {Gateway: addr("fd77::8"), Link: "v0", Weight: 1}}}),
			route(netstate.Route{Dst: prefix("fd03::/48"), Type: "prohibit", Table: 254}),
		},
		"routes that lead nowhere": undelivered(route),
		"rules": {
			rule(netstate.Rule{Priority: 101, From: prefix("10.77.0.1/32"), Table: 101}),
			rule(netstate.Rule{Priority: 102, From: prefix("10.77.0.0/24"), To: prefix("10.0.0.0/8"), Table: 4711, Family: "ipv4"}),
			rule(netstate.Rule{Priority: 103, Family: "ipv4", Table: 254, Selectors: "suppress_prefixlength 0"}),
			rule(netstate.Rule{Priority: 104, Family: "ipv6", Table: 100, Selectors: "not iif v0 oif lo ipproto 6 sport 10-20 dport 80-80 uidrange 0-99 tun_id 7 fwmark 0x1/0x3"}),
			rule(netstate.Rule{Priority: 105, Family: "ipv4", Table: 100, Selectors: "tos 0x10 fwmark 0x51820"}),
			rule(netstate.Rule{Priority: 106, From: prefix("fd77::1/128"), Table: 200, Family: "ipv6"}),
			rule(netstate.Rule{Priority: 107, To: prefix("10.9.0.0/16"), Family: "ipv4", Action: "unreachable"}),
		},
		"queueing disciplines": {
			{Kind: plan.Qdisc, Link: "v0", Old: "default", New: "tbf rate 100000000bit burst 131072b limit 500000b"},
			{Kind: plan.Qdisc, Link: "v0", Old: "tbf rate 100000000bit burst 131072b limit 500000b", New: "pfifo limit 100"},
			{Kind: plan.Qdisc, Link: "v0", Old: "pfifo limit 100", New: "pfifo limit 200"},
			{Kind: plan.Qdisc, Link: "v0", Old: "pfifo limit 200", New: "bfifo limit 100000b"},
			{Kind: plan.Qdisc, Link: "v0", Old: "bfifo limit 100000b", New: "tbf rate 50000000000bit burst 1048800b limit 2000000b"},
			{Kind: plan.Qdisc, Link: "v0", Old: "tbf rate 50000000000bit burst 1048800b limit 2000000b", New: "default"},
		},
		"offloads": {
			{Kind: plan.Offload, Link: "v0", Key: "gso", Old: "on", New: "off"},
			{Kind: plan.Offload, Link: "v0", Key: "tso", Old: "on", New: "off"},
			{Kind: plan.Offload, Link: "v0", Key: "gro", Old: "off", New: "on"},
			{Kind: plan.Offload, Link: "v0", Key: "txvlan", Old: "on", New: "off"},
		},
		"link": {
			{Kind: plan.LinkMAC, Link: "v0", Old: "", New: "02:00:00:00:77:01"},
			{Kind: plan.LinkMTU, Link: "v0", Old: "1500", New: "9000"},
		},
		"MPTCP": {
			{Kind: plan.MPTCPLimit, Key: "subflows", Old: "2", New: "8"},
			{Kind: plan.MPTCPLimit, Key: "add_addr_accepted", Old: "0", New: "8"},
			present(plan.Step{Kind: plan.MPTCPEndpoint, Endpoint: &netstate.MPTCPEndpoint{Addr: addr("10.77.0.1"), Link: "v0", Flags: netstate.MPTCPSubflow}}),
			present(plan.Step{Kind: plan.MPTCPEndpoint, Endpoint: &netstate.MPTCPEndpoint{ID: 9, Addr: addr("fd77::1"), Flags: netstate.MPTCPSubflow | netstate.MPTCPFullmesh | netstate.MPTCPBackup}}),
		},
	} {
		t.Run(name, func(t *testing.T) {
			inNewNamespace(t, func() {
				cable(t)
				for i, s := range steps {
					if s.Kind == plan.LinkMAC {
						l, err := findLink(s.Link)
						must(t, err)
						steps[i].Old = hardware(l.mac)
					}
				}
				p := plan.Plan{Steps: steps}
				carryOut(t, p)
				carryOut(t, p.Rollback())
			})
		})
	}
}

func TestKernelVethChannels(t *testing.T) {
	inNewNamespace(t, func() {
		link := &netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: "v0", NumTxQueues: 4, NumRxQueues: 4}, PeerName: "v1"}
		must(t, netlink.LinkAdd(link))
		s := plan.Step{Kind: plan.Channel, Link: "v0", Key: "rx", New: "2"}
		was, err := Kernel{}.Read(t.Context(), s)
		must(t, err)
		s.Old = was
		carryOut(t, plan.Plan{Steps: []plan.Step{s, s.Rollback()}})
		s.New = "5000"
		if err := (Kernel{}).Do(t.Context(), s); !errors.Is(err, syscall.EINVAL) {
			t.Errorf("5000 queues: %v", err)
		}
		s = plan.Step{Kind: plan.Ring, Link: "v0", Key: "rx", New: "512"}
		if _, err := (Kernel{}).Read(t.Context(), s); !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("rings of a veth: %v", err)
		}
		s = plan.Step{Kind: plan.Offload, Link: "v0", Key: "ntuple", New: "on"}
		var refused *PreconditionError
		if _, err := (Kernel{}).Read(t.Context(), s); !errors.As(err, &refused) {
			t.Errorf("ntuple of a veth: %v", err)
		}
	})
}

// TestKernelKeepsWhatItCannotPutBack: what a step could not restore is not taken
// away.
func TestKernelKeepsWhatItCannotPutBack(t *testing.T) {
	inNewNamespace(t, func() {
		cable(t)
		v0, err := netlink.LinkByName("v0")
		must(t, err)
		labelled, err := netlink.ParseAddr("10.78.0.1/24")
		must(t, err)
		labelled.Label = "v0:1"
		must(t, netlink.AddrAdd(v0, labelled))
		must(t, setAddress("v0", netip.MustParsePrefix("10.77.0.2/24"), false, plan.Present))
		_, to, err := net.ParseCIDR("10.9.0.0/16")
		must(t, err)
		must(t, netlink.RouteAdd(&netlink.Route{LinkIndex: v0.Attrs().Index, Dst: to, Realm: 5, Scope: netlink.SCOPE_LINK}))
		absent := func(s plan.Step) plan.Step {
			s.Old, s.New = plan.Present, plan.Absent
			return s
		}
		for name, s := range map[string]plan.Step{
			"label":  absent(plan.Step{Kind: plan.Address, Link: "v0", Address: netip.MustParsePrefix("10.78.0.1/24")}),
			"realms": absent(plan.Step{Kind: plan.Route, Link: "v0", Route: &netstate.Route{Dst: netip.MustParsePrefix("10.9.0.0/16"), Link: "v0", Table: 254}}),
		} {
			if now, err := (Kernel{}).Read(t.Context(), s); !errors.Is(err, errors.ErrUnsupported) {
				t.Errorf("%s: reads %q, %v", name, now, err)
			}
		}
		var refused *PreconditionError
		for name, s := range map[string]plan.Step{
			"first address of a subnet": absent(plan.Step{Kind: plan.Address, Link: "v0", Address: netip.MustParsePrefix("10.77.0.1/24")}),
			"a link that is up":         absent(plan.Step{Kind: plan.LinkPresence, Link: "v0", Make: &plan.Made{Kind: "dummy"}}),
		} {
			if err := (Kernel{}).Do(t.Context(), s); !errors.As(err, &refused) {
				t.Errorf("%s: %v", name, err)
			}
		}
		must(t, do(t.Context(), plan.Step{Kind: plan.Sysctl, Key: "net.ipv4.conf.v0.promote_secondaries", New: "1"}))
		p := plan.Plan{Steps: []plan.Step{absent(plan.Step{Kind: plan.Address, Link: "v0", Address: netip.MustParsePrefix("10.77.0.1/24")})}}
		carryOut(t, p)
		carryOut(t, p.Rollback())
	})
}

// TestKernelSaysWhy: the words that the kernel sends with a refusal are in the
// error.
func TestKernelSaysWhy(t *testing.T) {
	inNewNamespace(t, func() {
		cable(t)
		s := present(plan.Step{Kind: plan.Route, Link: "v0", Route: &netstate.Route{
			Dst: netip.MustParsePrefix("10.2.0.0/16"), Gateway: netip.MustParseAddr("192.0.2.1"), Link: "v0"}})
		err := Kernel{}.Do(t.Context(), s)
		if !errors.Is(err, syscall.ENETUNREACH) || !strings.Contains(err.Error(), "Nexthop has invalid gateway") {
			t.Errorf("gateway out of reach: %v", err)
		}
	})
}
