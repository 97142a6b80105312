package hosts

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"github.com/linerate/linerate/diagnose/pasted/scene"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict/framing"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// speedStep: a slow port behind a faster one that drops: its buffer is too small for
// the bursts of the faster one.
func speedStep(v *scene.View) {
	for _, s := range v.Case.Hosts {
		for _, name := range s.Subjects("port") {
			subject := "port " + name
			drops, at, ok := scene.Number(s, subject, "drops")
			sent, _, counted := scene.Number(s, subject, "tx_packets")
			speed := portSpeed(s, name)
			if !ok || drops < 1000 || counted && sent > 0 && drops/sent < 1e-4 || speed == 0 {
				continue
			}
			fast, faster := unit.BitRate(0), ""
			for _, other := range s.Subjects("port") {
				if o := portSpeed(s, other); o > speed && o > fast && !scene.NoLink(s, "port "+other) {
					fast, faster = o, other
				}
			}
			if faster == "" {
				continue
			}
			sure := 0.66
			evidence := []record.Evidence{scene.Saw("dropped at port "+name, fmt.Sprintf("%.0f packets to send", drops), at)}
			if x, ok := s.Get(subject, "flow_control"); ok && x.Text == "no" {
				evidence = append(evidence, scene.Saw("flow control of port "+name, "off", x.Source))
				sure = 0.8
			}
			for _, r := range v.Case.Runs {
				if r.Retransmits > 100 && r.Rate < speed*80/100 {
					evidence = append(evidence, scene.Saw(r.Tool, fmt.Sprintf("%v with %d retransmits", r.Rate, r.Retransmits), r.Source))
					sure = 0.92
					break
				}
			}
			v.Add(record.Congestion, sure, s, "port "+name+" of "+scene.NameOf(s),
				fmt.Sprintf("The switch drops packets at port %s (%v): a sender behind a faster port (%s, %v) sends bursts that overrun its small buffer (queue), and TCP takes each drop for congestion.", name, speed, faster, fast),
				"Turn flow control (pause) on at both ports and the fast sender, or take a switch with more buffer; or pace the sender: fq with BBR, or a shaper a little below the slow port's rate. A faster link at the slow end ends it.", evidence...)
		}
	}
	stepBetweenHosts(v)
}

func portSpeed(h *piece.Host, name string) unit.BitRate {
	x, _ := h.Get("port "+name, "speed")
	return piece.Speed(x.Text)
}

// stepBetweenHosts: two hosts with links of different speed, and losses towards the
// slower one.
func stepBetweenHosts(v *scene.View) {
	if len(v.Hosts) != 2 || len(v.Bonds) > 0 {
		return
	}
	a, aok := onlyLink(v.Hosts[0])
	b, bok := onlyLink(v.Hosts[1])
	if !aok || !bok || a.Speed == b.Speed || a.Speed == 0 || b.Speed == 0 {
		return
	}
	fast, slow := v.Hosts[0], v.Hosts[1]
	if b.Speed > a.Speed {
		fast, slow, a, b = slow, fast, b, a
	}
	for _, r := range v.Case.Runs {
		if from, _ := scene.Sides(r); from != fast.Name || r.Retransmits < 300 || r.Rate > b.Speed*75/100 || r.Rate < b.Speed*5/100 {
			continue
		}
		v.Add(record.Congestion, 0.72, slow, "the switch's port of "+scene.NameOf(slow),
			fmt.Sprintf("%s sends from %v into the %v of %s and loses packets (%d retransmits): bursts at the higher speed overrun the buffer of the switch's slow port.", scene.NameOf(fast), a.Speed, b.Speed, scene.NameOf(slow), r.Retransmits),
			"Turn flow control (pause) on along the path, or pace the sender (fq with BBR, a shaper below the slow link's rate), or take a switch with more buffer.",
			scene.Saw(r.Tool, fmt.Sprintf("%v with %d retransmits", r.Rate, r.Retransmits), r.Source))
	}
}

