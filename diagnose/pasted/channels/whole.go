package channels

import (
	"fmt"
	"slices"
	"strings"

	"github.com/linerate/linerate/diagnose/pasted/scene"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict/framing"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// fullPart is the part of a link's rate, in per cent, from which it is full: frames
// of 1500 bytes leave the rest to headers.
const fullPart = 95.0

// fullLinks: all links of a bundle carry what they can.
func fullLinks(v *scene.View) {
	for _, h := range v.Hosts {
		for _, name := range h.Subjects("link") {
			n, at, ok := scene.Number(h, "link "+name, "ad_num_ports")
			if !ok || n < 2 {
				continue
			}
			full, ports, from := 0, 0, piece.Source{}
			for _, link := range h.Subjects("link") {
				util, source, seen := scene.Number(h, "link "+link, "seen_util")
				if !seen || link == name || !scene.Physical(link) {
					continue
				}
				ports++
				if util >= fullPart && util < 101 {
					full, from = full+1, source
				}
			}
			if float64(ports) != n || full != ports {
				continue
			}
			what := fmt.Sprintf("all %d links of %s", full, name)
			if full == 2 {
				what = "both links of " + name
			}
			f := v.Add(record.LineRate, 0.88, h, "none",
				fmt.Sprintf("Nothing is wrong: %s are full (%.0f %% and more of line rate each), and headers take the rest of what is payload at MTU 1500.", what, fullPart),
				"More takes more or faster links; MTU 9000 on the whole path gives about 5 % more payload.", scene.Saw("ports in the aggregator", fmt.Sprintf("%.0f", n), at), scene.Saw("load of each", fmt.Sprintf("%.0f %% and more", fullPart), from))
			f.Ceiling = v.Best()
		}
	}
}

// plainLink: a run at what the one link of a host carries.
func plainLink(v *scene.View) {
	if len(v.Bonds) > 0 || v.Faulty() {
		return
	}
	for _, h := range v.Hosts {
		only, links := "", 0
		for _, link := range h.Subjects("link") {
			if scene.Word(h, link, "master") != "" || scene.Word(h, link, "laggproto") != "" {
				return
			}
			if scene.Physical(link) {
				only, links = link, links+1
			}
		}
		speed := scene.SpeedOf(h, only)
		if links != 1 || speed == 0 || len(v.Switches) > 0 {
			continue
		}
		mtu, at, told := scene.Number(h, "link "+only, "mtu")
		if !told {
			mtu = 1500
			x, _ := scene.Fact(h, only, "speed")
			at = x.Source
		}
		payload := framing.LinkPayload(netstate.Link{Speed: speed}, int(mtu), 0, false)
		if slices.ContainsFunc(v.Case.Runs, func(r piece.Run) bool { return !r.UDP && r.Rate < payload*9/10 }) {
			continue // another test of these was slow: that is the question
		}
		for _, r := range v.Case.Runs {
			if r.Client != "" && h.Name != "" && r.Client != h.Name && r.Server != h.Name || r.UDP || !scene.Close(r.Rate, payload, 0.98, 1.005) {
				continue
			}
			f := v.Add(record.LineRate, 0.82, h, "none",
				fmt.Sprintf("Nothing is wrong: %v is line rate of %s (%v, %v of payload at MTU %.0f): the test fills the line.", r.Rate, only, speed, payload, mtu),
				"More takes a faster link.", scene.Saw(r.Tool, r.Rate.String(), r.Source), scene.Saw("speed of "+only, speed.String(), at))
			f.Ceiling = payload
			return
		}
	}
}

// wholeChannel: an AIX EtherChannel whose adapters all aggregate, on both sides.
func wholeChannel(v *scene.View) {
	if v.Faulty() {
		return
	}
	for _, h := range v.Hosts {
		for _, name := range h.Subjects("link") {
			mode := scene.Word(h, name, "mode")
			if mode != "8023ad" || len(h.Ports[name]) < 2 {
				continue
			}
			good := 0
			var at piece.Source
			b := scene.Bond{Host: h, Name: name}
			for _, p := range h.Ports[name] {
				b.Ports = append(b.Ports, scene.Port{Name: p})
				x, ok := h.Get("link "+p, "aggregation")
				if ok && x.Text == "aggregated" && scene.Word(h, p, "actor_sync") != "out_of_sync" && scene.Word(h, p, "partner_sync") == "in_sync" {
					good, at = good+1, x.Source
				}
			}
			parts, from, seen := b.Carried("tx")
			if good != len(b.Ports) || !seen {
				continue
			}
			if _, part := scene.Busiest(parts); part > 1.5/float64(len(parts)) {
				continue
			}
			v.Add(scene.Healthy, 0.75, h, "none", fmt.Sprintf("Nothing is wrong with %s: both sides of all %d adapters (%s) are aggregated and in sync (LACP), and all carry.", name, good, strings.Join(h.Ports[name], ", ")), "",
				scene.Saw("adapters of "+name, "aggregated, in sync", at), scene.Saw("sent", "alike by all adapters", from))
		}
	}
}

// innocent: storage that holds itself back while the network is next to idle.
func innocent(v *scene.View) {
	for _, h := range v.Hosts {
		moved, at, ok := scene.Number(h, "ceph", "recovery_bps")
		if !ok || moved <= 0 {
			continue
		}
		evidence := []record.Evidence{scene.Saw("ceph -s, recovery", unit.BitRate(moved).String(), at)}
		sure := 0.6
		for _, key := range []string{"osd_mclock_profile", "osd_max_backfills", "backfill_wait", "backfilling"} {
			if x, ok := h.Get("ceph", key); ok {
				evidence = append(evidence, scene.Saw(key, x.Text, x.Source))
				sure = min(sure+0.04, 0.72)
			}
		}
		for _, r := range v.Case.Runs {
			if float64(r.Rate) > 4*moved {
				sure += 0.14
				evidence = append(evidence, scene.Saw(r.Tool, r.Rate.String()+": the network is fine", r.Source))
				break
			}
		}
		for _, link := range h.Subjects("link") {
			if util, from, ok := scene.Number(h, "link "+link, "seen_util"); ok && util < 20 && scene.Physical(link) {
				sure += 0.08
				evidence = append(evidence, scene.Saw("load of "+link, fmt.Sprintf("%.1f %%: nearly idle", util), from))
				break
			}
		}
		v.Add(record.Application, min(sure, 0.93), h, "Ceph's recovery (mClock, osd_max_backfills)",
			fmt.Sprintf("The network is not the limit: Ceph moves %v for recovery, and no more by its own choice: its mClock profile and osd_max_backfills ration backfill in favour of clients.", unit.BitRate(moved)),
			"For the time of the rebuild: `ceph config set osd osd_mclock_profile high_recovery_ops` (before Reef, or with osd_mclock_override_recovery_settings: osd_max_backfills, osd_recovery_max_active); the disks' latency decides then.", evidence...)
	}
}
