package hosts

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/linerate/linerate/diagnose/pasted/scene"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// laggMembers are a lagg's ports: those that are in the bundle, and those that are not.
func laggMembers(h *piece.Host, name string) (in, out []string, at piece.Source) {
	for _, link := range h.Ports[name] {
		x, ok := h.Get("link "+link, "bundled")
		switch {
		case !ok:
		case x.Text == "yes":
			in = append(in, link)
		default:
			out, at = append(out, link), x.Source
		}
	}
	return in, out, at
}

// laggOut: ports of FreeBSD's LACP that are not active: no partner, or none like the
// others'; of a lagg without LACP they have no link.
func laggOut(v *scene.View) {
	for _, h := range v.Hosts {
		for _, name := range h.Subjects("link") {
			proto := scene.Word(h, name, "laggproto")
			in, out, at := laggMembers(h, name)
			if len(out) == 0 || len(in)+len(out) < 2 && proto != "lacp" {
				continue
			}
			if proto == "loadbalance" || proto == "roundrobin" {
				laggDead(v, h, name, in, out, at)
			}
			if proto != "lacp" {
				continue
			}
			ports := strings.Join(out, " and ")
			sure, heard := 0.88, "do not take part in LACP (their flags are not ACTIVE,COLLECTING,DISTRIBUTING)"
			evidence := []record.Evidence{scene.Saw("flags of "+ports, "not active", at)}
			defaulted := 0
			for _, p := range out {
				if n, from, ok := scene.Number(h, "link "+p, "actor_state"); ok && int(n)&scene.StateDefaulted != 0 {
					defaulted++
					evidence = append(evidence, scene.Saw("state of "+p, "defaulted: no LACP partner heard", from))
				}
			}
			if defaulted == len(out) {
				sure, heard = 0.94, "hear no LACP partner"
			}
			for _, p := range out {
				if x, ok := h.Get("link "+p, "carrier"); ok && x.Text == "no" {
					sure, heard = 0.75, "are not in the bundle, and have no link"
				}
			}
			summary := fmt.Sprintf("%s of %s %s: the switch has their ports in no LACP group, or in another one, and %s carries with %d of %d links.", ports, name, heard, name, len(in), len(in)+len(out))
			if len(in) == 0 {
				summary = fmt.Sprintf("No port of %s is active (%s): the switch speaks no LACP on them, or not as one group.", name, ports)
			}
			v.Add(record.LACPDown, sure, h, ports+" of "+name, summary,
				fmt.Sprintf("On the switch put the ports of %s into the same LACP group (aggregate, LAG of type LACP) as the others of %s, then compare `ifconfig -v %s`; it is not lagghash.", ports, name, name), evidence...)
		}
	}
}

// laggDead: ports of a lagg that asks nobody (loadbalance, roundrobin) are active as long as
// they have a link.
func laggDead(v *scene.View, h *piece.Host, name string, in, out []string, at piece.Source) {
	ports := strings.Join(out, " and ")
	cause, what := record.SingleLink, fmt.Sprintf("%s carries with %d of %d links: %s have no link (loadbalance and roundrobin take every port that has one, whatever the switch does).", name, len(in), len(in)+len(out), ports)
	if len(in) == 0 {
		cause, what = record.LACPDown, fmt.Sprintf("No port of %s is active: %s have no link, and it has no carrier.", name, ports)
	} else if len(in) > 1 {
		return
	}
	v.Add(cause, 0.75, h, ports+" of "+name, what,
		"See whether they are up (`ifconfig PORT up`, status: active), then the cables, modules and the switch's ports; that end needs a static group of just these ports.",
		scene.Saw("flags of "+ports, "not active", at)).Ask = []scene.Missing{{Command: "ifconfig -a", Host: scene.NameOf(h), Why: "media and status of each port"}}
}

