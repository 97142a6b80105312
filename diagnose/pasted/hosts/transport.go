package hosts

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/linerate/linerate/diagnose/pasted/scene"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// percent is a share that ss prints; zero where it prints none.
func percent(s piece.Socket, key string) float64 {
	n, _ := strconv.ParseFloat(strings.TrimSuffix(s.Info[key], "%"), 64)
	return n
}

// waitedLong is the share of the time, in per cent, from which a window is the limit.
const waitedLong = 30

// windows: what TCP itself says that it waited for.
func windows(v *scene.View) {
	for _, h := range v.Hosts {
		for _, s := range h.Sockets {
			rwnd, snd := percent(s, "rwnd_limited"), percent(s, "sndbuf_limited")
			rtt, _, _ := strings.Cut(s.Info["rtt"], "/")
			trip, _ := strconv.ParseFloat(rtt, 64)
			over := ""
			if trip > 0 {
				over = fmt.Sprintf(" over a round trip of %s ms", rtt)
			}
			switch {
			case rwnd >= waitedLong && rwnd >= snd:
				window, _ := strconv.ParseFloat(s.Info["snd_wnd"], 64)
				allowed := ""
				if window > 0 && trip > 0 {
					allowed = fmt.Sprintf(": %v%s allow %v", unit.Bytes(window), over, unit.FromBytes(window, trip/1000))
				}
				receiver := receiverOf(v, h)
				evidence := []record.Evidence{scene.Saw("ss on "+scene.NameOf(h), fmt.Sprintf("rwnd_limited %.1f %% of the time", rwnd), s.Source)}
				for _, other := range v.Hosts {
					if x, ok := other.Get("sysctl", "net.ipv4.tcp_rmem"); ok && (other != h || len(v.Hosts) == 1) {
						evidence = append(evidence, scene.Saw("net.ipv4.tcp_rmem of "+scene.NameOf(other), x.Text, x.Source))
						receiver = scene.NameOf(other)
					}
				}
				sure := 0.6 + 0.35*rwnd/100
				switch {
				case slowReader(v, h):
					sure = 0.5 // the window closes because the receiver reads too slowly
				case trip > 0 && trip < 1 && window == 0:
					sure = min(sure, 0.74) // over a short trip that is mostly the cause
				}
				v.Add(record.ReceiveWindow, sure, h, "the receive window of "+receiver,
					fmt.Sprintf("The sender waited for the receiver's window %.0f %% of the time%s.", rwnd, allowed),
					fmt.Sprintf("On %s (the receiver) raise the third value of tcp_rmem to at least twice what the path needs: `sysctl -w net.ipv4.tcp_rmem=\"4096 131072 67108864\"`; or use more streams.", receiver), evidence...)
			case snd >= waitedLong:
				evidence := []record.Evidence{scene.Saw("ss on "+scene.NameOf(h), fmt.Sprintf("sndbuf_limited %.1f %% of the time%s", snd, over), s.Source)}
				if x, ok := h.Get("sysctl", "net.ipv4.tcp_wmem"); ok {
					evidence = append(evidence, scene.Saw("net.ipv4.tcp_wmem", x.Text, x.Source))
				}
				for _, r := range v.Case.Runs {
					if x, ok := h.Get("sysctl", "net.core.wmem_max"); ok && r.Client == h.Name && r.Tool == "nuttcp" {
						evidence = append(evidence, scene.Saw("net.core.wmem_max", x.Text+": a buffer that a program asks for (-w) is cut to it", x.Source))
						break
					}
				}
				v.Add(record.SendBuffer, 0.6+0.35*snd/100, h, "tcp_wmem of "+scene.NameOf(h),
					fmt.Sprintf("%s waited for its own send buffer (sndbuf) %.0f %% of the time: it is too small for this path%s.", scene.NameOf(h), snd, over),
					fmt.Sprintf("On %s (the sender) raise the third value of tcp_wmem: `sysctl -w net.ipv4.tcp_wmem=\"4096 65536 33554432\"`, or the program's SO_SNDBUF; or use more streams.", scene.NameOf(h)), evidence...)
			}
		}
		windowMath(v, h)
	}
}

// receiverOf is the other host of a case of two; words otherwise.
func receiverOf(v *scene.View, h *piece.Host) string {
	for _, o := range v.Hosts {
		if o != h && o.Name != "" && len(v.Hosts) == 2 {
			return o.Name
		}
	}
	return "the receiver"
}