// onlyLink is a host's one real link; false where it has none or several that are up.
func onlyLink(h *piece.Host) (only scene.Port, ok bool) {
	for _, name := range h.Subjects("link") {
		if !scene.Physical(name) || scene.Word(h, name, "kind") == "bridge" || scene.VLAN(h, name) || scene.NoLink(h, "link "+name) || isWireless(h, name) || strings.HasPrefix(name, "lo") || strings.Contains(name, "Loopback") {
			continue
		}
		speed := scene.SpeedOf(h, name)
		if speed == 0 {
			continue
		}
		if only.Name != "" {
			return scene.Port{}, false
		}
		only = scene.Port{Name: name, Speed: speed}
	}
	return only, only.Name != ""
}

// downshift: a link that came up slower than both of its ends can.
func downshift(v *scene.View) {
	for _, h := range v.Case.Hosts {
		for _, name := range h.Subjects("link") {
			speed := scene.SpeedOf(h, name)
			if scene.NoLink(h, "link "+name) {
				continue
			}
			if speed == 0 {
				partnerAlone(v, h, name)
				continue
			}
			downshifted(v, h, name, speed)
		}
		for _, name := range h.Subjects("port") {
			own, ok := h.Get("port "+name, "own_modes")
			far, ok2 := h.Get("port "+name, "partner_modes")
			speed := portSpeed(h, name)
			if !ok || !ok2 || speed == 0 || scene.NoLink(h, "port "+name) {
				continue
			}
			if best := min(modesMost(own.Text), modesMost(far.Text)); best > speed {
				lower(v, h, name, speed, best, 0.88, scene.Saw("the other end of "+name, far.Text, far.Source))
			}
		}
	}
}

// partnerAlone: the modes of both ends, where the line of the speed was left out.
func partnerAlone(v *scene.View, h *piece.Host, name string) {
	own, _, ok := scene.Number(h, "link "+name, "advertised_speed_max")
	far, at, ok2 := scene.Number(h, "link "+name, "partner_speed_max")
	if most := unit.BitRate(far) * unit.Mbps; ok && ok2 && own <= 1000 && own > far && v.Best() <= most && scene.Word(h, name, "log_speed") == "" {
		v.Add(record.LineRate, 0.55, h, name+" of "+scene.NameOf(h),
			fmt.Sprintf("The other end of %s offers no more than %v where this card could do %.0f Mbit/s: they cannot agree on more, and that is the line rate.", name, most, own),
			"Plug it into another port with another cable, and look what that port offers and whether its configuration limits it; the line Speed of `ethtool "+name+"` says what was agreed.",
			scene.Saw("the other end of "+name, fmt.Sprintf("offers %.0f Mbit/s", far), at))
	}
}

