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
