package hosts

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/linerate/linerate/diagnose/pasted/scene"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict/framing"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// badFrames: a port that receives damaged frames.
func badFrames(v *scene.View) {
	look := func(h *piece.Host, subject, name string) {
		if strings.Trim(name, "0123456789/") == "" {
			name = "port " + name
		}
		for _, key := range []string{"rx_crc", "rx_frame", "stat.rx_crc_errors", "rx_errors"} {
			n, at, ok := scene.Number(h, subject, key)
			if !ok || n < 100 {
				continue
			}
			if packets, _, ok := scene.Number(h, subject, "rx_packets"); ok && packets > 0 && n/packets < 1e-6 {
				continue
			}
			sure := 0.9
			if key == "rx_errors" {
				if crc, _, told := scene.Number(h, subject, "rx_crc"); told && crc == 0 {
					continue
				}
				sure = 0.6
			}
			v.Add(record.Congestion, sure, h, name+" of "+scene.NameOf(h),
				fmt.Sprintf("%s receives damaged frames (%.0f, CRC errors): each is a lost packet, and TCP on that link stays slow.", name, n),
				fmt.Sprintf("Clean or replace cable, optic (SFP, transceiver) and connector of %s, one at a time, and watch the counter.", name),
				scene.Saw(strings.TrimPrefix(key, "stat.")+" of "+name, strconv.FormatFloat(n, 'f', -1, 64), at))
			return
		}
		if n, at, ok := scene.Number(h, subject, "rx_bus_overruns"); ok && n > 100 {
			v.Add(record.CardSlot, 0.85, h, "port "+name+" of "+scene.NameOf(h),
				fmt.Sprintf("Port %s counts bus overruns (%.0f): the card cannot hand its packets to the host in time, a limit of the hardware of this port.", name, n),
				"Move the traffic to another port or card, on a wider or other bus; compare its neighbour's counter.", scene.Saw("bus overruns of "+name, strconv.FormatFloat(n, 'f', -1, 64), at))
		}
	}
	for _, h := range v.Hosts {
		for _, name := range h.Subjects("link") {
			look(h, "link "+name, name)
		}
	}
	for _, s := range v.Case.Hosts {
		for _, name := range s.Subjects("port") {
			look(s, "port "+name, name)
		}
	}
}

// healthyRuns: runs that come to what the links carry.
func healthyRuns(v *scene.View) {
	for _, r := range v.Case.Runs {
		ceiling, what := ceiling(v, r)
		if ceiling == 0 || r.Rate < ceiling*94/100 || r.Rate > ceiling*103/100 {
			continue
		}
		f := v.Add(record.LineRate, 0.86, nil, "none",
			fmt.Sprintf("Nothing is wrong: %v is line rate of %s (%v of payload at this MTU); the links are full, as they should be.", r.Rate, what, ceiling),
			"More than that takes more or faster links.", scene.Saw(r.Tool, fmt.Sprintf("%v, %d streams", r.Rate, max(len(r.Streams), 1)), r.Source))
		f.Ceiling = ceiling
	}
}

// ceiling is the payload that a run's links can carry; zero unknown.
func ceiling(v *scene.View, r piece.Run) (unit.BitRate, string) {
	for _, b := range v.Bonds {
		sum, one := b.Speeds()
		if b.Count(func(p scene.Port) bool { return p.Down }) > 0 {
			continue // what is left may be full, and is not all there is
		}
		if sum == 0 || r.Client != "" && b.Host.Name != "" && r.Client != b.Host.Name && r.Server != b.Host.Name {
			continue
		}
		mtu := 1500
		for _, name := range append([]string{b.Name}, portNames(b)...) {
			if n, _, ok := scene.Number(b.Host, "link "+name, "mtu"); ok {
				mtu = int(n)
				break
			}
		}
		payload := func(speed unit.BitRate) unit.BitRate {
			return framing.LinkPayload(netstate.Link{Speed: speed}, mtu, 0, false)
		}
		if b.Mode == "active-backup" {
			return payload(one), "the one active link of " + b.Name + " (active-backup: the other port is a standby)"
		}
		if len(r.Streams) == 1 || len(b.Ports) < 2 {
			continue // one stream on one link is what a bundle gives; no verdict on the bundle
		}
		return payload(sum), fmt.Sprintf("both links of %s (%d links)", b.Name, len(b.Ports))
	}
	return 0, ""
}

