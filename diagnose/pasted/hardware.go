package pasted

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/predict/framing"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// slotRate is what a slot carries of packets of 1500 bytes, the worse way; zero for
// a speed that no generation has.
func slotRate(gts, width float64) unit.BitRate {
	if width > 32 {
		return 0
	}
	card := netstate.Card{Generation: predict.PCIeGeneration(gts), Lanes: int(width)}
	rx, _, _ := predict.CardRate(card, 1514, false)
	tx, _, _ := predict.CardRate(card, 1514, true)
	return min(rx, tx)
}

// slots: a card whose slot gives it fewer or slower lanes than its ports need.
func slots(v *view) {
	for _, h := range v.hosts {
		for _, bdf := range h.Subjects("pci") {
			v.slot(h, bdf)
		}
	}
}

func (v *view) slot(h *piece.Host, bdf string) {
	subject := "pci " + bdf
	speed, _, okSpeed := number(h, subject, "sta_speed")
	width, at, okWidth := number(h, subject, "sta_width")
	capWidth, _, okCap := number(h, subject, "cap_width")
	capSpeed, _, _ := number(h, subject, "cap_speed")
	if acs, ok := h.Get(subject, "acs"); ok && (acs.Text == "on" || strings.Contains(acs.Text, "ReqRedir+")) {
		v.add(record.CardSlot, 0.72, h, "PCIe bridge "+bdf+" with ACS", fmt.Sprintf("The PCIe bridge %s has ACS on: traffic between devices below it goes up to the root complex and back instead of straight across.", bdf),
			"Turn ACS off on the bridges where no VM needs it: in the firmware, or `setpci -s "+bdf+" ECAP_ACS+6.w=0000`.", saw("ACSCtl of "+bdf, acs.Text, acs.Source))
	}
	gbps, source, told := number(h, subject, "available_gbps")
	if told && (!okSpeed || !okWidth) {
		at = source
		transfers, lanes := predict.PCIeSlot(unit.BitRate(gbps) * unit.Gbps)
		speed, width = transfers, float64(lanes)
	}
	rate := slotRate(speed, width)
	if rate == 0 {
		return
	}
	need, ports := v.portsOf(h, bdf)
	limited := okCap && width > 0 && width < capWidth || capSpeed > 0 && speed < capSpeed
	_, downgraded := h.Get(subject, "downgraded")
	if !limited && !downgraded && !told && (need == 0 || rate >= need) {
		return
	}
	if need > 0 && rate >= need {
		return
	}
	name, _ := h.Get(subject, "name")
	what := fmt.Sprintf("x%.0f at %g GT/s", width, speed)
	evidence := []record.Evidence{}
	if okSpeed && okWidth {
		evidence = append(evidence, saw("link of "+bdf, fmt.Sprintf("Speed %gGT/s, width x%.0f", speed, width), at))
	}
	if x, ok := h.Get(subject, "cap_width"); ok && limited {
		evidence = append(evidence, saw("the card could", fmt.Sprintf("x%s at %g GT/s%s", x.Text, capSpeed, map[bool]string{true: " (downgraded)"}[downgraded]), x.Source))
	}
	if x, ok := h.Get(subject, "available_gbps"); ok {
		evidence = append(evidence, saw("the driver says", x.Text+" Gb/s of PCIe bandwidth", x.Source))
	}
	sure := 0.62
	if need > 0 {
		sure = 0.72
	}
	for _, seen := range v.rates(h, ports) {
		if float64(seen) > 0.8*float64(rate) && float64(seen) < 1.25*float64(rate) {
			evidence = append(evidence, saw("carried", seen.String(), at))
			sure = 0.93
			break
		}
	}
	more := "more lanes (x8)"
	if width == 1 {
		more = "more lanes (x4 or wider)"
	}
	v.add(record.CardSlot, sure, h, strings.TrimSpace("PCIe slot "+bdf+" "+strings.Join(ports, ", ")),
		fmt.Sprintf("The PCIe slot limits %s: %s carries about %v for all ports of the card together, each way.", strings.TrimSpace("the card "+bdf+" "+name.Text), what, rate),
		fmt.Sprintf("Put the card into a slot with %s, wired as such (the form of the slot says nothing; `lspci -vv` LnkSta does), or take two cards.", more), evidence...)
}

