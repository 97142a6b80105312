package hosts

import (
	"fmt"
	"net/netip"
	"strings"

	"github.com/linerate/linerate/diagnose/pasted/scene"
	"github.com/linerate/linerate/internal/advise/cloud"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/record"
)

// oneDefault: interfaces in two subnets with a default route that is used by one alone, no
// rule for the other, and a sign that somebody beyond its subnet asks there: without one it
// is as often a network of its own, as storage has.
func oneDefault(v *scene.View, h *piece.Host, all []scene.Own) {
	by, shared := firstDefault(h)
	if by == nil || shared {
		return
	}
	for _, a := range all {
		if a.Link == by.Link || !scene.Physical(a.Link) || ruled(h, a.Prefix.Addr()) || a.Prefix.Contains(by.Gateway) {
			continue
		}
		sure, signs := askedFromBeyond(v, h, a)
		is, gateway := "the only default route by", "GATEWAY"
		second := defaultBy(h, a.Link)
		if second != nil && !ofMain(second) {
			continue // it has a table of its own
		}
		if second != nil && v.Complains() {
			is = "two default routes, and uses the one of the smaller metric, by"
			sure, gateway = max(sure, 0.5), second.Gateway.String()
			signs = append(signs, scene.Saw("default route by "+a.Link, fmt.Sprintf("metric %d, above %d", second.Metric, by.Metric), second.Source))
		}
		if sure == 0 {
			continue
		}
		evidence := append([]record.Evidence{scene.Saw("default route", "by "+by.Link, by.Source), scene.Saw("address of "+a.Link, a.Prefix.String(), a.At)}, signs...)
		v.Add(record.AsymmetricRoute, sure, h, a.Link+" of "+scene.NameOf(h),
			fmt.Sprintf("%s has %s %s: what arrives at %s (%s) from other subnets is answered by %s, and the second interface carries no answer, nor what is begun here; a provider or rp_filter drops it.", scene.NameOf(h), is, by.Link, a.Link, a.Prefix.Addr(), by.Link),
			fmt.Sprintf("Give %s a table of its own: `ip route add default via %s dev %s table 102; ip rule add from %s table 102`.", a.Link, gateway, a.Link, a.Prefix.Addr()),
			evidence...)
	}
}

// widest is the prefix length of a link's own subnet from which on it is rather a mistake:
// more than 65,536 addresses on one link.
const widest = 15

// tooWide: a link whose own subnet is so wide that it contains another link's, or the gateway's
// networks: what lies there is asked for by ARP on that link, and never sent to a router.
func tooWide(v *scene.View, h *piece.Host, all []scene.Own) {
	for _, a := range all {
		if a.Prefix.Bits() == 0 || a.Prefix.Bits() > widest || !scene.Physical(a.Link) {
			continue
		}
		wide := a.Prefix.Masked()
		evidence := []record.Evidence{scene.Saw("address of "+a.Link, a.Prefix.String(), a.At)}
		inner, sure := "", 0.0
		for _, b := range all {
			if b.Link != a.Link && b.Prefix.Bits() > a.Prefix.Bits() && wide.Contains(b.Prefix.Addr()) {
				inner, sure = fmt.Sprintf("%s of %s", b.Prefix.Masked(), b.Link), 0.6
				evidence = append(evidence, scene.Saw("address of "+b.Link, b.Prefix.String(), b.At))
			}
		}
		for _, r := range h.Routes {
			if sure == 0 && r.Gateway.IsValid() && r.Dst.Bits() > wide.Bits() && wide.Contains(r.Dst.Addr()) {
				inner, sure = fmt.Sprintf("%s by %s", r.Dst, r.Gateway), 0.5
				evidence = append(evidence, scene.Saw("route", inner, r.Source))
			}
		}
		if sure == 0 || !v.Complains() && len(v.Case.Runs) == 0 && !v.Said("unreachable") {
			continue
		}
		v.Add(record.AsymmetricRoute, sure, h, fmt.Sprintf("%s of %s (%s)", a.Link, scene.NameOf(h), wide),
			fmt.Sprintf("The subnet of %s is %s, which holds %s too: for the rest of it the host asks by ARP on %s instead of sending to a router, and answers to hosts that another link or a router leads to leave there, or are lost.", a.Link, wide, inner, a.Link),
			fmt.Sprintf("Give %s the mask that its network really has (a /8 is mostly the default of a class, where /24 or /16 was meant), on every host of that network, and route the rest by the gateway.", a.Link), evidence...)
		return
	}
}

// firstDefault is the main table's default route of the smallest metric, nil where there
// is none, and whether another interface has one of the same metric.
func firstDefault(h *piece.Host) (first *piece.Route, shared bool) {
	for i := range h.Routes {
		r := &h.Routes[i]
		switch {
		case !isDefault(r) || !ofMain(r):
		case first == nil || r.Metric < first.Metric:
			first, shared = r, false
		case r.Metric == first.Metric && r.Link != first.Link:
			shared = true
		}
	}
	return first, shared
}

// defaultBy is the first default route by an interface, in any table; nil where there is none.
func defaultBy(h *piece.Host, link string) *piece.Route {
	for i := range h.Routes {
		if r := &h.Routes[i]; isDefault(r) && r.Link == link {
			return r
		}
	}
	return nil
}