func downshifted(v *scene.View, h *piece.Host, name string, speed unit.BitRate) {
	for _, e := range h.Events {
		if strings.Contains(e.Text, "downshifted") && (e.Link == name || strings.Contains(e.Text, " "+name+":")) {
			lower(v, h, name, speed, unit.Gbps, 0.92, scene.Saw("log", e.Text, e.Source))
			return
		}
	}
	own, _, ok := scene.Number(h, "link "+name, "advertised_speed_max")
	if !ok {
		own, _, ok = scene.Number(h, "link "+name, "speed_max")
	}
	far, at, ok2 := scene.Number(h, "link "+name, "partner_speed_max")
	best := unit.BitRate(min(own, far)) * unit.Mbps
	if ok && ok2 && best > speed {
		lower(v, h, name, speed, best, 0.88, scene.Saw("the other end of "+name, fmt.Sprintf("offers %.0f Mbit/s", far), at))
		return
	}
	able, _, ok3 := scene.Number(h, "link "+name, "speed_max")
	x, _ := h.Get("link "+name, "speed")
	switch {
	case ok && ok2 && ok3 && own < able && far > own && unit.BitRate(own)*unit.Mbps == speed:
		v.Add(record.LineRate, 0.88, h, name+" of "+scene.NameOf(h),
			fmt.Sprintf("%s offers no more than %v although the card can do %.0f Mbit/s and the other end offers %.0f: its advertised modes were restricted, and %v is the line rate of what was agreed.", name, speed, able, far, speed),
			fmt.Sprintf("Advertise all modes again: `ethtool -s %s autoneg on advertise 0xffffffffffff` or without the option, and take the setting out of the link's configuration; then check the speed.", name), scene.Saw("speed of "+name, x.Text, x.Source))
		return
	case ok && ok2 && own > far && unit.BitRate(far)*unit.Mbps == speed:
		v.Add(record.LineRate, 0.72, h, name+" of "+scene.NameOf(h),
			fmt.Sprintf("%s runs at %v because the other end offers no more (%.0f Mbit/s), while this card could do %.0f: the switch's port sets the line rate.", name, speed, far, own),
			"Plug it into a port of the switch that is as fast as the card (and look whether that port is limited by its configuration).", scene.Saw("the other end of "+name, fmt.Sprintf("offers %.0f Mbit/s", far), at))
		return
	}
	if by := scene.Word(h, name, "autoneg"); by == "off" && unit.BitRate(able)*unit.Mbps > speed && v.Best() <= speed {
		v.Add(record.LineRate, 0.74, h, name+" of "+scene.NameOf(h),
			fmt.Sprintf("%s runs at %v although it can do %.0f Mbit/s, and does not negotiate: the speed was set by hand, and is the line rate.", name, speed, able),
			fmt.Sprintf("Let both ends negotiate again: `ethtool -s %s autoneg on`, the same at the other end, and take the setting out of the link's configuration (a start script, post-up, .link file).", name),
			scene.Saw("speed of "+name, x.Text, x.Source), scene.Saw("negotiation of "+name, by, x.Source))
		return
	}
	if refused, at, ok := scene.Number(h, "link "+name, "refused_speed"); ok && unit.BitRate(refused)*unit.Mbps > speed && v.Best() <= speed {
		v.Add(record.LineRate, 0.66, h, name+" of "+scene.NameOf(h),
			fmt.Sprintf("%s runs at %v, and ethtool finds no mode of %v: its card and driver offer none, so that %v is its line rate whatever the other end can.", name, speed, unit.BitRate(refused)*unit.Mbps, speed),
			fmt.Sprintf("See what it supports (`ethtool %s`), and whether a newer ethtool and driver know more (old ones name no 2.5 and 5 Gbit/s); an adapter also needs a bus that is fast enough (USB 3). If the modes end there, only another card is faster.", name),
			scene.Saw("speed of "+name, x.Text, x.Source), scene.Saw("ethtool", fmt.Sprintf("cannot advertise speed %.0f", refused), at))
		return
	}
	about := scene.Word(h, name, "description")
	if speed <= 100*unit.Mbps && scene.Contains(about, "gigabit", "2.5g", "10g", "gbe", "1000base", "5gbe", "i210", "i211", "i219", "i225", "i226") {
		sure := 0.66
		for _, r := range v.Case.Runs {
			if r.Rate > speed*85/100 && r.Rate < speed {
				sure = 0.86
			}
		}
		lower(v, h, name, speed, 0, sure, scene.Saw("speed of "+name, x.Text+" ("+about+")", x.Source))
		return
	}
	if able > 0 && able <= 100 || speed > 100*unit.Mbps || !onlySpeed(h, name) || v.Best() > speed {
		return
	}
	sure, can := 0.5, "if its card can do more (`ethtool "+name+"` lists what it supports)"
	if able >= 1000 {
		sure, can = 0.66, fmt.Sprintf("although it can do %.0f Mbit/s", able)
	}
	v.Add(record.LineRate, sure, h, name+" of "+scene.NameOf(h),
		fmt.Sprintf("%s runs at %v: that is its line rate, and all that goes by it gets no more. Gigabit needs all four pairs of the cable: this is what a port falls back to over a bad one, %s; or the other end (a switch's port, a modem, an adapter) offers no more.", name, speed, can),
		"Replace the patch cable first, then try another port of the switch; let both ends negotiate (`ethtool -s "+name+" autoneg on`), and look at what the other end offers (\"Link partner advertised link modes\").", scene.Saw("speed of "+name, x.Text, x.Source))
}