// portsOf are the links of a card, all its functions, and the sum of their speeds;
// zero where one is unknown.
func (v *view) portsOf(h *piece.Host, bdf string) (sum unit.BitRate, names []string) {
	slot, _, _ := strings.Cut(strings.TrimPrefix(bdf, "0000:"), ".")
	all := true
	for _, link := range h.Subjects("link") {
		bus, ok := h.Get("link "+link, "bus")
		if !ok {
			continue
		}
		own, _, _ := strings.Cut(strings.TrimPrefix(bus.Text, "0000:"), ".")
		if own != slot {
			continue
		}
		names = append(names, link)
		speed := speedOf(h, link)
		all = all && speed > 0
		sum += speed
	}
	if !all {
		sum = 0
	}
	return sum, names
}

// rates are what was carried: runs, and what monitors saw of links.
func (v *view) rates(h *piece.Host, links []string) []unit.BitRate {
	var out []unit.BitRate
	for _, r := range v.c.Runs {
		if r.Rate > 0 {
			out = append(out, r.Rate)
		}
	}
	if len(links) == 0 {
		links = h.Subjects("link")
	}
	for _, way := range []string{"seen_tx_bps", "seen_rx_bps"} {
		sum := 0.0
		for _, l := range links {
			if word(h, l, "kind") == "bond" || l == "lo" {
				continue
			}
			n, _, _ := number(h, "link "+l, way)
			sum += n
		}
		if sum > 0 {
			out = append(out, unit.BitRate(sum))
		}
	}
	return out
}

// slowPort: a port that negotiated less than its neighbours, outside of LACP too.
func slowPort(v *view) {
	for _, h := range v.hosts {
		for _, name := range h.Subjects("link") {
			speed := speedOf(h, name)
			if speed == 0 || speed > 100*unit.Mbps || word(h, name, "state") == "down" {
				continue
			}
			master := word(h, name, "master")
			if master == "" || v.hasFinding(record.LACPDown) || !fasterSibling(h, name, master, speed) {
				continue
			}
			x, _ := fact(h, name, "speed")
			v.add(record.LineRate, 0.75, h, name, fmt.Sprintf("%s negotiated %v while another port of %s is faster: a gigabit port does that over a broken pair or an old switch port.", name, speed, master),
				"Replace its cable, then check that both ends negotiate.", saw("speed of "+name, x.Text, x.Source))
		}
	}
}

// fasterSibling reports a link with the same master and more speed.
func fasterSibling(h *piece.Host, name, master string, speed unit.BitRate) bool {
	for _, other := range h.Subjects("link") {
		if other != name && word(h, other, "master") == master && speedOf(h, other) > speed {
			return true
		}
	}
	return false
}

// badFrames: a port that receives damaged frames.
func badFrames(v *view) {
	look := func(h *piece.Host, subject, name string) {
		if strings.Trim(name, "0123456789/") == "" {
			name = "port " + name
		}
		for _, key := range []string{"rx_crc", "rx_frame", "stat.rx_crc_errors", "rx_errors"} {
			n, at, ok := number(h, subject, key)
			if !ok || n < 100 {
				continue
			}
			if packets, _, ok := number(h, subject, "rx_packets"); ok && packets > 0 && n/packets < 1e-6 {
				continue
			}
			sure := 0.9
			if key == "rx_errors" {
				if crc, _, told := number(h, subject, "rx_crc"); told && crc == 0 {
					continue
				}
				sure = 0.6
			}
			v.add(record.Congestion, sure, h, name+" of "+nameOf(h),
				fmt.Sprintf("%s receives damaged frames (%.0f, CRC errors): each is a lost packet, and TCP on that link stays slow.", name, n),
				fmt.Sprintf("Clean or replace cable, optic (SFP, transceiver) and connector of %s, one at a time, and watch the counter.", name),
				saw(strings.TrimPrefix(key, "stat.")+" of "+name, strconv.FormatFloat(n, 'f', -1, 64), at))
			return
		}
		if n, at, ok := number(h, subject, "rx_bus_overruns"); ok && n > 100 {
			v.add(record.CardSlot, 0.85, h, "port "+name+" of "+nameOf(h),
				fmt.Sprintf("Port %s counts bus overruns (%.0f): the card cannot hand its packets to the host in time, a limit of the hardware of this port.", name, n),
				"Move the traffic to another port or card, on a wider or other bus; compare its neighbour's counter.", saw("bus overruns of "+name, strconv.FormatFloat(n, 'f', -1, 64), at))
		}
	}
	for _, h := range v.hosts {
		for _, name := range h.Subjects("link") {
			look(h, "link "+name, name)
		}
	}
	for _, s := range v.c.Hosts {
		for _, name := range s.Subjects("port") {
			look(s, "port "+name, name)
		}
	}
}

