package cards

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/linerate/linerate/diagnose/pasted/scene"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// slowPort: a port that negotiated a tenth of its neighbours' speed or less: of those
// in the same bond, or on the same card.
func slowPort(v *scene.View) {
	for _, h := range v.Hosts {
		for _, name := range h.Subjects("link") {
			speed, x := scene.SpeedNow(h, name)
			if speed == 0 || speed > unit.Gbps || scene.NoLink(h, "link "+name) || v.HasFinding(record.LACPDown) {
				continue
			}
			if best := v.Best(); best > 2*speed {
				continue // the traffic goes another way
			}
			of, sure, faster := fasterSibling(h, name, speed)
			if of == "" {
				continue
			}
			why := "a gigabit port does that over a cable with a broken pair, or on an old or fixed port of the switch"
			if speed == unit.Gbps {
				why = "the module, the cable or the switch's port allows no more"
			}
			v.Add(record.LineRate, sure, h, name, fmt.Sprintf("%s negotiated %v while another port of %s is faster: %s.", name, speed, of, why),
				"Replace its cable, then check that both ends negotiate.", scene.Saw("speed of "+name, x.Text, x.Source), faster)
		}
	}
}

// slowerThanOnce: a link that came up again at half its former speed or less, by the
// log.
func slowerThanOnce(v *scene.View) {
	for _, h := range v.Hosts {
		for _, name := range h.Subjects("link") {
			said := h.Facts["link "+name]["log_speed"]
			if len(said) < 2 || scene.NoLink(h, "link "+name) || scene.Word(h, name, "speed") != "" {
				continue
			}
			now := said[len(said)-1]
			was := now
			for _, x := range said {
				if piece.Float(x.Text) > piece.Float(was.Text) {
					was = x
				}
			}
			speed, best := unit.BitRate(piece.Float(now.Text))*unit.Mbps, unit.BitRate(piece.Float(was.Text))*unit.Mbps
			if speed == 0 || best < 2*speed || v.Best() > speed {
				continue
			}
			v.Add(record.LineRate, 0.68, h, name+" of "+scene.NameOf(h),
				fmt.Sprintf("%s came up at %v and ran at %v before: a cable with a bad pair, a port or module that fails does that (downshift), and that speed is its line rate now.", name, speed, best),
				"Replace its cable first (above 100 Mbit/s all four pairs are needed), then try another port of the switch; `ethtool` shows the speed.",
				scene.Saw("speed of "+name, now.Text+" Mbit/s", now.Source), scene.Saw("before", was.Text+" Mbit/s", was.Source))
		}
	}
}

// fasterSibling is a link of ten times the speed beside another: in the same bond, of
// is the bond; else on the same card. "" none.
func fasterSibling(h *piece.Host, name string, speed unit.BitRate) (of string, sure float64, e record.Evidence) {
	bundle := bundleOf(h, name)
	bus, _ := h.Get("link "+name, "bus")
	card, _, _ := strings.Cut(bus.Text, ".")
	for _, other := range h.Subjects("link") {
		fast, x := scene.SpeedNow(h, other)
		if other == name || fast < 10*speed || scene.NoLink(h, "link "+other) {
			continue
		}
		e = scene.Saw("speed of "+other, x.Text, x.Source)
		far, _ := h.Get("link "+other, "bus")
		on, _, _ := strings.Cut(far.Text, ".")
		switch same := bundle != "" && bundleOf(h, other) == bundle; {
		case same && (speed < unit.Gbps || scene.Word(h, bundle, "mode") != "active-backup"):
			return bundle, 0.75, e
		case same:
			return "", 0, e // a slow spare is what somebody wanted
		case card != "" && on == card && speed < unit.Gbps:
			of, sure = "the card "+strings.TrimPrefix(card, "0000:"), 0.6
		}
	}
	return of, sure, e
}

