package host

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/linerate/linerate/diagnose"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/record"
)

// sysctlFile is where a key is read.
func sysctlFile(key string) string {
	return "/proc/sys/" + strings.NewReplacer(".", "/", "/", ".").Replace(key)
}

// oneValue is a sysctl of one number; -1 where it was not read.
func oneValue(h netstate.Host, key string) int64 {
	if v := h.SysctlInts(key); len(v) == 1 {
		return v[0]
	}
	return -1
}

// confValue is a link's own setting, of whichever spelling; -1 where it was
// not read.
func confValue(h netstate.Host, family, link, name string) int64 {
	if v := oneValue(h, netstate.LinkSysctl(family, link, name)); v >= 0 {
		return v
	}
	return oneValue(h, "net."+family+".conf."+link+"."+name)
}

// effective is what holds for a link: the larger of its own and of "all"
// (IN_DEV_MAXCONF, include/linux/inetdevice.h); -1 where neither was read.
func effective(h netstate.Host, link, name string) int64 {
	return max(confValue(h, "ipv4", "all", name), confValue(h, "ipv4", link, name))
}

// strictFilters finds links on which the strict reverse path filter drops
// packets that came the way they should: another link is the better way back
// (fib_validate_source, net/ipv4/fib_frontend.c).
func strictFilters(h netstate.Host) []Finding {
	var found []Finding
	for _, l := range h.Links {
		if !l.Up || isLoopback(l) || effective(h, l.Name, "rp_filter") != 1 {
			continue
		}
		other, source, severity := betterWayBack(h, l)
		if other == "" {
			continue
		}
		evidence := []record.Evidence{
			diagnose.Fact("rp_filter of "+l.Name+" and of all", fmt.Sprintf("%d and %d, the larger holds", confValue(h, "ipv4", l.Name, "rp_filter"), confValue(h, "ipv4", "all", "rp_filter")), sysctlFile(netstate.LinkSysctl("ipv4", l.Name, "rp_filter"))),
			diagnose.Fact("return path to "+source.String(), other, "RTM_GETROUTE"),
		}
		if n := h.Protocols["TcpExt.IPReversePathFilter"]; n > 0 {
			evidence = append(evidence, diagnose.Fact("packets dropped", strconv.FormatUint(n, 10), "IPReversePathFilter of /proc/net/netstat"))
		}
		from := "from " + source.String()
		if source.Bits() == 0 {
			from = "from outside"
		}
		found = append(found, Finding{
			Kind:     StrictFilter,
			What:     fmt.Sprintf("%s drops what arrives %s: the return path leaves by %s, and the reverse path filter is strict", l.Name, from, other),
			Severity: severity, Evidence: evidence,
			Remedy: fmt.Sprintf("sysctl -w %s=2, or rules that send answers back by the link that asked", netstate.LinkSysctl("ipv4", l.Name, "rp_filter")),
		})
	}
	return found
}

// betterWayBack is the link by which the host answers senders that reach l;
// "" where l itself is, or that is not known.
func betterWayBack(h netstate.Host, l netstate.Link) (other string, source netip.Prefix, severity Severity) {
	for _, a := range l.Addresses {
		if !a.Addr().Is4() || !spans(a) || steered(h, l, a.Addr()) || rulesFor(h, a.Addr()) {
			continue
		}
		if first := firstOn(h, a.Masked()); first != "" && first != l.Name {
			return first, a.Masked(), Fault
		}
	}
	for _, a := range l.Addresses {
		if !a.Addr().Is4() || steered(h, l, a.Addr()) || rulesFor(h, a.Addr()) {
			continue
		}
		if first := betterDefault(h, l.Name); first != "" {
			return first, netip.PrefixFrom(netip.IPv4Unspecified(), 0), Warning
		}
	}
	return "", netip.Prefix{}, ""
}

// rulesFor reports policy rules that look at the address, in whose tables the
// way back may be another, or that nobody can judge from the state.
func rulesFor(h netstate.Host, a netip.Addr) bool {
	return slices.ContainsFunc(h.Rules, func(r netstate.Rule) bool {
		own := r.Table == localTable || (r.Table == mainTable || r.Table == 253) && !r.From.IsValid() && r.Selectors == ""
		return !own && r.Family != "ipv6" && (!r.From.IsValid() || r.From.Contains(a))
	})
}