// healthyRuns: runs that come to what the links carry.
func healthyRuns(v *view) {
	for _, r := range v.c.Runs {
		ceiling, what := v.ceiling(r)
		if ceiling == 0 || r.Rate < ceiling*94/100 || r.Rate > ceiling*103/100 {
			continue
		}
		f := v.add(record.LineRate, 0.86, nil, "none",
			fmt.Sprintf("Nothing is wrong: %v is line rate of %s (%v of payload at this MTU); the links are full, as they should be.", r.Rate, what, ceiling),
			"More than that takes more or faster links.", saw(r.Tool, fmt.Sprintf("%v, %d streams", r.Rate, max(len(r.Streams), 1)), r.Source))
		f.Ceiling = ceiling
	}
}

// ceiling is the payload that a run's links can carry; zero unknown.
func (v *view) ceiling(r piece.Run) (unit.BitRate, string) {
	for _, b := range v.bonds {
		sum, one := b.speeds()
		if sum == 0 || r.Client != "" && b.host.Name != "" && r.Client != b.host.Name && r.Server != b.host.Name {
			continue
		}
		mtu := 1500
		for _, name := range append([]string{b.name}, portNames(b)...) {
			if n, _, ok := number(b.host, "link "+name, "mtu"); ok {
				mtu = int(n)
				break
			}
		}
		payload := func(speed unit.BitRate) unit.BitRate {
			return framing.LinkPayload(netstate.Link{Speed: speed}, mtu, 0, false)
		}
		if b.mode == "active-backup" {
			return payload(one), "the one active link of " + b.name + " (active-backup: the other port is a standby)"
		}
		if len(r.Streams) == 1 || len(b.ports) < 2 {
			continue // one stream on one link is what a bundle gives; no verdict on the bundle
		}
		return payload(sum), fmt.Sprintf("both links of %s (%d links)", b.name, len(b.ports)-b.count(func(p port) bool { return p.down }))
	}
	return 0, ""
}

func portNames(b bond) (out []string) {
	for _, p := range b.ports {
		out = append(out, p.name)
	}
	return out
}

// standardSpeeds are those of Ethernet.
var standardSpeeds = []unit.BitRate{100 * unit.Mbps, unit.Gbps, 2.5 * unit.Gbps, 5 * unit.Gbps, 10 * unit.Gbps, 25 * unit.Gbps, 40 * unit.Gbps, 50 * unit.Gbps, 100 * unit.Gbps, 200 * unit.Gbps, 400 * unit.Gbps}

// singleLinks: a run at the rate of one link, between hosts that show no bundle.
func singleLinks(v *view) {
	if len(v.bonds) > 0 || len(v.switches) > 0 {
		return
	}
	for _, h := range v.hosts {
		for _, name := range h.Subjects("link") {
			if word(h, name, "laggproto") != "" || word(h, name, "master") != "" {
				return
			}
		}
		for _, r := range h.Routes {
			if len(r.Hops) > 1 {
				return
			}
		}
	}
	for _, r := range v.c.Runs {
		for _, h := range v.hosts {
			for _, name := range h.Subjects("link") {
				mtu, at, ok := number(h, "link "+name, "mtu")
				if !ok || name == "lo" || !v.holds(h, name, r) {
					continue
				}
				speeds := standardSpeeds
				if speed := speedOf(h, name); speed > 0 {
					speeds = []unit.BitRate{speed}
				}
				for _, speed := range speeds {
					payload := framing.LinkPayload(netstate.Link{Speed: speed}, int(mtu), 0, false)
					if r.Rate < payload*985/1000 || r.Rate > payload*1005/1000 {
						continue
					}
					f := v.add(record.LineRate, 0.82, h, "none",
						fmt.Sprintf("Nothing is wrong: %v is line rate of %v at MTU %.0f (%v of payload); the link is full, as it should be.", r.Rate, speed, mtu, payload),
						"More takes a faster link, or more links and several flows.", saw(r.Tool, r.Rate.String(), r.Source), saw("MTU of "+name, fmt.Sprintf("%.0f", mtu), at))
					f.Ceiling = payload
				}
			}
		}
	}
}