func portNames(b scene.Bond) (out []string) {
	for _, p := range b.Ports {
		out = append(out, p.Name)
	}
	return out
}

// standardSpeeds are those of Ethernet.
var standardSpeeds = []unit.BitRate{100 * unit.Mbps, unit.Gbps, 2.5 * unit.Gbps, 5 * unit.Gbps, 10 * unit.Gbps, 25 * unit.Gbps, 40 * unit.Gbps, 50 * unit.Gbps, 100 * unit.Gbps, 200 * unit.Gbps, 400 * unit.Gbps}

// singleLinks: a run at the rate of one link, between hosts that show no bundle.
func singleLinks(v *scene.View) {
	if len(v.Bonds) > 0 || len(v.Switches) > 0 {
		return
	}
	for _, h := range v.Hosts {
		for _, name := range h.Subjects("link") {
			if scene.Word(h, name, "laggproto") != "" || scene.Word(h, name, "master") != "" {
				return
			}
		}
		for _, r := range h.Routes {
			if len(r.Hops) > 1 {
				return
			}
		}
	}
	for _, r := range v.Case.Runs {
		for _, h := range v.Hosts {
			for _, name := range h.Subjects("link") {
				mtu, at, ok := scene.Number(h, "link "+name, "mtu")
				if !ok || scene.Pseudo(name) || !holds(v, h, name, r) {
					continue
				}
				speeds := standardSpeeds
				if speed := scene.SpeedOf(h, name); speed > 0 {
					speeds = []unit.BitRate{speed}
				}
				for _, speed := range speeds {
					payload := framing.LinkPayload(netstate.Link{Speed: speed}, int(mtu), 0, false)
					if r.Rate < payload*985/1000 || r.Rate > payload*1005/1000 {
						continue
					}
					f := v.Add(record.LineRate, 0.82, h, "none",
						fmt.Sprintf("Nothing is wrong: %v is line rate of %v at MTU %.0f (%v of payload); the link is full, as it should be.", r.Rate, speed, mtu, payload),
						"More takes a faster link, or more links and several flows.", scene.Saw(r.Tool, r.Rate.String(), r.Source), scene.Saw("MTU of "+name, fmt.Sprintf("%.0f", mtu), at))
					f.Ceiling = payload
				}
			}
		}
	}
}

// holds reports a run whose near address a link has.
func holds(v *scene.View, h *piece.Host, link string, r piece.Run) bool {
	for _, a := range scene.Addresses(h) {
		for _, s := range r.Streams {
			if a.Link == link && (s.Local.IsValid() && a.Prefix.Addr() == s.Local.Addr() || s.Remote.IsValid() && a.Prefix.Addr() == s.Remote.Addr()) {
				return true
			}
		}
	}
	return false
}

// healthyState: LACP that is whole on a bond whose ports carry alike.
func healthyState(v *scene.View) {
	for _, b := range v.Bonds {
		if b.Mode != "802.3ad" || len(b.Ports) < 2 || b.Policy == "layer2" || len(v.Bonds) > 1 {
			continue
		}
		n, at, ok := scene.Number(b.Host, "link "+b.Name, "ad_num_ports")
		if !ok || int(n) != len(b.Ports) {
			continue
		}
		parts, from, seen := b.Carried("tx")
		if !seen {
			continue
		}
		if _, part := scene.Busiest(parts); part > 1.5/float64(len(parts)) {
			continue
		}
		v.Add(scene.Healthy, 0.7, b.Host, "none", fmt.Sprintf("Nothing is wrong with %s: LACP is up on both ends of all %d ports, and all of them carry.", b.Name, len(b.Ports)), "",
			scene.Saw("ports in the aggregator", fmt.Sprintf("%.0f of %d", n, len(b.Ports)), at), scene.Saw("sent", "alike by all ports", from))
	}
}