// firstOn is the link of the connected route that the kernel takes for a
// subnet: the lowest metric, and the first of those; "" where the routes were
// not read, or several legs share it.
func firstOn(h netstate.Host, subnet netip.Prefix) string {
	best, metric := "", 0
	for _, r := range h.Routes {
		if r.Type != "" || r.Dst != subnet || r.Table != 0 && r.Table != mainTable {
			continue
		}
		if len(r.Hops) > 0 {
			return ""
		}
		if !r.Gateway.IsValid() && (best == "" || r.Metric < metric) {
			best, metric = r.Link, r.Metric
		}
	}
	return best
}

// defaultRoutes are the host's default routes for IPv4 in the main table.
func defaultRoutes(h netstate.Host) []netstate.Route {
	return slices.DeleteFunc(slices.Clone(h.Routes), func(r netstate.Route) bool {
		return r.Type != "" || !r.Dst.IsValid() || !r.Dst.Addr().Is4() || r.Dst.Bits() != 0 || r.Table != 0 && r.Table != mainTable
	})
}

// betterDefault is the link of a default route with a lower metric than the
// one over the link named; "" where there is none of either.
func betterDefault(h netstate.Host, link string) string {
	own, best := -1, -1
	name := ""
	for _, r := range defaultRoutes(h) {
		if r.Link == link && (own < 0 || r.Metric < own) {
			own = r.Metric
		}
		if r.Link != link && r.Link != "" && (best < 0 || r.Metric < best) {
			best, name = r.Metric, r.Link
		}
	}
	if own < 0 || best < 0 || best >= own {
		return ""
	}
	return name
}

// looseARP finds one half of a pair of settings that belong together: a link
// that answers for its own addresses only and asks with any.
func looseARP(h netstate.Host) []Finding {
	several := 0
	for _, l := range h.Links {
		if l.Up && !isLoopback(l) && slices.ContainsFunc(l.Addresses, func(p netip.Prefix) bool { return p.Addr().Is4() && spans(p) }) {
			several++
		}
	}
	ignore, announce := confValue(h, "ipv4", "all", "arp_ignore"), confValue(h, "ipv4", "all", "arp_announce")
	if several < 2 || ignore < 0 || announce < 0 || (ignore == 0) == (announce == 0) {
		return nil
	}
	ignored, announced := "net.ipv4.conf.all.arp_ignore", "net.ipv4.conf.all.arp_announce"
	f := Finding{
		Kind:     LooseARP,
		What:     "arp_ignore and arp_announce belong together: a neighbour may still learn an address with the wrong link's MAC",
		Severity: Info,
		Evidence: []record.Evidence{diagnose.Fact(ignored, fmt.Sprint(ignore), sysctlFile(ignored)), diagnose.Fact(announced, fmt.Sprint(announce), sysctlFile(announced))},
		Remedy:   "sysctl -w " + announced + "=2",
	}
	if ignore == 0 {
		f.Remedy = "sysctl -w " + ignored + "=1"
	}
	return []Finding{f}
}

// futureOnly finds settings of conf/default that no link has: they hold for
// links made later only (devinet_copy_dflt_conf, net/ipv4/devinet.c).
func futureOnly(h netstate.Host) []Finding {
	var found []Finding
	for _, name := range []string{"rp_filter", "arp_ignore", "arp_announce", "arp_filter"} {
		wanted := confValue(h, "ipv4", "default", name)
		if wanted <= 0 || confValue(h, "ipv4", "all", name) >= wanted {
			continue
		}
		read, have := 0, false
		for _, l := range h.Links {
			if v := confValue(h, "ipv4", l.Name, name); v >= 0 && !isLoopback(l) {
				read++
				have = have || v >= wanted
			}
		}
		if read == 0 || have {
			continue
		}
		key := netstate.LinkSysctl("ipv4", "default", name)
		found = append(found, Finding{
			Kind:     FutureOnly,
			What:     fmt.Sprintf("%s is %d and no link has it: it holds for links made from now on", key, wanted),
			Severity: Info,
			Evidence: []record.Evidence{diagnose.Fact(key, fmt.Sprint(wanted), sysctlFile(key)), diagnose.Fact("net.ipv4.conf.all."+name, fmt.Sprint(confValue(h, "ipv4", "all", name)), sysctlFile("net.ipv4.conf.all."+name))},
			Remedy:   fmt.Sprintf("sysctl -w net.ipv4.conf.all.%s=%d, if it is meant for all", name, wanted),
		})
	}
	return found
}