// onlySpeed reports the only link of a host whose speed was read, and a card's: not of
// another kind, and no bond's port.
func onlySpeed(h *piece.Host, name string) bool {
	for _, other := range h.Subjects("link") {
		if scene.SpeedOf(h, other) > 0 && other != name {
			return false
		}
	}
	_, enslaved := h.Get("link "+name, "master")
	return !enslaved && !tunnelled(name) && !strings.HasPrefix(name, "wl") && !strings.HasPrefix(name, "usb") && len(h.Ports) == 0
}

// lower is a link below what both ends can.
func lower(v *scene.View, h *piece.Host, name string, speed, best unit.BitRate, sure float64, e record.Evidence) {
	can := fmt.Sprintf("both ends can do %v", best)
	if best == 0 {
		can = "the card can do 1 Gbit/s and more"
	}
	v.Add(record.LineRate, sure, h, name+" of "+scene.NameOf(h),
		fmt.Sprintf("%s runs at %v (%d Mb/s) although %s: the link came up lower (downshifted), as it does over a cable with a bad pair, and that speed is its line rate.", name, speed, int(speed/unit.Mbps), can),
		"Replace the patch cable first (all four pairs are needed above 100 Mbit/s), then the wall cable, plug or connector and the switch's port; check `ethtool` again.", e)
}

// modesMost is the fastest of RouterOS's modes ("1G-baseT-full", "1000M-full").
func modesMost(list string) (most unit.BitRate) {
	for _, w := range strings.Split(list, ",") {
		number, _, _ := strings.Cut(strings.TrimSpace(w), "-")
		if mbits := piece.Mbits(number); mbits != "" {
			most = max(most, piece.Speed(mbits))
		}
	}
	return most
}

// tunnelled reports a link of a tunnel.
func tunnelled(link string) bool {
	for _, p := range []string{"wg", "tun", "tap", "tailscale", "ppp", "utun", "zt", "ipsec", "gpd", "cscotun", "nordlynx", "proton"} {
		if rest, ok := strings.CutPrefix(link, p); ok && (rest == "" || strings.Trim(rest, "0123456789abcdefghijklmnopqrstuvwxyz") == "") {
			return true
		}
	}
	low := " " + strings.ToLower(link) + " "
	return scene.Contains(low, "vpn", "wireguard", " wg ", "tailscale", "zerotier", "nordlynx", "openvpn")
}

// throughTunnel: an address of a private network that is reached by a tunnel while
// the host has a gateway of its own.
func throughTunnel(v *scene.View) {
	for _, h := range v.Hosts {
		local := ""
		for _, r := range h.Routes {
			if r.Dst.IsValid() && r.Dst.Bits() == 0 && r.Gateway.IsValid() && r.Gateway.IsPrivate() && !tunnelled(r.Link) {
				local = r.Link
			}
		}
		for _, target := range h.Subjects("path") {
			dev, ok := h.Get("path "+target, "dev")
			a, err := netip.ParseAddr(target)
			if !ok || err != nil || !a.IsPrivate() || !tunnelled(dev.Text) {
				continue
			}
			evidence := []record.Evidence{scene.Saw("route to "+target, "dev "+dev.Text, dev.Source)}
			sure := 0.7
			network := target
			for _, r := range h.Routes {
				if r.Link == dev.Text && r.Dst.IsValid() && r.Dst.Contains(a) && r.Dst.Bits() < 32 {
					network = r.Dst.String()
					evidence = append(evidence, scene.Saw("route", network+" dev "+r.Link, r.Source))
					sure = 0.76
				}
			}
			if local != "" {
				sure += 0.06
			}
			for _, near := range scene.Addresses(h) {
				if near.Link != dev.Text && near.Prefix.Contains(a) {
					evidence = append(evidence, scene.Saw("address of "+near.Link, near.Prefix.String()+": in the same network", near.At))
					sure = 0.9
				}
			}
			for _, t := range h.Traces {
				if len(t.Hops) > 0 && (t.Target == target || t.Target == "") && t.Hops[0].AvgMS > 3 {
					evidence = append(evidence, scene.Saw("first hop of the trace", fmt.Sprintf("%.1f ms away: not in the local network", t.Hops[0].AvgMS), t.Source))
					sure += 0.06
					break
				}
			}
			v.Add(record.AsymmetricRoute, sure, h, fmt.Sprintf("%s of %s goes through %s", network, scene.NameOf(h), dev.Text),
				fmt.Sprintf("%s reaches %s through the tunnel (VPN) %s: the route to %s leads there, so that local traffic goes over the Internet line and back, with the tunnel's rate.", scene.NameOf(h), target, dev.Text, network),
				fmt.Sprintf("At that place take %s down, or take %s out of its AllowedIPs (routes), or give the route by the local gateway the lower metric.", dev.Text, network), evidence...)
		}
	}
}

