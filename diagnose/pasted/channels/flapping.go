package channels

import (
	"fmt"
	"slices"
	"strings"

	"github.com/linerate/linerate/diagnose/pasted/scene"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/record"
)

// flapSpan is how far apart losses of a link may be, in seconds, that are one fault's.
const flapSpan = 24 * 3600

// flapping: a port of a bond whose link a log shows going down again and again.
func flapping(v *scene.View) {
	for _, h := range v.Hosts {
		for _, b := range bondsOf(v, h) {
			comesAndGoes(v, b)
		}
		linkLost(v, h)
	}
}

// virtualLinks are how links are called that no card has: they come and go with what
// uses them.
var virtualLinks = []string{"veth", "tap", "tun", "vnet", "docker", "br", "vmbr", "fw", "cali", "lxc", "cilium", "flannel", "virbr", "wl", "wg", "usb", "ppp", "vlan", "bond", "team", "dummy"}

// linkLost: a card's port, no bond's, that loses its link again and again.
func linkLost(v *scene.View, h *piece.Host) {
	told := make(map[string]bool)
	for _, b := range bondsOf(v, h) {
		for _, p := range b.Ports {
			told[p.Name] = true
		}
	}
	for _, e := range h.Events {
		if e.Kind != "link-down" || e.Link == "" || told[e.Link] || slices.ContainsFunc(virtualLinks, func(p string) bool { return strings.HasPrefix(e.Link, p) }) {
			continue
		}
		told[e.Link] = true
		all := losses(h, e.Link)
		if len(all) < fewest || steady(moments(h, "link-down", e.Link)) != 0 {
			continue
		}
		v.Add(record.CardSlot, 0.66, h, e.Link+" of "+scene.NameOf(h),
			fmt.Sprintf("%s loses its link again and again (%d times in this log): each time everything stands still until it is up again. No setting of TCP or of a bond explains that.", e.Link, len(all)),
			fmt.Sprintf("One at a time: another cable or module of %s, another port of the other end, energy saving off (`ethtool --set-eee %s eee off`), a newer driver or firmware of the card; does it happen under load only, a card that gets too hot or the driver is the first to suspect.", e.Link, e.Link),
			scene.Saw("log of "+e.Link, fmt.Sprintf("lost its link %d times, the first: %s", len(all), all[0].Text), all[0].Source))
	}
}

// notAdded: a port that a bond or team did not take.
func notAdded(v *scene.View) {
	for _, h := range v.Case.Hosts {
		var names []string
		var evidence []record.Evidence
		for _, e := range h.Events {
			if e.Kind == "not-added" && e.Link != "" && !slices.Contains(names, e.Link) {
				names = append(names, e.Link)
				evidence = append(evidence, scene.Saw("log", e.Text, e.Source))
			}
		}
		if len(names) == 0 {
			continue
		}
		all, was, it := strings.Join(names, ", "), "was", "it"
		if len(names) > 1 {
			was, it = "were", "them"
		}
		v.Add(record.LACPDown, 0.8, h, all+" of "+scene.NameOf(h),
			fmt.Sprintf("%s %s not added to the bundle: a port must be down when it is added. The bundle runs without %s until that is done again.", all, was, it),
			fmt.Sprintf("Set it down first: `ip link set %s down`, then add it (`ip link set %s master BUNDLE`), then up; look for what else brings it up at the start (another configuration of the same port, a bridge), and see with `cat /proc/net/bonding/*` or `teamdctl TEAM state` that all ports are in.", names[0], names[0]), evidence...)
	}
}