// evenLagg: a lagg whose ports are all in the bundle and carry alike.
func evenLagg(v *scene.View) {
	if v.Faulty() {
		return
	}
	for _, h := range v.Hosts {
		for _, name := range h.Subjects("link") {
			in, out, _ := laggMembers(h, name)
			if scene.Word(h, name, "kind") == "lbfo" && scene.Word(h, name, "mode") == "lacp" && scene.Word(h, name, "status") == "up" && scene.EvenMembers(h, name) {
				x, _ := h.Get("link "+name, "status")
				v.Add(scene.Healthy, 0.78, h, "none", fmt.Sprintf("Nothing is wrong with %s: the team is up with LACP, and its members carry alike.", name), "", scene.Saw("status of "+name, "up, LACP", x.Source))
				continue
			}
			if scene.Word(h, name, "laggproto") != "lacp" || len(out) > 0 || len(in) < 2 || !scene.EvenMembers(h, name) {
				continue
			}
			x, _ := h.Get("link "+in[0], "bundled")
			evidence := []record.Evidence{scene.Saw("ports of "+name, "all active, collecting and distributing", x.Source)}
			for _, r := range v.Case.Runs {
				evidence = append(evidence, scene.Saw(r.Tool, r.Rate.String(), r.Source))
			}
			v.Add(scene.Healthy, 0.82, h, "none", fmt.Sprintf("Nothing is wrong with %s: LACP is up on all %d ports, they carry alike, and no errors were read.", name, len(in)), "", evidence...)
		}
	}
}

var deviceMissed = regexp.MustCompile(`^dev\.(\w+)\.(\d+)\.(?:mac_stats\.)?(?:missed_packets|rx_missed_packets|mac_stats\.rx_missed)$`)

// missedFrames is what a card missed, by its counters of any system.
func missedFrames(h *piece.Host, link string) (n float64, at piece.Source) {
	for _, key := range []string{"rx_missed", "stat.rx_missed_errors", "stat.rx_missed", "stat.rx_no_dma_resources"} {
		if m, from, ok := scene.Number(h, "link "+link, key); ok && m > n {
			n, at = m, from
		}
	}
	for _, key := range h.Keys("sysctl") {
		if m := deviceMissed.FindStringSubmatch(key); m != nil && m[1]+m[2] == link {
			if v, from, ok := scene.Number(h, "sysctl", key); ok && v > n {
				n, at = v, from
			}
		}
	}
	return n, at
}

// sleepingSlot: a card whose PCIe link sleeps (ASPM) and that misses frames while it
// wakes up.
func sleepingSlot(v *scene.View) {
	for _, h := range v.Hosts {
		for _, link := range h.Subjects("link") {
			x, ok := h.Get("link "+link, "aspm")
			if bus, known := h.Get("link "+link, "bus"); !ok && known {
				x, ok = h.Get("pci "+bus.Text, "aspm")
			}
			if !ok || strings.HasPrefix(strings.ToLower(x.Text), "disabled") || x.Text == "" || strings.EqualFold(x.Text, "off") {
				continue
			}
			n, at := missedFrames(h, link)
			if n < 1000 {
				continue
			}
			for _, c := range h.Cores {
				if c.ID != "all" && c.Idle < 20 {
					n = 0 // a core that is too slow explains it as well
				}
			}
			if n == 0 {
				continue
			}
			v.Add(record.CardSlot, 0.88, h, link+" of "+scene.NameOf(h)+" (ASPM)",
				fmt.Sprintf("%s missed %.0f frames while the cores are idle, and its PCIe link sleeps (ASPM %s active): until it wakes the card's small buffer runs over and drops what arrives.", link, n, x.Text),
				"Switch ASPM off: in the firmware (BIOS) for that slot, or by the system (FreeBSD: hw.pci.enable_aspm=0 in loader.conf; Linux: pcie_aspm=off or pcie_aspm.policy=performance), then a cold start; a newer firmware may bring it back.",
				scene.Saw("ASPM of "+link, x.Text, x.Source), scene.Saw("missed packets of "+link, fmt.Sprintf("%.0f", n), at))
		}
	}
}

// lostSlot: a card that fell off its PCIe link, as I225 and I226 with ASPM do.
func lostSlot(v *scene.View) {
	for _, h := range v.Hosts {
		for _, link := range h.Subjects("link") {
			x, ok := h.Get("link "+link, "pcie_lost")
			if !ok {
				continue
			}
			v.Add(record.CardSlot, 0.86, h, link+" of "+scene.NameOf(h)+" (PCIe link lost)",
				fmt.Sprintf("The PCIe link of %s was lost: the card stopped answering the host, and nothing passes it until the driver is loaded anew.", link),
				"Switch PCIe power saving (ASPM) off in the firmware (BIOS) or with pcie_aspm=off, update the firmware of board and card, seat the card again or try another slot.", scene.Saw("log", x.Text, x.Source))
		}
	}
}