// ofMain reports a route of the table that is asked without a rule.
func ofMain(r *piece.Route) bool {
	return r.TableName == "" && (r.Table == 0 || r.Table == piece.Tables["main"])
}

// isDefault reports a default route by a gateway.
func isDefault(r *piece.Route) bool {
	return r.Dst.IsValid() && r.Dst.Bits() == 0 && r.Gateway.IsValid()
}

// askedFromBeyond is how sure it is that what comes to an address from beyond its
// subnet is missed, and by which signs; 0 where nothing says so.
func askedFromBeyond(v *scene.View, h *piece.Host, a scene.Own) (sure float64, signs []record.Evidence) {
	sign := func(how float64, e record.Evidence) { sure, signs = max(sure, how), append(signs, e) }
	if x, _ := instanceOf(v, h); x.Text != "" {
		sign(0.8, scene.Saw("cloud", x.Text, x.Source))
	}
	for _, link := range []string{a.Link, "all"} {
		if x, ok := h.Get("sysctl", "net.ipv4.conf."+link+".rp_filter"); ok && x.Text == "1" && a.Prefix.Addr().Is4() {
			sign(0.65, scene.Saw("net.ipv4.conf."+link+".rp_filter", "1 (strict)", x.Source))
		}
	}
	for _, to := range h.Subjects("path") {
		from, _ := h.Get("path "+to, "from")
		dev, ok := h.Get("path "+to, "dev")
		if ok && from.Text == a.Prefix.Addr().String() && dev.Text != a.Link {
			sign(0.82, scene.Saw("way from "+from.Text+" to "+to, "by "+dev.Text, dev.Source))
		}
	}
	for _, e := range h.Events {
		if strings.Contains(e.Text, "martian") && strings.Contains(e.Text, a.Prefix.Addr().String()) {
			sign(0.85, scene.Saw("log", e.Text, e.Source))
			break
		}
	}
	for _, p := range h.Pings { // a peer's, where the text does not tell hosts apart
		if p.Target == a.Prefix.Addr().String() && p.Sent > 0 && p.Received == 0 {
			sign(0.7, scene.Saw("ping "+p.Target, "no answer", p.Source))
		}
	}
	return sure, signs
}

// hostRoutes: a route to one address by another interface than the default's, where
// that cannot be meant: the platform's addresses stand behind the first interface, and
// an address in none of an interface's subnets is no neighbour there.
func hostRoutes(v *scene.View, h *piece.Host) {
	by, _ := firstDefault(h)
	if by == nil {
		return
	}
	for _, r := range h.Routes {
		if !r.Dst.IsValid() || !r.Dst.IsSingleIP() || r.Link == by.Link || !scene.Card(r.Link) || r.Type != "" {
			continue
		}
		sure, why := misledTo(v, h, r)
		if sure == 0 {
			continue
		}
		to := r.Dst.Addr().String()
		v.Add(record.AsymmetricRoute, sure, h, r.Link+", host route to "+to,
			fmt.Sprintf("A host route sends %s by %s, while the default route goes by %s: %s.", to, r.Link, by.Link, why),
			fmt.Sprintf("Delete that route (`ip route del %s dev %s`), so that %s is reached by %s, and keep what adds it (DHCP on %s) from doing so again.", to, r.Link, to, by.Link, r.Link),
			scene.Saw("route", to+" by "+r.Link, r.Source), scene.Saw("default route", "by "+by.Link, by.Source))
	}
}

// misledTo is how sure it is that a host route leads where its address does not answer,
// and why; 0 where it may well.
func misledTo(v *scene.View, h *piece.Host, r piece.Route) (sure float64, why string) {
	to := r.Dst.Addr()
	provider, _ := instanceOf(v, h)
	instance := provider.Text != ""
	switch {
	case to == cloud.WireServer, to == cloud.Metadata && instance && provider.Text != "aws":
		return 0.85, "an address of the platform answers on the first interface only"
	case to.IsLinkLocalUnicast() || to.IsMulticast():
		return 0, ""
	case instance && r.Gateway.IsValid() && !to.IsPrivate():
		return 0.82, "an address of the platform answers on the first interface only"
	case r.Gateway.IsValid() || isGateway(h, to):
		return 0, ""
	}
	own := false
	for _, a := range scene.Addresses(h) {
		if a.Link == r.Link {
			own = true
			if a.Prefix.Contains(to) || a.Prefix.IsSingleIP() {
				return 0, ""
			}
		}
	}
	for _, o := range h.Routes {
		if o.Link == r.Link && !o.Gateway.IsValid() && o.Dst.IsValid() && o.Dst.Bits() > 0 && !o.Dst.IsSingleIP() {
			own = true
			if o.Dst.Contains(to) {
				return 0, ""
			}
		}
	}
	if !own {
		return 0, ""
	}
	return 0.6, "it is listed there as a neighbour, and is in none of that interface's subnets"
}

// isGateway reports an address by which other routes lead: a host route to a gateway
// outside the subnet is meant.
func isGateway(h *piece.Host, a netip.Addr) bool {
	for _, r := range h.Routes {
		if r.Gateway == a {
			return true
		}
	}
	return false
}