// windowMath: one stream's rate over a round trip that ping or ss shows is what
// tcp_rmem allows.
func windowMath(v *scene.View, h *piece.Host) {
	x, ok := h.Get("sysctl", "net.ipv4.tcp_rmem")
	trip, at, timed := scene.Number(h, "host", "rtt_ms")
	if !ok || !timed || trip < 1 {
		return
	}
	f := strings.Fields(x.Text)
	if len(f) != 3 {
		return
	}
	most, err := strconv.ParseFloat(f[2], 64)
	if err != nil || most <= 0 {
		return
	}
	allowed := unit.FromBytes(most/2, trip/1000)
	for _, r := range v.Case.Runs {
		if len(r.Streams) != 1 || r.UDP || r.Rate < allowed*70/100 || r.Rate > allowed*115/100 {
			continue
		}
		v.Add(record.ReceiveWindow, 0.7, h, "tcp_rmem of "+scene.NameOf(h),
			fmt.Sprintf("One stream carries %v, what half of tcp_rmem's %v allows over %.1f ms: the receive window is the limit.", r.Rate, unit.Bytes(most), trip),
			"Raise the third value of net.ipv4.tcp_rmem on the receiver (and tcp_wmem on the sender), or use more streams.",
			scene.Saw("net.ipv4.tcp_rmem", x.Text, x.Source), scene.Saw("round trip", fmt.Sprintf("%.1f ms", trip), at), scene.Saw(r.Tool, r.Rate.String(), r.Source))
	}
}

// paced: a qdisc that limits each flow, or all of them, near what is carried.
func paced(v *scene.View) {
	for _, h := range v.Hosts {
		for _, name := range h.Subjects("link") {
			for _, key := range h.Keys("link " + name) {
				kind, ok := strings.CutPrefix(key, "shaper ")
				if !ok {
					continue
				}
				kind, _, _ = strings.Cut(kind, " ")
				if rate, at, ok := scene.Number(h, "link "+name, key); ok && rate > 0 {
					shaped(v, h, name, kind, unit.BitRate(rate), at)
				}
			}
		}
	}
}

// shaped judges a qdisc with a rate.
func shaped(v *scene.View, h *piece.Host, link, kind string, rate unit.BitRate, at piece.Source) {
	cause, sure := record.Shaper, 0.5
	summary := fmt.Sprintf("The %s qdisc of %s shapes all that leaves by it to %v.", kind, link, rate)
	remedy := fmt.Sprintf("Raise its rate or remove it (`tc qdisc show dev %s`).", link)
	where := kind + " on " + link
	evidence := []record.Evidence{scene.Saw("qdisc of "+link, kind+", "+rate.String(), at)}
	if kind == "dummynet" {
		summary = fmt.Sprintf("The limiter %s of %s (dummynet) shapes all that its rules send through it to %v.", link, scene.NameOf(h), rate)
		remedy = "Raise it or take it out: Firewall, Traffic Shaper, Limiters of pfSense and OPNsense, and the rules that use it."
	}
	if kind == "fq" {
		cause = record.Pacing
		where = "fq maxrate on " + link
		summary = fmt.Sprintf("The fq qdisc of %s paces each flow at %v (maxrate): a flow goes no faster, whatever the links carry.", link, rate)
		remedy = fmt.Sprintf("Raise the limit or remove it: `tc qdisc replace dev %s root fq` without maxrate.", link)
	}
	for _, r := range v.Case.Runs {
		carried := r.Rate
		if kind == "fq" {
			carried /= unit.BitRate(max(len(r.Streams), 1))
		}
		if carried > rate*80/100 && carried < rate*105/100 {
			sure = 0.93
			evidence = append(evidence, scene.Saw(r.Tool, fmt.Sprintf("%v, %d streams", r.Rate, max(len(r.Streams), 1)), r.Source))
		}
	}
	v.Add(cause, sure, h, where, summary, remedy, evidence...)
}