// wholeLACP: bundles of other systems, and of switches, that are whole. Where somebody
// says that one link carries all, that it does not come up, or that traffic is lost, states
// do not show that it is well.
func wholeLACP(v *scene.View) {
	if v.Faulty() || v.Said("one_link", "few_links", "not_up", "oversubscribed", "traffic_lost") {
		return
	}
	for _, h := range v.Hosts {
		for _, name := range h.Subjects("link") {
			kind := scene.Word(h, name, "kind")
			if kind != "team" && kind != "lagg" && scene.Word(h, name, "laggproto") == "" && kind != "ovs-bond" && scene.Word(h, name, "lacp_status") == "" {
				continue
			}
			wholeBundle(v, h, name)
		}
	}
	for _, s := range v.Switches {
		up, ports := 0, []string{}
		var at piece.Source
		for _, name := range s.Subjects("port") {
			if x, ok := s.Get("port "+name, "bundled"); ok {
				if x.Text != "yes" {
					return
				}
				up++
				ports, at = append(ports, name), x.Source
			}
		}
		if up >= 2 && len(v.Hosts) == 0 && !scene.UnevenChannel(s) && !channelDown(s) {
			v.Add(scene.Healthy, 0.7, s, "none", fmt.Sprintf("Nothing is wrong here: all %d members (%s) are bundled and in sync, both ends agree.", up, strings.Join(ports, ", ")), "",
				scene.Saw("members of "+scene.NameOf(s), "all bundled", at))
		}
	}
}

// channelDown reports a switch that has a channel which is down: nobody's, or the one
// that is asked about.
func channelDown(s *piece.Host) bool {
	return slices.ContainsFunc(s.Subjects("channel"), func(name string) bool {
		state, _ := s.Get("channel "+name, "state")
		return state.Text == "down"
	})
}

// wholeBundle: every member is in use, or in failover one is and the others wait.
func wholeBundle(v *scene.View, h *piece.Host, name string) {
	members, use := 0, 0
	var at piece.Source
	for _, link := range h.Subjects("link") {
		if scene.Word(h, link, "master") != strings.ToLower(name) {
			continue
		}
		members++
		if x, ok := h.Get("link "+link, "lacp_state"); ok && !strings.Contains(x.Text, "current") {
			continue // defaulted, expired: no partner
		}
		for _, good := range []struct{ key, word string }{{"lacp_state", "current"}, {"may_enable", "true"}, {"selected", "yes"}, {"bundled", "yes"}, {"lagg_flags", "active"}} {
			if x, ok := h.Get("link "+link, good.key); ok && strings.Contains(strings.ToLower(x.Text), good.word) {
				use, at = use+1, x.Source
				break
			}
		}
	}
	failover := scene.Word(h, name, "laggproto") == "failover"
	unread := scene.Word(h, name, "kind") == "ovs-bond" && scene.Word(h, name, "bond_mode") == "" && scene.Word(h, name, "lacp_status") == ""
	switch {
	case members < 2 || use == 0 || unread: // ports that may carry say nothing of a mode and of a partner
	case failover:
		v.Add(scene.Healthy, 0.7, h, "none", fmt.Sprintf("Nothing is wrong: %s is a failover lagg: one port (the master) carries, the others are standby, so one link's rate is as it should be.", name), "For the sum of the links use laggproto lacp and a LAG at the switch.",
			scene.Saw("laggproto of "+name, "failover", at))
	case use == members:
		agreed := ", LACP is current on both ends"
		if proto := scene.Word(h, name, "laggproto"); scene.Word(h, name, "lacp_status") == "off" || proto != "" && proto != "lacp" {
			agreed = ""
		}
		v.Add(scene.Healthy, 0.7, h, "none", fmt.Sprintf("Nothing is wrong with %s: all %d members are selected and in use%s.", name, members, agreed), "",
			scene.Saw("members of "+name, "all in use", at))
	}
}