// radio: a run over Wi-Fi.
func radio(v *scene.View) {
	for _, h := range v.Hosts {
		for _, name := range h.Subjects("link") {
			if scene.Word(h, name, "wifi") != "yes" {
				continue
			}
			tx, at, ok := scene.Number(h, "link "+name, "wifi_tx")
			if rx, from, got := scene.Number(h, "link "+name, "wifi_rx"); got && (!ok || rx > tx) {
				tx, at, ok = rx, from, true
			}
			if !ok {
				continue
			}
			weak := ""
			if s, _, ok := scene.Number(h, "link "+name, "wifi_signal"); ok && s < -67 {
				weak = fmt.Sprintf("; the signal is weak (%.0f dBm)", s)
			}
			if s, _, ok := scene.Number(h, "link "+name, "wifi_percent"); ok && s < 60 {
				weak = fmt.Sprintf("; the signal is weak (%.0f %%)", s)
			}
			evidence := []record.Evidence{scene.Saw("bitrate of "+name, fmt.Sprintf("%g Mbit/s of the radio%s", tx, weak), at)}
			sure := 0.55
			if weak != "" {
				sure = 0.65
			}
			over := routed(v, h, name)
			for _, r := range v.Case.Runs {
				share := float64(r.Rate) / (tx * 1e6)
				if (r.Client == "" || r.Client == h.Name || r.Server == h.Name) && share > 0.3 && share < 0.9 {
					evidence = append(evidence, scene.Saw(r.Tool, r.Rate.String(), r.Source))
					sure += 0.2
					if over {
						sure += 0.08
					}
					break
				} else if share > 1.2 || r.Client != "" && r.Client != h.Name && r.Server != h.Name {
					sure = 0.3 // another host's
				}
			}
			tries, _, _ := scene.Number(h, "link "+name, "wifi_retries")
			if n, from, ok := scene.Number(h, "link "+name, "wifi_packets"); ok && n > 0 && tries/n > 0.2 {
				evidence = append(evidence, scene.Saw("retries of the radio", fmt.Sprintf("%.0f %% of the packets", 100*tries/n), from))
			}
			band := ""
			if mhz, _, ok := scene.Number(h, "link "+name, "wifi_mhz"); ok && mhz < 3000 {
				band = " on 2.4 GHz"
			}
			v.Add(record.LineRate, sure, h, "the Wi-Fi link "+name+" of "+scene.NameOf(h),
				fmt.Sprintf("%s is on Wi-Fi (%s)%s: its radio runs at %g Mbit/s%s, and about half to two thirds of that is payload. That is what this wireless link gives; a bond or switch behind it changes nothing.", scene.NameOf(h), name, band, tx, weak),
				"Use a cable (Ethernet), or 5 or 6 GHz nearer to the access point, a wider or less used channel.", evidence...)
		}
	}
}

// routed reports a route that leads by a link.
func routed(v *scene.View, h *piece.Host, link string) bool {
	for _, target := range h.Subjects("path") {
		if dev, ok := h.Get("path "+target, "dev"); ok && dev.Text == link {
			return true
		}
	}
	return slices.ContainsFunc(h.Routes, func(r piece.Route) bool { return r.Link == link && r.Dst.IsValid() && r.Dst.Bits() == 0 })
}