// oneQueue: FreeBSD with a core full of one receive queue's interrupts: PPPoE and
// other tunnels are not hashed by cards.
func oneQueue(v *scene.View) {
	for _, h := range v.Hosts {
		full := false
		var at piece.Source
		for _, c := range h.Cores {
			if c.ID != "all" && c.Soft > 85 {
				full, at = true, c.Source
			}
		}
		dispatch, told := h.Get("sysctl", "net.isr.dispatch")
		queue := ""
		for _, p := range h.Processes {
			if p.CPU > 85 && strings.HasPrefix(p.Name, "[intr{") {
				queue, at = strings.Trim(p.Name, "[]"), p.Source
				full = true
			}
		}
		os, _ := h.Get("host", "os")
		if !full || !told && queue == "" || queue == "" && os.Text != "freebsd" && !told {
			continue
		}
		if guestInterrupt.MatchString(queue) && !bsdTunnel(h) {
			continue // a hypervisor's card: a rule of its own
		}
		evidence := []record.Evidence{scene.Saw("interrupts of "+scene.NameOf(h), "one core is full with "+orWord(queue, "interrupts"), at)}
		if told {
			evidence = append(evidence, scene.Saw("net.isr.dispatch", dispatch.Text, dispatch.Source))
		}
		v.Add(record.ReceiverCPU, 0.88, h, orWord(queue, "one receive queue")+" of "+scene.NameOf(h),
			fmt.Sprintf("One core (CPU) of %s is full with one receive queue (%s) while others are idle: a card spreads plain IP over its queues, and PPPoE or another tunnel arrives on a single one.", scene.NameOf(h), orWord(queue, "its interrupts")),
			"Spread the work behind the interrupt: net.isr.dispatch=deferred with net.isr.maxthreads=-1 and net.isr.bindthreads=1 (a restart); for PPPoE the newer if_pppoe backend, or PPPoE in the modem or another box; else a processor with a faster core.", evidence...)
	}
}

// bsdThreads are threads and programs of a firewall whose one core is the limit, by a
// word of their names, and what each means.
var bsdThreads = []struct{ word, what, remedy string }{
	{"if_io_tqg", "the receive and transmit work of one queue of a card", "Let more queues share it: dev.DRIVER.N.iflib.override_nrxqs and nrxds, RSS, several flows; for one flow a faster core."},
	{"wg_tqg", "WireGuard's encryption", "Several tunnels or flows, or a processor with faster cores and AVX."},
	{"dummynet", "the shaper (dummynet, a limiter)", "Take the limiter off where it is not needed, or set it on the WAN only."},
	{"suricata", "intrusion detection (Suricata)", "Turn the inspection off on that interface, use fewer rules, or a processor with faster cores; with netmap one thread serves a queue."},
	{"snort", "intrusion detection (Snort)", "Turn the inspection off on that interface, or use fewer rules; Snort 2 is one thread."},
	{"ng_queue", "netgraph (PPPoE, L2TP)", "Use the newer if_pppoe backend, or net.isr.dispatch=deferred."},
}

// busyThreads: FreeBSD's kernel threads and the programs of firewalls that fill a core.
func busyThreads(v *scene.View) {
	for _, h := range v.Hosts {
		for _, p := range h.Processes {
			if p.CPU < 85 {
				continue
			}
			for _, t := range bsdThreads {
				if !scene.Contains(p.Name, t.word) {
					continue
				}
				v.Add(record.ReceiverCPU, 0.88, h, p.Name+" on "+scene.NameOf(h),
					fmt.Sprintf("One core (CPU) of %s is full with %s (%s, %.0f %%): all that it handles goes no faster than that core.", scene.NameOf(h), t.what, p.Name, p.CPU), t.remedy,
					scene.Saw(p.Name, fmt.Sprintf("%.0f %% of a core", p.CPU), p.Source))
			}
		}
	}
}

