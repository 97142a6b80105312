package channels

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/linerate/linerate/diagnose/pasted/scene"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/record"
)

// fewest is how often something must happen to count as going on.
const fewest = 3

// lacpEvents: what a log says of a bond that does not stay whole.
func lacpEvents(v *scene.View) {
	for _, h := range v.Hosts {
		takenApart(v, h)
		byTheClock(v, h)
		laggStopped(v, h)
		if n, at := scene.Events(h, "lacp-no-response"); n > 0 {
			last := h.Events[len(h.Events)-1]
			if last.Kind == "lacp-no-response" && n == len(h.Events) && !v.HasFinding(record.LACPDown) && !answered(v, last.Link) {
				v.Add(record.LACPDown, 0.5+0.1*float64(min(n, 3)), h, cmp.Or(last.Link, "the bond"),
					"The bond heard no LACP partner when it came up, and its log says nothing of one since.",
					"Read `cat /proc/net/bonding/"+cmp.Or(last.Link, "bond0")+"` as root: a partner MAC of zeroes means that the switch does not speak LACP on these ports.",
					scene.Saw("log", last.Text, at))
			}
		}
	}
}

// laggStopped: ports of FreeBSD's lagg that LACP takes out of use again and again.
func laggStopped(v *scene.View, h *piece.Host) {
	n, at := scene.Events(h, "lagg-stopped")
	if n < 2 || v.HasFinding(record.LACPDown) {
		return
	}
	var ports []string
	for _, e := range h.Events {
		if e.Kind == "lagg-stopped" && e.Link != "" && !slices.Contains(ports, e.Link) {
			ports = append(ports, e.Link)
		}
	}
	v.Add(record.LACPDown, 0.5+0.05*float64(min(n, 5)), h, strings.Join(ports, ", ")+" of "+scene.NameOf(h),
		fmt.Sprintf("FreeBSD stopped sending by %s (%d times in this log): LACP lost the partner there or heard another one, so that what these ports carry changes or ends.", strings.Join(ports, ", "), n),
		"At the other end put just these ports into one LAG of type LACP, on one switch (or two that act as one), with the same LACP rate; then look at each port's link and errors. `ifconfig -v lagg0` shows each port's partner.",
		scene.Saw("log", fmt.Sprintf("stopped DISTRIBUTING %d times", n), at)).Ask = []scene.Missing{{Command: "ifconfig -v lagg0", Host: scene.NameOf(h), Why: "which partner each port hears, and its state"}}
}

// answered reports a bond of that name that has an LACP partner by now: the kernel warns of
// none in the first second of every bond, before the switch's first frame.
func answered(v *scene.View, bond string) bool {
	return slices.ContainsFunc(v.Case.Hosts, func(h *piece.Host) bool {
		partner, ok := scene.Fact(h, cmp.Or(bond, "bond0"), "ad_partner_mac")
		return ok && partner.Text != scene.ZeroMAC
	})
}

// takenApart: ports that a program releases and enslaves again and again. One moment
// is a restart, as anybody makes one.
func takenApart(v *scene.View, h *piece.Host) {
	all := moments(h, "released")
	all = slices.DeleteFunc(all, func(m moment) bool { return m.linkFirst })
	if len(all) < 2 {
		return
	}
	times, sure := fmt.Sprintf("%d times", len(all)), 0.82
	gap := steady(all)
	switch {
	case len(all) == 2 && all[1].seconds-all[0].seconds < halfDay:
		return // a person at work
	case len(all) == 2:
		times, sure = "twice, "+duration(all[1].seconds-all[0].seconds)+" apart", 0.55
	case gap > 0:
		times += ", every " + duration(gap)
	case len(all) < fewest+2 && all[len(all)-1].seconds-all[0].seconds < anHour:
		sure = 0.55 // that many restarts a person makes as well
	}
	f := v.Add(record.LACPDown, sure, h, cmp.Or(all[0].Link, "the bond")+", taken apart by software",
		fmt.Sprintf("The bond's ports were released and enslaved again %s, without a link going down first: software takes the bond apart and re-creates it, no cable or switch does.", times),
		"Find who does it: the network controller, agent or operator of this host (its log at these times; a periodic resync). Have it apply only what differs.",
		scene.Saw("log", fmt.Sprintf("%d moments, the first: %s", len(all), all[0].Text), all[0].Source))
	f.Ask = around(h)
}

// around asks for what else happened at those moments.
func around(h *piece.Host) []scene.Missing {
	return []scene.Missing{{Command: `journalctl --since "TIME - 1 min" --until "TIME + 1 min"`, Host: h.Name, Why: "all that happened at one of those moments, without a filter: which program did it"},
		{Command: "journalctl -k --since -2days | grep -Ei 'bond|slave|link|carrier'", Host: h.Name, Why: "more of these moments, with their times"}}
}

// Between moments, in seconds.
const (
	oneMoment   = 30
	fiveMinutes = 300
	anHour      = 3600
	halfDay     = 6 * 3600
)

