package channels

import (
	"fmt"
	"strconv"

	"github.com/linerate/linerate/diagnose/pasted/scene"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/record"
)

// soon is how long LACP at the slow rate and a switch's spanning tree may take until a
// bond carries, with some seconds for the links themselves, in seconds.
const soon = 100

// late is how long after the warning a bond carries that somebody waited for, in seconds.
const late = 10

// comesUp reports a log of a bond that comes up: no partner answered yet, and the ports
// were enslaved just before, or the log begins with it.
func comesUp(h *piece.Host) (warned, up piece.Event, ok bool) {
	for _, e := range h.Events {
		if e.Kind == "lacp-no-response" && (warned.Kind == "" || e.Seconds-warned.Seconds > soon) {
			warned, up = e, piece.Event{}
		}
		after := e.Seconds - warned.Seconds
		if warned.Kind == "" || up.Kind != "" || after > soon {
			continue
		}
		if e.Kind == "active-up" || e.Kind == "link-up" && after >= late {
			up = e
		}
	}
	if up.Kind != "" && warned.Seconds > 0 && up.Seconds-warned.Seconds < late {
		return warned, up, false // every start warns: it was there at once
	}
	joined := false
	for _, e := range h.Events {
		joined = joined || e.Kind == "enslaved" && e.Seconds <= warned.Seconds && warned.Seconds-e.Seconds <= soon
	}
	return warned, up, warned.Kind != "" && joined
}

// slowStart: a bond that comes up and has no partner yet: LACP and spanning tree take
// their time, and what does not wait for them gives up.
func slowStart(v *scene.View) {
	for _, h := range v.Hosts {
		warned, up, ok := comesUp(h)
		if !ok || len(moments(h, "lacp-no-response")) >= fewest {
			continue
		}
		sure, name := 0.45, warned.Link
		evidence := []record.Evidence{scene.Saw("log", warned.Text, warned.Source)}
		if x, ok := scene.Fact(h, name, "ad_partner_mac"); ok {
			if x.Text == scene.ZeroMAC {
				continue // lacpSilent
			}
			rate, _ := scene.Fact(h, name, "lacp_rate")
			if failed, _ := scene.Events(h, "wait-failed"); rate.Text == "fast" && up.Kind == "" && failed == 0 {
				continue // every start warns, and nothing was late
			}
			sure += 0.1
			evidence = append(evidence, scene.Saw("partner of "+name, x.Text+": it answered later", x.Source))
		}
		waits := "LACP at the slow rate (a frame each 30 s) takes up to 30 s"
		if x, ok := scene.Fact(h, name, "lacp_rate"); ok {
			evidence = append(evidence, scene.Saw("LACP rate of "+name, x.Text, x.Source))
			if x.Text == "fast" {
				waits = "LACP takes some seconds (it is at the fast rate)"
			} else {
				sure += 0.12
			}
		}
		if up.Kind != "" {
			sure += 0.2
			evidence = append(evidence, scene.Saw("log", fmt.Sprintf("%.0f s later: %s", up.Seconds-warned.Seconds, up.Text), up.Source))
		}
		for _, e := range h.Events {
			if after := e.Seconds - warned.Seconds; e.Kind == "wait-failed" && after >= 0 && after <= soon {
				sure += 0.2
				evidence = append(evidence, scene.Saw("log", fmt.Sprintf("%.0f s later: %s", after, e.Text), e.Source))
				break
			}
		}
		if len(v.Case.Runs) > 0 {
			sure = scene.LeastSure + 0.01 // the question is a rate
		}
		v.Add(record.LACPDown, min(sure, 0.78), h, name+" of "+scene.NameOf(h)+" while it comes up",
			fmt.Sprintf("%s had just got its ports and no LACP partner had answered yet: %s, and a switch's port that is no edge port holds frames for another 30 s (spanning tree). What waits for the network no longer than that gives up.", name, waits),
			"Wait longer (90 s: `nm-online -t 90`, NetworkManager-wait-online, the installer's own limit), set the fast LACP rate on both ends, and make the switch's ports edge ports (portfast). Ask `cat /proc/net/bonding/"+name+"` two minutes later: a partner MAC of zeroes then means that the switch does not speak LACP there.", evidence...)
	}
}

// longDelay is an updelay that somebody notices, in milliseconds.
const longDelay = 15000

// delayedUp: a bond that does not use a port for long after its link is there.
func delayedUp(v *scene.View) {
	for _, b := range v.Bonds {
		x, ok := scene.Fact(b.Host, b.Name, "updelay")
		ms, err := strconv.ParseFloat(x.Text, 64)
		if !ok || err != nil || ms < longDelay || len(v.Case.Runs) > 0 {
			continue
		}
		v.Add(record.LACPDown, 0.45, b.Host, b.Name+" while it comes up",
			fmt.Sprintf("%s leaves a port unused for %.0f s after its link is there (updelay); LACP and the switch's spanning tree come after that: so long it takes to come up, at boot and after each loss of a link.", b.Name, ms/1000),
			scene.SetBond(b.Host, b.Name, "updelay", "200")+" A long delay is for switches that show a link before they forward: edge ports (portfast) there do the same.",
			scene.Saw("updelay of "+b.Name, fmt.Sprintf("%.0f ms", ms), x.Source))
	}
}