func orWord(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

// bsdBuffers are the sysctls of FreeBSD and macOS that limit a socket's buffer.
var bsdBuffers = []struct {
	key   string
	sends bool
}{{"net.inet.tcp.sendbuf_max", true}, {"net.inet.tcp.autosndbufmax", true}, {"net.inet.tcp.recvbuf_max", false}, {"net.inet.tcp.autorcvbufmax", false}, {"kern.ipc.maxsockbuf", true}, {"kern.ipc.maxsockbuf", false}}

// bsdWindow: a stream's rate over a round trip is what one buffer of FreeBSD allows.
func bsdWindow(v *scene.View) {
	trip := roundTrip(v)
	if trip < 1 {
		return
	}
	for _, h := range v.Hosts {
		for _, b := range bsdBuffers {
			x, ok := h.Get("sysctl", b.key)
			most, err := strconv.ParseFloat(x.Text, 64)
			if !ok || err != nil || most <= 0 {
				continue
			}
			if b.key == "kern.ipc.maxsockbuf" {
				most = most * 2048 / (2048 + 256) // sb_max_adj
			}
			allowed := unit.FromBytes(most, trip/1000)
			for _, r := range v.Case.Runs {
				from, to := scene.Sides(r)
				who := to
				if b.sends {
					who = from
				}
				if who != "" && h.Name != "" && who != h.Name || who == "" && (from == h.Name || to == h.Name) && h.Name != "" || r.UDP || r.Rate == 0 {
					continue
				}
				n := unit.BitRate(max(len(r.Streams), r.Parallel, 1))
				if each := r.Rate / n; each < allowed*60/100 || each > allowed*112/100 {
					continue
				}
				cause, what := record.ReceiveWindow, "receive buffer (window)"
				if b.sends {
					cause, what = record.SendBuffer, "send buffer"
				}
				v.Add(cause, 0.92, h, b.key+" of "+scene.NameOf(h),
					fmt.Sprintf("The %s of %s is too small for this path: %s %v over a round trip of %.0f ms allows %v a connection, and that is what is carried (%v).", what, scene.NameOf(h), b.key, unit.Bytes(most), trip, allowed, r.Rate),
					fmt.Sprintf("Raise it on %s: %s=16777216 (a tunable), with kern.ipc.maxsockbuf at least as large; or use more connections at once.", scene.NameOf(h), b.key),
					scene.Saw(b.key, x.Text, x.Source), scene.Saw(r.Tool, r.Rate.String(), r.Source))
			}
		}
	}
}

// mergedForward: a router whose card merges what it should forward (LRO).
func mergedForward(v *scene.View) {
	for _, h := range v.Hosts {
		router := false
		if x, ok := h.Get("sysctl", "net.inet.ip.forwarding"); ok && x.Text == "1" {
			router = true
		}
		if x, ok := h.Get("sysctl", "net.ipv4.ip_forward"); ok && x.Text == "1" {
			router = true
		}
		for _, link := range h.Subjects("link") {
			d := strings.ToUpper(scene.Word(h, link, "description"))
			router = router || d == "LAN" || d == "WAN" || strings.HasPrefix(d, "OPT") && len(d) == 4
		}
		told, forwarder := piece.Value{}, router
		for _, o := range v.Case.Hosts {
			if x, ok := o.Get("said", "forwards"); ok {
				told, forwarder = x, true
			}
		}
		for _, link := range h.Subjects("link") {
			options, ok := h.Get("link "+link, "options")
			lro := ok && strings.Contains(","+options.Text+",", ",LRO,") && !strings.HasPrefix(link, "lagg")
			at := options.Source
			if x, on := h.Get("link "+link, "offload.large-receive-offload"); on && x.Text == "on" {
				lro, at = true, x.Source
			}
			if !lro {
				continue
			}
			evidence := []record.Evidence{scene.Saw("offloads of "+link, "LRO on", at)}
			sure := 0.0
			switch {
			case router:
				sure = 0.72
			case forwarder:
				sure = 0.62
				evidence = append(evidence, scene.Saw("said", told.Text, told.Source))
			}
			mtu, _, known := scene.Number(h, "link "+link, "mtu")
			if !known {
				mtu = 1500
			}
			if n, from, ok := scene.Number(h, "capture "+link, "longest"); ok && n > mtu {
				to, _ := h.Get("capture "+link, "to")
				evidence = append(evidence, scene.Saw("capture on "+link, fmt.Sprintf("segments of %.0f bytes to %s", n, to.Text), from))
				sure += 0.18
			}
			if sure < 0.5 || forwards(v, h) && sure < 0.8 {
				continue
			}
			v.Add(record.CardSlot, sure, h, link+" of "+scene.NameOf(h)+" (LRO)",
				fmt.Sprintf("%s forwards packets (a router or firewall), and large receive offload (LRO) is on for %s: the card merges segments into ones above the MTU of %.0f, which cannot be forwarded and come again as retransmits.", scene.NameOf(h), link, mtu),
				fmt.Sprintf("Turn LRO off, and TSO with it: `ifconfig %s -lro -tso` (pfSense and OPNsense: tick \"Disable hardware large receive offload\" and TSO; Linux: `ethtool -K %s lro off`). A router must not merge segments.", link, link), evidence...)
		}
	}
}

// forwards reports a run that the host itself ends: it says nothing of forwarding.
func forwards(v *scene.View, h *piece.Host) bool {
	for _, r := range v.Case.Runs {
		if h.Name != "" && (r.Client == h.Name || r.Server == h.Name) {
			return true
		}
	}
	return false
}