// moment are the events of a kind that a log has close together: its first.
type moment struct {
	piece.Event
	seconds   float64
	linkFirst bool // a link went down just before
}

// moments are the times at which events of a kind happened, of one link where links are
// named. Without stamps, the same link's again is another one.
func moments(h *piece.Host, kind string, links ...string) (out []moment) {
	down, last := 0.0, 0.0
	seen := make(map[string]bool)
	for _, e := range h.Events {
		if e.Kind == "link-down" && kind != "link-down" {
			down = e.Seconds
		}
		if e.Kind != kind || len(links) > 0 && !slices.Contains(links, e.Link) {
			continue
		}
		again := e.Seconds == 0 && seen[e.Link]
		if len(out) == 0 || again || e.Seconds > 0 && (last == 0 || e.Seconds-last > oneMoment || e.Seconds < last) {
			out = append(out, moment{Event: e, seconds: e.Seconds, linkFirst: down > 0 && e.Seconds >= down && e.Seconds-down <= oneMoment})
			clear(seen)
		}
		seen[e.Link] = true
		last = e.Seconds
	}
	return out
}

// steady is the time between moments where it is about the same each time, in seconds,
// and no less than some minutes; zero otherwise, or where they are too few to tell.
func steady(all []moment) float64 {
	var gaps []float64
	for i := range all[min(len(all), 1):] {
		gaps = append(gaps, all[i+1].seconds-all[i].seconds)
	}
	if len(gaps) < 2 {
		return 0
	}
	slices.Sort(gaps)
	if mid := gaps[len(gaps)/2]; mid >= fiveMinutes && gaps[0] > 0.9*mid && gaps[len(gaps)-1] < 1.1*mid {
		return mid
	}
	return 0
}

// fewestSteady is how many moments make a period that is no chance.
const fewestSteady = 4

// byTheClock: a device that loses its link, or leaves its bridge, at a steady period:
// timers do that, and no cable.
func byTheClock(v *scene.View, h *piece.Host) {
	type event struct{ link, kind string }
	var names []string
	times := make(map[event]int)
	for _, e := range h.Events {
		if e.Link != "" && !slices.Contains(names, e.Link) {
			names = append(names, e.Link)
		}
		times[event{e.Link, e.Kind}]++
	}
	for _, name := range names {
		for _, kind := range []string{"link-down", "unbridged"} {
			if times[event{name, kind}] < fewestSteady {
				continue
			}
			all := moments(h, kind, name)
			gap := steady(all)
			if len(all) < fewestSteady || gap == 0 || kind == "unbridged" && (guestPort(name) || captured(h, name)) {
				continue
			}
			what, sure := "loses its link", 0.72
			if kind == "unbridged" {
				what, sure = "leaves promiscuous mode (its bridge lets go of it)", 0.66
			}
			cause := record.Application
			if slices.ContainsFunc(bondsOf(v, h), func(b scene.Bond) bool {
				return b.Name == name || slices.ContainsFunc(b.Ports, func(p scene.Port) bool { return p.Name == name })
			}) || strings.Contains(name, "bond") {
				cause = record.LACPDown
			}
			f := v.Add(cause, sure, h, name+", by a timer",
				fmt.Sprintf("%s %s every %s (%d times): cables and modules keep no time. Software or a timer does it: a controller or agent that re-creates what it manages (a periodic resync), cron, a backup, DHCP or a lease that ends; the switch's err-disable recovery.", name, what, duration(gap), len(all)),
				"Read what else happens at those times: the journal around one of them without a filter, the list of timers (`systemctl list-timers`, crontabs), the controller's log, and the switch's log.",
				scene.Saw("log of "+name, fmt.Sprintf("%d times, every %s, the first: %s", len(all), duration(gap), all[0].Text), all[0].Source))
			f.Ask = around(h)
			return
		}
	}
}

// guestPort reports a bridge's port that comes and goes with a guest or container.
func guestPort(name string) bool {
	return slices.ContainsFunc([]string{"tap", "veth", "vnet", "fw", "lxc", "cali", "macvtap"}, func(p string) bool { return strings.HasPrefix(name, p) })
}

// captured reports a device that leaves promiscuous mode some time after it entered,
// and does not enter it again at once: somebody captured frames.
func captured(h *piece.Host, name string) bool {
	entered, left := false, 0.0
	for _, e := range h.Events {
		switch {
		case e.Link != name:
		case e.Kind == "bridged":
			if left > 0 && e.Seconds-left < oneMoment {
				return false // it joins its bridge again
			}
			entered = true
		case e.Kind == "unbridged":
			left = e.Seconds
		}
	}
	return entered
}

func duration(seconds float64) string {
	switch {
	case seconds >= 5400:
		return fmt.Sprintf("%.0f hours", seconds/3600)
	case seconds >= 90:
		return fmt.Sprintf("%.0f minutes", seconds/60)
	}
	return fmt.Sprintf("%.0f seconds", seconds)
}