// fullLink: a link that a monitor sees full, one way or both.
func fullLink(v *scene.View) {
	for _, h := range v.Hosts {
		for _, name := range h.Subjects("link") {
			speed := scene.SpeedOf(h, name)
			in, at, got := scene.Number(h, "link "+name, "seen_rx_bps")
			out, _, sent := scene.Number(h, "link "+name, "seen_tx_bps")
			if speed == 0 || !got || !sent || scene.Word(h, name, "master") != "" || scene.Word(h, name, "kind") == "bond" {
				continue
			}
			full := func(n float64) bool { return n > 0.9*float64(speed) && n < 1.03*float64(speed) }
			if full(in) && full(out) {
				v.Add(record.LineRate, 0.9, h, name+" of "+scene.NameOf(h)+" (full both ways)",
					fmt.Sprintf("%s is full in both directions (%v in, %v out of %v): what a router takes in by one port and sends out by the same one (VLANs on a trunk) uses that single link twice. That is line rate.", name, unit.BitRate(in), unit.BitRate(out), speed),
					"Use a second port (a LAG, or one port for each network), a faster link, or let the switch route between these networks.", scene.Saw("traffic of "+name, fmt.Sprintf("%v in, %v out", unit.BitRate(in), unit.BitRate(out)), at))
			}
		}
	}
}

// fullSingle: a run at line rate of the one link that was read.
func fullSingle(v *scene.View) {
	if len(v.Bonds) > 0 {
		return
	}
	for _, h := range v.Case.Hosts {
		link, ok := onlyLink(h)
		if !ok {
			link, ok = portsAlike(h)
		}
		if !ok || scene.Word(h, link.Name, "master") != "" && scene.Word(h, scene.Word(h, link.Name, "master"), "kind") != "bridge" && scene.Word(h, link.Name, "laggproto") != "" {
			continue
		}
		if len(h.Ports) > 0 && strings.HasPrefix(scene.Word(h, link.Name, "master"), "lagg") {
			continue
		}
		mtu := 1500
		if n, _, ok := scene.Number(h, "link "+link.Name, "mtu"); ok && n >= 576 && n < 65536 {
			mtu = int(n)
		}
		payload := framing.LinkPayload(netstate.Link{Speed: link.Speed}, mtu, 0, false)
		for _, r := range v.Case.Runs {
			if r.Both && r.Back > payload*96/100 && r.Rate-r.Back > payload*96/100 && r.Rate < 2*payload*101/100 {
				x, _ := h.Get("link "+link.Name, "speed")
				v.Add(record.LineRate, 0.8, h, "none", fmt.Sprintf("Nothing is wrong: %v and %v at once is line rate of %v in both directions.", r.Rate-r.Back, r.Back, link.Speed), "Nothing to do.",
					scene.Saw(r.Tool, r.Rate.String()+" both ways together", r.Source), scene.Saw("speed of "+link.Name, x.Text, x.Source))
			}
			if !r.OfNetwork() || r.Both || r.Rate < payload*98/100 || r.Rate > payload*1010/1000 {
				continue
			}
			sure := 0.8
			for _, other := range v.Case.Runs {
				if other.Rate > 0 && other.Rate < r.Rate*70/100 {
					sure = 0.5 // something else is slow
				}
			}
			x, told := h.Get("link "+link.Name, "speed")
			if !told {
				x, _ = h.Get("port "+link.Name, "speed")
			}
			if link.Speed <= 100*unit.Mbps {
				v.Add(record.LineRate, sure, h, link.Name+" of "+scene.NameOf(h),
					fmt.Sprintf("%v is line rate of %v (100 Mb/s), and %s negotiated no more: both ends of a link can mostly do 1 Gbit/s today.", r.Rate, link.Speed, link.Name),
					"Replace the patch cable (a bad pair gives 100 Mbit/s), then look whether the card, the switch's port or a setting (speed and duplex fixed) allows no more.", scene.Saw(r.Tool, r.Rate.String(), r.Source), scene.Saw("speed of "+link.Name, x.Text, x.Source))
				continue
			}
			f := v.Add(record.LineRate, sure, h, "none",
				fmt.Sprintf("Nothing is wrong: %v is line rate of %v: at MTU %d headers and gaps between frames take the rest, and %v of payload is all that it can be.", r.Rate, link.Speed, mtu, payload),
				"Nothing to do. More takes a faster link, or several links and several flows; a larger MTU (jumbo frames) gains a few per cent at most.", scene.Saw(r.Tool, fmt.Sprintf("%v, %d streams", r.Rate, max(len(r.Streams), r.Parallel, 1)), r.Source), scene.Saw("speed of "+link.Name, x.Text, x.Source))
			f.Ceiling = payload
		}
	}
}