// bondsOf are a host's bonds, with those that only its log speaks of.
func bondsOf(v *scene.View, h *piece.Host) []scene.Bond {
	var out []scene.Bond
	for _, b := range v.Bonds {
		if b.Host == h {
			out = append(out, b)
		}
	}
	for _, e := range h.Events {
		before, _, ok := strings.Cut(e.Text, ": (slave "+e.Link+")")
		if !ok || e.Link == "" || slices.ContainsFunc(out, func(b scene.Bond) bool {
			return slices.ContainsFunc(b.Ports, func(p scene.Port) bool { return p.Name == e.Link })
		}) {
			continue
		}
		f := strings.Fields(before)
		if len(f) == 0 {
			continue
		}
		name := f[len(f)-1]
		at := slices.IndexFunc(out, func(b scene.Bond) bool { return b.Name == name })
		if at < 0 {
			at, out = len(out), append(out, scene.Bond{Host: h, Name: name})
		}
		out[at].Ports = append(slices.Clone(out[at].Ports), scene.Port{Name: e.Link})
	}
	return out
}

// comesAndGoes tells of a bond's ports that lose their links; all of them alike is the
// switch's doing, or the host's own, and no cable's.
func comesAndGoes(v *scene.View, b scene.Bond) {
	var names []string
	var evidence []record.Evidence
	most := 0
	for _, p := range b.Ports {
		if all := losses(b.Host, p.Name); len(all) >= fewest && steady(moments(b.Host, "link-down", p.Name)) == 0 {
			names, most = append(names, p.Name), max(most, len(all))
			evidence = append(evidence, scene.Saw("log of "+p.Name, fmt.Sprintf("lost its link %d times, the first: %s", len(all), all[0].Text), all[0].Source))
		}
	}
	if len(names) == 0 || len(names) == len(b.Ports) && len(names) > 1 {
		return
	}
	sure, why := 0.82, ""
	for _, name := range names {
		if x, ok := b.Host.Get("link "+name, "optic_rx_low"); ok {
			power, _ := b.Host.Get("link "+name, "optic_rx_dbm")
			sure, why = 0.92, fmt.Sprintf(" Too little light reaches %s (%s dBm).", name, power.Text)
			evidence = append(evidence, scene.Saw("received light of "+name, power.Text+" dBm, low "+x.Text, x.Source))
		}
	}
	all := strings.Join(names, ", ")
	v.Add(record.LACPDown, sure, b.Host, all+" of "+b.Name,
		fmt.Sprintf("%s of %s loses its link again and again (%d times in this log): each time its flows move to the other links, and the bond is short of one.%s", all, b.Name, most, why),
		fmt.Sprintf("Clean or replace cable and module of %s, one at a time; read `ethtool -m` of it (received light) and the switch's log of the same moments.", all), evidence...)
}

// losses are the times that a link went down within a day, as a log has them; what the
// driver and the bond say of one moment counts once.
func losses(h *piece.Host, link string) []piece.Event {
	var all []piece.Event
	up := true
	for _, e := range h.Events {
		if e.Link != link {
			continue
		}
		switch e.Kind {
		case "link-up":
			up = true
		case "link-down":
			if up {
				all = append(all, e)
			}
			up = false
		}
	}
	most := slices.Clone(all[:min(len(all), 1)])
	for i := range all {
		n := i
		for n < len(all) && (all[n].Seconds == 0 || all[n].Seconds-all[i].Seconds <= flapSpan) {
			n++
		}
		if n-i > len(most) {
			most = all[i:n]
		}
	}
	return most
}

// dimLight: a module that says it gets too little light, where nothing else was seen.
func dimLight(v *scene.View) {
	for _, h := range v.Hosts {
		for _, name := range h.Subjects("link") {
			x, low := h.Get("link "+name, "optic_rx_low")
			power, told := h.Get("link "+name, "optic_rx_dbm")
			if !low || !told {
				continue
			}
			v.Add(record.Congestion, 0.6, h, name+" of "+scene.NameOf(h),
				fmt.Sprintf("Too little light reaches the module of %s (%s dBm, below its own %s limit): frames are damaged, or the link goes down now and then.", name, power.Text, x.Text),
				fmt.Sprintf("Clean the connectors, then replace cable and module, one at a time; `ethtool -S %s` counts damaged frames (rx_crc_errors) meanwhile, `ethtool -m` the light.", name),
				scene.Saw("received light of "+name, power.Text+" dBm", power.Source))
		}
	}
}