// stalledRuns: a test that begins and then stands still, between hosts with large
// frames: they are lost in the middle.
func stalledRuns(v *scene.View) {
	jumbo := ""
	var evidence []record.Evidence
	for _, h := range v.Hosts {
		for _, name := range h.Subjects("link") {
			if mtu, at, ok := scene.Number(h, "link "+name, "mtu"); ok && mtu > 1600 && !scene.Pseudo(name) {
				jumbo = name
				evidence = append(evidence, scene.Saw("MTU of "+name+" on "+scene.NameOf(h), fmt.Sprintf("%.0f", mtu), at))
			}
		}
	}
	small := ""
	for _, s := range v.Switches {
		for _, name := range s.Subjects("port") {
			if mtu, at, ok := scene.Number(s, "port "+name, "mtu"); ok && mtu > 0 && mtu < 1600 && jumbo != "" {
				small = scene.NameOf(s) + " " + name
				evidence = append(evidence, scene.Saw("MTU of "+small, fmt.Sprintf("%.0f", mtu), at))
			}
		}
	}
	stalled, sure, segment := false, 0.0, 0.0
	for _, r := range v.Case.Runs {
		if r.Intervals >= 4 && r.Stalled >= r.Intervals/2 {
			if r.Retransmits == 0 && !r.UDP {
				idleRun(v, r)
				continue
			}
			stalled = true
			if segment = float64(r.MSS); segment == 0 && r.CwndLeast > 0 && r.CwndLeast < 9200 {
				segment = float64(r.CwndLeast) // one segment is what is left of the window
			}
			evidence = append(evidence, scene.Saw(r.Tool, fmt.Sprintf("nothing arrived in %d of %d seconds", r.Stalled, r.Intervals), r.Source))
		}
	}
	for _, h := range v.Hosts {
		if x, ok := h.Get("host", "large_ping"); ok && x.Text == "lost" {
			evidence = append(evidence, scene.Saw("large ping", "lost, small ones pass", x.Source))
			sure = max(sure, 0.85)
		}
	}
	switch {
	case small != "" && (stalled || sure > 0):
		sure = 0.95
	case small != "" && jumbo != "":
		sure = max(sure, 0.75)
	case stalled && jumbo != "":
		sure = max(sure, 0.88)
	case stalled && segment > 0 && segment <= 1460:
		stalledSmall(v, segment, evidence)
		return
	case stalled:
		sure = max(sure, 0.5)
	}
	if sure == 0 {
		return
	}
	if jumbo == "" && segment < 2000 && small == "" {
		v.Add(record.MTU, sure, nil, "the path between the hosts", "Large packets are lost between the hosts: small ones (ping, ssh, the start of a test) pass, and full ones vanish without a word. With jumbo frames on the hosts something on the way carries 1500 only; without them it is a tunnel, a VPN or PPPoE that carries less than 1500.",
			"Find the largest that passes: `ping -M do -s 8972 PEER` for jumbo frames, `-s 1472` for 1500, then less. Set MTU 9216 on every switch port and VLAN of the path, or 1500 on both hosts; for a tunnel its own MTU, or clamp the MSS to it.", evidence...)
		return
	}
	v.Add(record.MTU, sure, nil, cmp.Or(small, "the switch or path between the hosts"),
		"Large packets are lost between the hosts: the hosts send jumbo frames (MTU 9000), and something on the path carries 1500 only, so small packets (ping, ssh, the start of a test) pass and full ones vanish.",
		"Set MTU 9216 on every switch port and VLAN of the path ("+cmp.Or(small, "find it with `ping -M do -s 8972 PEER`")+"), or 1500 on both hosts.", evidence...)
}

// idleRun: a test that stands still and repeats nothing: what is lost would be sent again.
func idleRun(v *scene.View, r piece.Run) {
	found := v.Add(record.Application, 0.48, nil, r.Tool+" or the receiver's window",
		fmt.Sprintf("%s stands still in %d of %d seconds, and nothing was sent again: no packet was lost, so the sender had nothing to send or was not allowed to (a full receive window).", r.Tool, r.Stalled, r.Intervals),
		"Start the server anew and measure again, with the same newer version on both ends (iperf3 servers that a health check or a scan has touched may stand still); then look what the sender waits for.",
		scene.Saw(r.Tool, fmt.Sprintf("nothing arrived in %d of %d seconds, 0 segments sent again", r.Stalled, r.Intervals), r.Source))
	found.Ask = []scene.Missing{
		{Command: "ss -tinm", Host: "both hosts", Why: "while it stands still: rwnd_limited, and whether a send or receive queue is full"},
		{Command: "iperf3 --version; the server's own output", Host: "the server", Why: "whether an earlier test is still running there"},
	}
}