// holds reports a run whose near address a link has.
func (v *view) holds(h *piece.Host, link string, r piece.Run) bool {
	for _, a := range addresses(h) {
		for _, s := range r.Streams {
			if a.link == link && (s.Local.IsValid() && a.prefix.Addr() == s.Local.Addr() || s.Remote.IsValid() && a.prefix.Addr() == s.Remote.Addr()) {
				return true
			}
		}
	}
	return false
}

// healthyState: LACP that is whole on a bond whose ports carry alike.
func healthyState(v *view) {
	for _, b := range v.bonds {
		if b.mode != "802.3ad" || len(b.ports) < 2 || b.policy == "layer2" || len(v.bonds) > 1 {
			continue
		}
		n, at, ok := number(b.host, "link "+b.name, "ad_num_ports")
		if !ok || int(n) != len(b.ports) {
			continue
		}
		parts, from, seen := b.carried("tx")
		if !seen {
			continue
		}
		if _, part := busiest(parts); part > 1.5/float64(len(parts)) {
			continue
		}
		v.add(Healthy, 0.7, b.host, "none", fmt.Sprintf("Nothing is wrong with %s: LACP is up on both ends of all %d ports, and all of them carry.", b.name, len(b.ports)), "",
			saw("ports in the aggregator", fmt.Sprintf("%.0f of %d", n, len(b.ports)), at), saw("sent", "alike by all ports", from))
	}
}

// wholeLACP: bundles of other systems, and of switches, that are whole.
func wholeLACP(v *view) {
	if v.faulty() {
		return
	}
	for _, h := range v.hosts {
		for _, name := range h.Subjects("link") {
			kind := word(h, name, "kind")
			if kind != "team" && kind != "lagg" && word(h, name, "laggproto") == "" && kind != "ovs-bond" && word(h, name, "lacp_status") == "" {
				continue
			}
			v.wholeBundle(h, name)
		}
	}
	for _, s := range v.switches {
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
		if up >= 2 && len(v.hosts) == 0 && !unevenChannel(s) {
			v.add(Healthy, 0.7, s, "none", fmt.Sprintf("Nothing is wrong here: all %d members (%s) are bundled and in sync, both ends agree.", up, strings.Join(ports, ", ")), "",
				saw("members of "+nameOf(s), "all bundled", at))
		}
	}
}

// faulty reports a finding that something is wrong.
func (v *view) faulty() bool {
	for _, f := range v.findings {
		if f.Confidence >= 0.5 && f.Cause != Healthy && f.Cause != record.LineRate {
			return true
		}
	}
	return false
}

// wholeBundle: every member is in use, or in failover one is and the others wait.
func (v *view) wholeBundle(h *piece.Host, name string) {
	members, use := 0, 0
	var at piece.Source
	for _, link := range h.Subjects("link") {
		if word(h, link, "master") != strings.ToLower(name) {
			continue
		}
		members++
		if x, ok := h.Get("link "+link, "lacp_state"); ok && !strings.Contains(x.Text, "current") {
			continue // defaulted, expired: no partner
		}
		for key, good := range map[string]string{"selected": "yes", "bundled": "yes", "may_enable": "true", "lacp_state": "current", "lagg_flags": "active"} {
			if x, ok := h.Get("link "+link, key); ok && strings.Contains(strings.ToLower(x.Text), good) {
				use, at = use+1, x.Source
				break
			}
		}
	}
	failover := word(h, name, "laggproto") == "failover"
	switch {
	case members < 2 || use == 0:
	case failover:
		v.add(Healthy, 0.7, h, "none", fmt.Sprintf("Nothing is wrong: %s is a failover lagg: one port (the master) carries, the others are standby, so one link's rate is as it should be.", name), "For the sum of the links use laggproto lacp and a LAG at the switch.",
			saw("laggproto of "+name, "failover", at))
	case use == members:
		v.add(Healthy, 0.7, h, "none", fmt.Sprintf("Nothing is wrong with %s: all %d members are selected and in use, LACP is current on both ends.", name, members), "",
			saw("members of "+name, "all in use", at))
	}
}
