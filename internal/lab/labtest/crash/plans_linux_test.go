package crash

import (
	"math/rand/v2"
	"net/netip"
	"time"

	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/plan"
)

// wish changes something of a host that is wanted.
type wish func(*rand.Rand, *netstate.Host)

// wishes are what plans are drawn from. What the host as it is does not allow
// the planner refuses, and another is drawn.
var wishes = []wish{
	onBond(func(r *rand.Rand, b *netstate.Bond) {
		b.HashPolicy = pick(r, netstate.Layer34, netstate.Layer23, netstate.VLANSrcMAC)
	}),
	onBond(func(r *rand.Rand, b *netstate.Bond) { b.LACPRate = netstate.LACPFast }),
	onBond(func(r *rand.Rand, b *netstate.Bond) {
		b.Miimon = pick(r, 50*time.Millisecond, 200*time.Millisecond)
		b.UpDelay, b.DownDelay = b.Miimon*time.Duration(r.IntN(3)), b.Miimon*time.Duration(r.IntN(3))
	}),
	onBond(func(r *rand.Rand, b *netstate.Bond) { b.MinLinks = 1 }),
	onBond(func(r *rand.Rand, b *netstate.Bond) {
		b.Mode = pick(r, netstate.BalanceXOR, netstate.ActiveBackup, netstate.BalanceRR, netstate.BalanceTLB)
	}),
	func(r *rand.Rand, h *netstate.Host) {
		change(h, "bond0", func(l *netstate.Link) { l.MTU = pick(r, 9000, 4000) })
		change(h, "bond0.10", func(l *netstate.Link) { l.MTU = pick(r, 1500, 4000) })
	},
	func(r *rand.Rand, h *netstate.Host) {
		change(h, "bond0.10", func(l *netstate.Link) { l.MTU = 1400 })
	},
	func(r *rand.Rand, h *netstate.Host) {
		change(h, "p2", func(l *netstate.Link) { l.MTU = 9000 })
	},
	func(r *rand.Rand, h *netstate.Host) {
		for _, kv := range [][2]string{
			{"net.ipv4.tcp_rmem", "4096 131072 33554432"}, {"net.ipv4.tcp_wmem", "4096 16384 33554432"},
			{"net.ipv4.tcp_slow_start_after_idle", "0"}, {"net.ipv4.tcp_no_metrics_save", "1"}, {"net.ipv4.tcp_mtu_probing", "1"},
			{"net.ipv4.ip_local_port_range", "20000 60999"}, {"net.ipv4.conf.all.arp_ignore", "1"}, {"net.ipv4.conf.all.arp_announce", "2"},
		} {
			if _, there := h.Sysctls[kv[0]]; there && r.IntN(4) == 0 {
				h.Sysctls[kv[0]] = netstate.Sysctl{Value: kv[1], Scope: netstate.ScopeNamespace}
			}
		}
	},
	func(r *rand.Rand, h *netstate.Host) {
		link := pick(r, "bond0", "bond0.10", "p2")
		change(h, link, func(l *netstate.Link) {
			l.Addresses = append(l.Addresses, netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 77, byte(r.IntN(200)), 1}), 24))
		})
	},
	func(r *rand.Rand, h *netstate.Host) {
		change(h, "bond0", func(l *netstate.Link) { l.Addresses = []netip.Prefix{netip.MustParsePrefix("10.1.0.9/24")} })
	},
	func(r *rand.Rand, h *netstate.Host) {
		h.SetLink(netstate.Link{Name: "bond0.20", Kind: "vlan", VLAN: &netstate.VLAN{ID: 20, Parent: "bond0"}, MTU: 1500, Up: true,
			Addresses: []netip.Prefix{netip.MustParsePrefix("10.1.20.1/24")}})
	},
	func(r *rand.Rand, h *netstate.Host) {
		h.SetLink(netstate.Link{Name: "bond1", Kind: "bond", MTU: 1500, Up: true, Addresses: []netip.Prefix{netip.MustParsePrefix("10.2.0.1/24")},
			Bond: &netstate.Bond{Mode: netstate.ActiveBackup, Miimon: 100 * time.Millisecond, Ports: []string{"p2"}}})
		change(h, "p2", func(l *netstate.Link) { l.Master, l.Up = "bond1", true })
	},
	func(r *rand.Rand, h *netstate.Host) {
		h.Absent = append(h.Absent, "bond0.10")
		for i, l := range h.Links {
			if l.Name == "bond0.10" {
				h.Links = append(h.Links[:i:i], h.Links[i+1:]...)
				break
			}
		}
		var routes []netstate.Route
		for _, route := range h.Routes {
			if route.Link != "bond0.10" {
				routes = append(routes, route)
			}
		}
		h.Routes = routes
	},
	func(r *rand.Rand, h *netstate.Host) {
		h.Routes = append(h.Routes, netstate.Route{Dst: netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 88, byte(r.IntN(200)), 0}), 24),
			Gateway: netip.MustParseAddr("10.9.0.2"), Link: "m0", Table: 254, Protocol: "static"})
	},
	func(r *rand.Rand, h *netstate.Host) {
		h.Rules = append(h.Rules, netstate.Rule{Priority: 1000 + r.IntN(1000), From: netip.MustParsePrefix("10.1.0.1/32"), Table: 101})
	},
	func(r *rand.Rand, h *netstate.Host) {
		change(h, pick(r, "p2", "m0"), func(l *netstate.Link) { l.Qdiscs = []netstate.Qdisc{{Kind: "fq", Parent: "root"}} })
	},
	func(r *rand.Rand, h *netstate.Host) {
		change(h, "p2", func(l *netstate.Link) {
			if _, known := l.Offloads["gro"]; known {
				l.Offloads["gro"] = !l.Offloads["gro"]
			}
		})
	},
}

func pick[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

func change(h *netstate.Host, name string, f func(*netstate.Link)) {
	if l, ok := h.Link(name); ok {
		f(&l)
		h.SetLink(l)
	}
}

func onBond(f func(*rand.Rand, *netstate.Bond)) wish {
	return func(r *rand.Rand, h *netstate.Host) {
		change(h, "bond0", func(l *netstate.Link) {
			b := *l.Bond
			f(r, &b)
			l.Bond = &b
		})
	}
}

// draw makes a plan of at least three and at most most steps out of several
// wishes.
func draw(r *rand.Rand, observed netstate.Host, most int) plan.Plan {
	for {
		want, p := observed.Clone(), plan.Plan{}
		for _, n := range r.Perm(len(wishes))[:2+r.IntN(4)] {
			next := want.Clone()
			wishes[n](r, &next)
			with, err := plan.Between(observed, next)
			if err == nil && len(with.Steps) <= most {
				want, p = next, with
			}
		}
		if len(p.Steps) >= 3 {
			return withFiles(p)
		}
	}
}

// withFiles adds files to a plan: one changed, one made, one removed.
func withFiles(p plan.Plan) plan.Plan {
	for _, path := range []string{"/etc/netplan/10-old.yaml", "/etc/sysctl.d/91-old.conf", "/etc/sysctl.d/95-linerate.conf"} {
		f := plan.File{Path: path, Mode: 0o644}
		if text, ok := oldFiles[path]; ok {
			f.Old = &text
		}
		if text, ok := newFiles[path]; ok {
			f.New = &text
		}
		p.Files = append(p.Files, f)
	}
	return p
}