// bundleOf is the bond or team of a link: what was read, else what the log says took
// it; "" none.
func bundleOf(h *piece.Host, name string) string {
	if master := scene.Word(h, name, "master"); master != "" {
		return master
	}
	for _, e := range h.Events {
		if e.Kind == "enslaved" && e.Link == name {
			bond, _, _ := strings.Cut(strings.TrimPrefix(e.Text, "bonding: "), ":")
			return strings.ToLower(bond)
		}
	}
	return ""
}

// Events of one card less than this apart, in seconds, are one stall's.
const oneStall = 1.5

// stalled are messages of drivers whose card stops sending.
var stalled = map[string]string{"watchdog": "a transmit queue timed out (NETDEV WATCHDOG)", "hang": "the card's transmit unit hung", "reset": "the driver reset the adapter"}

// stalledCard: a card that its driver finds stuck, time and again.
func stalledCard(v *scene.View) {
	for _, h := range v.Hosts {
		type count struct {
			n        int
			last     float64
			link     string
			hung     bool
			evidence []record.Evidence
		}
		cards := make(map[string]*count)
		var order []string
		for _, e := range h.Events {
			what, ok := stalled[e.Kind]
			if !ok {
				continue
			}
			c := cards[e.Link]
			if c == nil {
				c = &count{link: e.Link}
				cards[e.Link] = c
				order = append(order, e.Link)
			}
			if c.n > 0 && e.Seconds > 0 && e.Seconds-c.last < oneStall {
				continue
			}
			c.n, c.last, c.hung = c.n+1, e.Seconds, c.hung || e.Kind == "hang"
			c.evidence = append(c.evidence, scene.Saw("log", what+": "+e.Text, e.Source))
		}
		for _, link := range order {
			c := cards[link]
			if c.n < 2 && !(c.hung && v.Complains()) {
				continue // once is what a cable that was pulled or a suspend gives
			}
			name := cmp.Or(link, "the card")
			sure, times := 0.54, "once"
			if c.n > 1 {
				sure, times = 0.6+0.06*float64(min(c.n, 5)-1), fmt.Sprintf("%d times", c.n)
			}
			v.Add(record.CardSlot, sure, h, name+" of "+scene.NameOf(h)+" (stops sending)",
				fmt.Sprintf("%s stopped sending %s, until its driver reset it: meanwhile traffic stands still for seconds. It is the card, its driver or firmware, or its PCIe power saving, not the network.", name, times),
				stallRemedy(h, link), c.evidence...)
		}
	}
}

// stallRemedy is what ends the stalls of that driver's cards.
func stallRemedy(h *piece.Host, link string) string {
	driver := scene.Word(h, link, "driver")
	for _, e := range h.Events {
		if _, ok := stalled[e.Kind]; ok && e.Link == link && driver == "" {
			for _, name := range []string{"r8169", "r8168", "r8125", "e1000e", "igb", "igc", "tg3", "bnx2", "atlantic"} {
				if strings.Contains(e.Text, name) {
					driver = name
					break
				}
			}
		}
	}
	const common = "take the newer driver or kernel and the card's firmware; if it stays, another slot, another card"
	switch {
	case strings.HasPrefix(driver, "e1000e"):
		return fmt.Sprintf("Turn off what hangs these cards: `ethtool -K %s tso off gso off gro off` (I217 to I219), and PCIe power saving (pcie_aspm=off); then %s.", cmp.Or(link, "LINK"), common)
	case strings.HasPrefix(driver, "r8"):
		return "Switch PCIe power saving off (pcie_aspm=off on the kernel's command line, or ASPM in the firmware); then " + common + " (Realtek's own r8168 or r8125 driver is one)."
	}
	return "Switch PCIe power saving off (pcie_aspm=off, or ASPM in the firmware) as a test; then " + common + "."
}