// stalledSmall: a test that stands still with ordinary segments: nearly all of the full
// ones are lost, for being large or for good.
func stalledSmall(v *scene.View, segment float64, evidence []record.Evidence) {
	evidence = append(evidence, record.Evidence{What: "segments", Value: fmt.Sprintf("about %.0f bytes: no jumbo frames", segment), Source: evidence[len(evidence)-1].Source})
	sure, where, tunnel := 0.45, "the path between the hosts", "a tunnel, a VPN or PPPoE"
	for _, h := range v.Hosts {
		for _, name := range h.Subjects("link") {
			if mtu, at, ok := scene.Number(h, "link "+name, "mtu"); ok && mtu >= segment+40 && tunnelled(name) {
				sure, where, tunnel = 0.7, name+" of "+scene.NameOf(h), "the tunnel "+name
				evidence = append(evidence, scene.Saw("MTU of "+name, fmt.Sprintf("%.0f", mtu), at))
			}
		}
	}
	if v.Said("mtu_helps_not", "not_mtu") && sure < 0.5 {
		found := v.Add(record.Congestion, 0.48, nil, where,
			"The test stands still: the connection is made, and then nearly all is lost, by what is said with smaller packets too. One direction of the way loses nearly everything: a radio or a line at its limit, a cable, a module, a queue, a policer.",
			"`ping -c 200 -i 0.05 PEER` and `mtr -rwzc 200 PEER` each way: where the losses begin. Then the counters of each port, and a test at a low rate (`iperf3 -u -b 5M`, then more): from which rate on it loses.", evidence...)
		found.Ask = []scene.Missing{{Command: "mtr -rwzc 200 PEER; iperf3 -c PEER -u -b 5M, then more", Host: "both hosts", Why: "on which part of the way and from which rate on packets are lost"}}
		return
	}
	found := v.Add(record.MTU, sure, nil, where,
		fmt.Sprintf("The test stands still: small packets pass (the connection is made), and full segments of %.0f bytes hardly arrive. Either %s on the way carries less than a full packet and says so to nobody, or one direction loses nearly everything (a cable, a module, a queue).", segment, tunnel),
		"`ping -M do -s 1472 PEER` both ways, then smaller until it passes (FreeBSD, macOS: `ping -D`). Only large ones lost: set the MTU of the tunnel and of what sends into it to what passes, plus 28, or clamp the MSS (`iptables -t mangle -A FORWARD -p tcp --tcp-flags SYN,RST SYN -j TCPMSS --clamp-mss-to-pmtu`). Small ones lost too (`ping -c 200 -i 0.05 PEER`): look at the counters of each port, not at the MTU.", evidence...)
	found.Ask = []scene.Missing{{Command: "ping -M do -s 1472 PEER; ping -c 200 -i 0.05 PEER", Host: "the sender", Why: "whether large packets alone are lost, or all kinds"},
		{Command: "ip -d link; ip route get PEER", Host: "both hosts", Why: "which MTU each link on the way has, and whether a tunnel is among them"}}
}

// Buffers that are far below the kernel's defaults (tcp_init: 6 MiB and 4 MiB).
const (
	smallBuffer = 2 << 20
	mptcpBuffer = 4 << 20
)

// smallBuffers: limits of buffers that a long path, or several of MPTCP, outgrow.
func smallBuffers(v *scene.View) {
	for _, h := range v.Hosts {
		x, ok := h.Get("sysctl", "net.ipv4.tcp_rmem")
		f := strings.Fields(x.Text)
		if !ok || len(f) != 3 {
			continue
		}
		most, err := strconv.ParseFloat(f[2], 64)
		if err != nil || most <= 0 {
			continue
		}
		mptcp := v.MPTCP(h)
		evidence := []record.Evidence{scene.Saw("net.ipv4.tcp_rmem", x.Text, x.Source)}
		switch {
		case mptcp && most < mptcpBuffer:
			v.Add(record.ReceiveWindow, 0.78, h, "tcp_rmem and tcp_wmem of both ends",
				fmt.Sprintf("MPTCP needs a buffer for both paths together: the sum of their rates over the slower path's round trip. tcp_rmem stops at %v, so the second path adds little.", unit.Bytes(most)),
				"Raise the third values on both ends: `sysctl -w net.ipv4.tcp_rmem=\"4096 131072 33554432\" net.ipv4.tcp_wmem=\"4096 65536 33554432\"`.", evidence...)
		case most < smallBuffer && len(v.Case.Runs) > 0:
			v.Add(record.ReceiveWindow, 0.5, h, "tcp_rmem of "+scene.NameOf(h),
				fmt.Sprintf("tcp_rmem of %s stops at %v, far below the kernel's default of 6 MiB: a stream gets no more than half of that in a round trip.", scene.NameOf(h), unit.Bytes(most)),
				"Set its third value to 33554432 or more, and that of tcp_wmem on the sender.", evidence...)
		}
	}
}