// portsAlike is a port of a switch whose ports that are up all have one speed, and
// which has no channels.
func portsAlike(h *piece.Host) (one scene.Port, ok bool) {
	if len(h.Subjects("channel")) > 0 {
		return scene.Port{}, false
	}
	for _, name := range h.Subjects("port") {
		speed := portSpeed(h, name)
		switch {
		case speed == 0 || scene.NoLink(h, "port "+name):
		case one.Name == "":
			one = scene.Port{Name: name, Speed: speed}
		case one.Speed != speed:
			return scene.Port{}, false
		}
	}
	return one, one.Name != ""
}

// fullClients: clients of one link each that are all at its rate, by a bond.
func fullClients(v *scene.View) {
	for _, b := range v.Bonds {
		_, one := b.Speeds()
		if one == 0 || len(b.Ports) < 2 {
			continue
		}
		payload := framing.LinkPayload(netstate.Link{Speed: one}, 1500, 0, false)
		clients := make(map[netip.Addr]piece.Run)
		for _, r := range v.Case.Runs {
			if r.Rate < payload*97/100 || r.Rate > payload*101/100 || len(r.Streams) == 0 {
				continue
			}
			if a := r.Streams[0].Local.Addr(); a.IsValid() {
				clients[a] = r
			}
		}
		if len(clients) < 2 {
			continue
		}
		var evidence []record.Evidence
		for _, client := range slices.SortedFunc(maps.Keys(clients), netip.Addr.Compare) {
			r := clients[client]
			evidence = append(evidence, scene.Saw(r.Tool, r.Rate.String(), r.Source))
		}
		v.Add(record.LineRate, 0.84, b.Host, "none",
			fmt.Sprintf("Nothing is wrong: each of the %d clients gets %v, line rate of its own single link; %s carries them side by side, and one client with one such port gets no more.", len(clients), one, b.Name),
			"Nothing to do. More for one client takes a faster link at both ends, or SMB multichannel with several ports at the client.", evidence...)
	}
}

// fullBundle: LACP whose ports were not listed, with a run at the sum of so many links
// of a speed that Ethernet has.
func fullBundle(v *scene.View) {
	for _, b := range v.Bonds {
		n, at, ok := scene.Number(b.Host, "link "+b.Name, "ad_num_ports")
		if sum, _ := b.Speeds(); !ok || n < 2 || n > 16 || sum > 0 {
			continue
		}
		for _, r := range v.Case.Runs {
			for _, speed := range standardSpeeds {
				payload := framing.LinkPayload(netstate.Link{Speed: speed}, 1500, 0, false) * unit.BitRate(n)
				if slices.Contains(standardSpeeds, speed*unit.BitRate(n)) {
					continue // one faster link carries as much
				}
				if !r.OfNetwork() || max(len(r.Streams), r.Parallel) < 2 || r.Both || r.Rate < payload*97/100 || r.Rate > payload*101/100 {
					continue
				}
				v.Add(record.LineRate, 0.82, b.Host, "none", fmt.Sprintf("Nothing is wrong: %v is line rate of %.0f links of %v: LACP has all of them in %s, and the flows spread over them.", r.Rate, n, speed, b.Name),
					"Nothing to do; more takes more or faster links.", scene.Saw("ports in the aggregator", fmt.Sprintf("%.0f", n), at), scene.Saw(r.Tool, r.Rate.String(), r.Source))
			}
		}
	}
}