// speedUnread: a port of LACP whose speed the bond could not read when its link came
// up: it stands in an aggregator of its own.
func speedUnread(v *scene.View) {
	for _, h := range v.Hosts {
		last := make(map[string]piece.Event)
		up := make(map[string]bool)
		for _, e := range h.Events {
			switch {
			case e.Link == "":
			case e.Kind == "speed" && strings.Contains(e.Text, "changed to 0") && !up[e.Link]:
				// A link that goes down says that too.
			case e.Kind == "speed":
				last[e.Link] = e
			case e.Kind == "link-down", e.Kind == "released":
				up[e.Link] = false
				delete(last, e.Link)
			case e.Kind == "link-up":
				up[e.Link] = true
				if strings.Contains(e.Text, "definitely up") && !strings.Contains(e.Text, ", 0 Mbps") {
					delete(last, e.Link) // the bond took it after all
				}
			}
		}
		for _, name := range h.Subjects("link") {
			if aggregator, ok := h.Get("link "+name, "aggregator_id"); ok && aggregator.Text != "" {
				delete(last, name) // its state is here: that is judged, not its log
			}
		}
		for _, e := range h.Events {
			if last[e.Link] != e || e.Link == "" {
				continue
			}
			bond := cmp.Or(bundleOf(h, e.Link), "bond0")
			v.Add(record.LACPDown, 0.72, h, e.Link+" of "+bond,
				fmt.Sprintf("The bond could not read the speed and duplex of %s when its link came up, and the log does not say that it could later: a port of unknown speed has an LACP key of its own, stands alone in its aggregator, and carries nothing.", e.Link),
				fmt.Sprintf("Now that its link is up take the port out and add it again (`ip link set %s nomaster; ip link set %s down; ip link set %s master %s`), then compare the aggregator IDs in `cat /proc/net/bonding/%s`. At boot: enslave it when its link is up, and use a newer kernel.", e.Link, e.Link, e.Link, bond, bond),
				scene.Saw("log", e.Text, e.Source))
		}
	}
}

// Carrier changes of one port from which it flaps, and how many times those of its
// neighbour's they are.
const (
	manyChanges  = 20
	moreThanElse = 5
)

// restlessPort: a port whose link goes and comes while its neighbour's in the bond
// stays.
func restlessPort(v *scene.View) {
	for _, b := range v.Bonds {
		for _, p := range b.Ports {
			n, at, ok := scene.Number(b.Host, "link "+p.Name, "carrier_changes")
			if !ok || n < manyChanges {
				continue
			}
			for _, q := range b.Ports {
				m, from, ok := scene.Number(b.Host, "link "+q.Name, "carrier_changes")
				if q.Name == p.Name || !ok || n < moreThanElse*m {
					continue
				}
				v.Add(record.Congestion, 0.6, b.Host, p.Name+" of "+b.Name,
					fmt.Sprintf("%s lost or found its link %.0f times since the host started, and %s in the same bond %.0f times: it is this cable, module or switch port. Each time the flows on it lose packets and change links.", p.Name, n, q.Name, m),
					fmt.Sprintf("Clean or replace cable and module of %s, then its switch port; `ip -s -s link show %s` shows whether the number (transns) still grows.", p.Name, p.Name),
					scene.Saw("carrier changes of "+p.Name, fmt.Sprintf("%.0f", n), at), scene.Saw("carrier changes of "+q.Name, fmt.Sprintf("%.0f", m), from))
				break
			}
		}
	}
}

// manyDropped is the part of a port's packets, in per cent, from which esxtop's drops
// count.
const manyDropped = 0.5

