package act

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"slices"
	"syscall"

	"github.com/vishvananda/netlink"

	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/plan"
)

// toNetlink is a route of a step as the netlink library says it.
func toNetlink(r *netstate.Route) (*netlink.Route, error) {
	if r == nil || !r.Dst.IsValid() {
		return nil, fmt.Errorf("route without destination: %w", fs.ErrInvalid)
	}
	out := &netlink.Route{Dst: ipNet(r.Dst), Table: r.Table, Priority: r.Metric, Family: family(r.Dst)}
	if out.Table == 0 {
		out.Table = syscall.RT_TABLE_MAIN
	}
	if r.Source.IsValid() {
		out.Src = r.Source.AsSlice()
	}
	if r.Gateway.IsValid() {
		out.Gw = r.Gateway.AsSlice()
	} else if len(r.Hops) == 0 && r.Dst.Addr().Is4() {
		out.Scope = netlink.SCOPE_LINK
	}
	if r.Link != "" && len(r.Hops) == 0 {
		l, err := findLink(r.Link)
		if err != nil {
			return nil, err
		}
		out.LinkIndex = l.index
	}
	for _, hop := range r.Hops {
		l, err := findLink(hop.Link)
		if err != nil {
			return nil, err
		}
		n := &netlink.NexthopInfo{LinkIndex: l.index, Hops: max(hop.Weight, 1) - 1}
		if hop.Gateway.IsValid() {
			n.Gw = hop.Gateway.AsSlice()
		}
		out.MultiPath = append(out.MultiPath, n)
	}
	return out, nil
}

func ipNet(p netip.Prefix) *net.IPNet {
	return &net.IPNet{IP: p.Masked().Addr().AsSlice(), Mask: net.CIDRMask(p.Bits(), p.Addr().BitLen())}
}

func family(p netip.Prefix) int {
	if p.Addr().Is4() {
		return syscall.AF_INET
	}
	return syscall.AF_INET6
}

func setRoute(r *netstate.Route, want string) error {
	route, err := toNetlink(r)
	if err != nil {
		return err
	}
	h, err := netlink.NewHandle(syscall.NETLINK_ROUTE)
	if err != nil {
		return fmt.Errorf("open netlink: %w", err)
	}
	defer h.Close()
	if want == plan.Absent {
		return h.RouteDel(route)
	}
	err = h.RouteAdd(route)
	if errors.Is(err, syscall.ENETUNREACH) && route.Gw != nil {
		// The gateway is in no subnet of the link: it was a route "onlink",
		// as for a next hop that is the interface's own address.
		route.Flags |= int(netlink.FLAG_ONLINK)
		err = h.RouteAdd(route)
	}
	return err
}

func readRoute(r *netstate.Route) (string, error) {
	want, err := toNetlink(r)
	if err != nil {
		return "", err
	}
	h, err := netlink.NewHandle(syscall.NETLINK_ROUTE)
	if err != nil {
		return "", fmt.Errorf("open netlink: %w", err)
	}
	defer h.Close()
	all, err := h.RouteListFiltered(want.Family, &netlink.Route{Table: want.Table}, netlink.RT_FILTER_TABLE)
	if err != nil {
		return "", fmt.Errorf("list routes: %w", err)
	}
	for _, have := range all {
		if !same(have, *want) {
			continue
		}
		if beyond(have) {
			return "", fmt.Errorf("route has attributes that a plan cannot restore (%s): %w", have, errors.ErrUnsupported)
		}
		return plan.Present, nil
	}
	return plan.Absent, nil
}

func same(have, want netlink.Route) bool {
	return sameDst(have.Dst, want.Dst) && have.Table == want.Table && have.Priority == want.Priority &&
		have.Gw.Equal(want.Gw) && have.LinkIndex == want.LinkIndex && (want.Src == nil || have.Src.Equal(want.Src)) &&
		slices.EqualFunc(have.MultiPath, want.MultiPath, func(a, b *netlink.NexthopInfo) bool {
			return a.LinkIndex == b.LinkIndex && a.Hops == b.Hops && a.Gw.Equal(b.Gw)
		})
}

// sameDst knows that a default route may be listed without a destination.
func sameDst(have, want *net.IPNet) bool {
	if have == nil {
		ones, _ := want.Mask.Size()
		return ones == 0
	}
	return have.String() == want.String()
}

// beyond reports attributes that netstate.Route does not carry, and that a
// route put back would lack.
func beyond(r netlink.Route) bool {
	return r.MTU != 0 || r.AdvMSS != 0 || r.Window != 0 || r.InitCwnd != 0 || r.InitRwnd != 0 || r.Encap != nil ||
		r.Via != nil || r.MPLSDst != nil || r.NewDst != nil || r.Tos != 0 || r.Realm != 0 || r.Congctl != "" ||
		r.RtoMin != 0 || r.Hoplimit != 0 || r.QuickACK != 0 || r.Features != 0 || r.Type != syscall.RTN_UNICAST
}