// guestDrops: packets that ESXi's virtual switch drops at a guest's port or at a card, as
// esxtop counts them.
func guestDrops(v *scene.View) {
	for _, h := range v.Hosts {
		for _, name := range h.Subjects("vport") {
			if n, at, ok := scene.Number(h, "vport "+name, "rx_dropped_percent"); ok && n >= manyDropped {
				v.Add(record.ReceiverCPU, 0.7, h, name+" of "+scene.NameOf(h),
					fmt.Sprintf("The virtual switch drops %.1f %% of what %s should receive: the guest (VM) does not empty its receive ring in time, for want of CPU time or of room in the ring.", n, name),
					"In the guest enlarge the card's receive ring (vmxnet3: `ethtool -G LINK rx 4096`; Windows: Rx Ring #1 Size and Small Rx Buffers), use several queues (RSS), and see that its vCPUs have time (esxtop: %RDY).",
					scene.Saw("%DRPRX of "+name, fmt.Sprintf("%g", n), at))
			}
			if n, at, ok := scene.Number(h, "vport "+name, "tx_dropped_percent"); ok && n >= manyDropped {
				v.Add(record.Congestion, 0.6, h, name+" of "+scene.NameOf(h),
					fmt.Sprintf("The virtual switch drops %.1f %% of what %s sends: its uplink is full, or traffic shaping holds the port.", n, name),
					"Compare the uplink's MbTX/s with its speed, read the port group's traffic shaping (`esxcli network vswitch standard portgroup policy shaping get -p NAME`), and spread the guests over more uplinks.",
					scene.Saw("%DRPTX of "+name, fmt.Sprintf("%g", n), at))
			}
		}
		for _, name := range h.Subjects("link") {
			n, at, ok := scene.Number(h, "link "+name, "rx_dropped_percent")
			if !ok || n < manyDropped {
				continue
			}
			v.Add(record.ReceiverCPU, 0.66, h, name+" of "+scene.NameOf(h),
				fmt.Sprintf("%s drops %.1f %% of what it receives: the hypervisor does not empty the card's ring in time.", name, n),
				fmt.Sprintf("Enlarge its ring (`esxcli network nic ring current set -n %s -r 4096`), see that the driver uses several queues (NetQueue, RSS) and that the hypervisor's cores have time.", name),
				scene.Saw("%DRPRX of "+name, fmt.Sprintf("%g", n), at))
		}
	}
}

// Of what a link received and the host then dropped: how many packets are enough to tell, and
// which part is no stray one, nor all of what a standby port hears.
const (
	manyReceived           = 1e6
	fewDropped, allDropped = 0.05, 0.95
)

// hostDrops: a link of which the host drops a good part of what comes, as ifconfig and
// /proc/net/dev add it up: the ring was full, or the core's queue behind it.
func hostDrops(v *scene.View) {
	for _, h := range v.Hosts {
		for _, name := range h.Subjects("link") {
			dropped, at, ok := scene.Number(h, "link "+name, "rx_dropped")
			received, _, both := scene.Number(h, "link "+name, "rx_packets")
			if !ok || !both || received < manyReceived || !scene.Physical(name) || scene.Word(h, name, "master") != "" || !v.Complains() {
				continue
			}
			if share := dropped / max(received, dropped); share < fewDropped || share > allDropped {
				continue
			}
			v.Add(record.ReceiverCPU, 0.5, h, name+" of "+scene.NameOf(h),
				fmt.Sprintf("%s received %.0f packets and dropped %.0f: they came faster than the host took them out of the card's ring, or out of a core's queue behind it.", name, received, dropped),
				fmt.Sprintf("See which of the two grows (`ip -s -s link show %[1]s`: missed is the ring; `cat /proc/net/softnet_stat`: its second column the queue): a larger ring (`ethtool -G %[1]s rx N`), more receive queues with a core each, net.core.netdev_max_backlog; a program that captures needs several threads, or a kernel bypass.", name),
				scene.Saw("received and dropped by "+name, fmt.Sprintf("%.0f, %.0f", received, dropped), at))
		}
	}
}

// brokenPair: a driver that says that its link came up slower than both ends agreed.
func brokenPair(v *scene.View) {
	for _, h := range v.Case.Hosts {
		for _, e := range h.Events {
			if e.Kind != "downshift" {
				continue
			}
			link := cmp.Or(e.Link, "the port")
			v.Add(record.LineRate, 0.86, h, link+" of "+scene.NameOf(h)+" (its cable)",
				fmt.Sprintf("The driver says that %s came up slower than both ends had agreed: the faster mode needs all four pairs of the cable, and with one of them broken the ports fall back (downshift).", link),
				"Replace the cable, and keep it off power lines; then another port at the switch, and the wall sockets and panels between. No setting helps, and a fixed speed makes it worse.",
				scene.Saw("log", e.Text, e.Source))
			return
		}
	}
}
