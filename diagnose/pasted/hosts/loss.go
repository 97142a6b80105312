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

// halfDuplex: a port at half duplex, whose other end mostly is not.
func halfDuplex(v *scene.View) {
	for _, h := range v.Case.Hosts {
		for _, kind := range []string{"link", "port"} {
			for _, name := range h.Subjects(kind) {
				x, ok := h.Get(kind+" "+name, "duplex")
				if !ok {
					x, ok = h.Get(kind+" "+name, "log_duplex")
				}
				if !ok || !strings.Contains(strings.ToLower(x.Text), "half") || scene.NoLink(h, kind+" "+name) {
					continue
				}
				sure := 0.85
				evidence := []record.Evidence{scene.Saw("duplex of "+name, x.Text, x.Source)}
				for _, key := range []string{"stat.tx_abort_late_coll", "tx_collisions", "stat.collisions", "late_collisions"} {
					if n, at, ok := scene.Number(h, kind+" "+name, key); ok && n > 10 {
						evidence = append(evidence, scene.Saw(key, strconv.FormatFloat(n, 'f', -1, 64), at))
						sure = 0.95
					}
				}
				v.Add(record.Congestion, sure, h, name+" of "+scene.NameOf(h)+" (half duplex)",
					fmt.Sprintf("%s runs at half duplex: with the other end at full duplex frames collide late and are damaged (CRC errors there), and traffic both ways collapses.", name),
					"Let both ends negotiate (auto), or set both to the same speed and full duplex; never one end alone.", evidence...)
			}
		}
	}
}

// smallRing: a card that ran out of receive buffers, with a ring that may be larger.
func smallRing(v *scene.View) {
	for _, h := range v.Hosts {
		for _, name := range h.Subjects("link") {
			missed, at, key := unfetched(h, "link "+name)
			packets, _, ok := scene.Number(h, "link "+name, "rx_packets")
			if !ok {
				packets = sumOf(h, "link "+name, queuePackets)
			}
			if missed < 1000 || packets > 0 && missed/packets < 1e-4 {
				continue
			}
			sure := 0.6
			evidence := []record.Evidence{scene.Saw(strings.TrimPrefix(key, "stat.")+" of "+name, strconv.FormatFloat(missed, 'f', -1, 64), at)}
			remedy := fmt.Sprintf("Enlarge the receive ring (`ethtool -g %s`, `ethtool -G %s rx 4096`), lower interrupt delays (`ethtool -c`), and spread the queues over cores.", name, name)
			now, from, ok := scene.Number(h, "link "+name, "ring_rx")
			most, _, okMost := scene.Number(h, "link "+name, "ring_rx_max")
			if ok && okMost && now*2 <= most {
				sure = 0.88
				evidence = append(evidence, scene.Saw("receive ring of "+name, fmt.Sprintf("%.0f of %.0f", now, most), from))
				remedy = fmt.Sprintf("Raise the receive ring: `ethtool -G %s rx %.0f` (it is %.0f), and lower interrupt delays (`ethtool -C %s adaptive-rx on`).", name, most, now, name)
			}
			v.Add(record.CardSlot, sure, h, name+" of "+scene.NameOf(h)+" (receive ring)",
				fmt.Sprintf("The card %s missed packets (%s %.0f): its receive ring was full before the host took them, and each is a loss for TCP.", name, strings.TrimPrefix(key, "stat."), missed), remedy, evidence...)
		}
	}
}

// ringFull are the counters of packets for which the host had no buffer ready: the
// kernel's, and the drivers' own names, of the card or of each queue (be2net, bnx2x,
// bnxt_en, enic, qede, sfc, ice, r8125, vmxnet3).
var ringFull = regexp.MustCompile(`^(?:rx_missed|rx_overrun|stat\.(?:(?:rxq\d+|\[\d+\]): |.*\bqueue_\d+_)?(?:rx_missed(?:_errors)?|rx_no_buffer_count|rx_out_of_buffer|rx_no_dma_resources|rx_drops_no_(?:frags|skbs|pbuf)|rx_discards|rx_discard_pkts|rx_no_bufs|no_buff_discards|port_rx_nodesc_drops|rx_nodesc_drop_cnt|rx_dropped\.nic|pkts rx OOB))$`)

// queuePackets are what a driver counts as received, by queue or of the card.
var queuePackets = regexp.MustCompile(`^stat\.(?:(?:rxq\d+|\[\d+\]): )?(?:rx_pkts|rx_packets|rx_ucast_packets|port_rx_packets)$`)

// unfetched is the counter of a link that has the most packets without a buffer, all of
// its queues together.
func unfetched(h *piece.Host, subject string) (most float64, at piece.Source, key string) {
	sums := make(map[string]float64)
	for _, k := range h.Keys(subject) {
		if !ringFull.MatchString(k) {
			continue
		}
		n, from, ok := scene.Number(h, subject, k)
		if !ok {
			continue
		}
		name := k
		if _, rest, queue := strings.Cut(k, ": "); queue {
			name = "stat." + rest
		}
		if sums[name] += n; sums[name] > most {
			most, at, key = sums[name], from, name
		}
	}
	return most, at, key
}

// sumOf adds up a link's counters of one shape.
func sumOf(h *piece.Host, subject string, shape *regexp.Regexp) (sum float64) {
	for _, k := range h.Keys(subject) {
		if n, _, ok := scene.Number(h, subject, k); ok && shape.MatchString(k) {
			sum += n
		}
	}
	return sum
}

// paused: a port that was told to pause.
func paused(v *scene.View) {
	for _, h := range v.Case.Hosts {
		for _, kind := range []string{"link", "port"} {
			for _, name := range h.Subjects(kind) {
				for _, key := range h.Keys(kind + " " + name) {
					if !strings.Contains(key, "pause") || !strings.Contains(key, "rx") || strings.Contains(key, "duration") || strings.Contains(key, "transition") || strings.Contains(key, "tx") {
						continue
					}
					n, at, ok := scene.Number(h, kind+" "+name, key)
					if !ok || n < 10000 {
						continue
					}
					v.Add(record.Congestion, 0.8, h, name+" of "+scene.NameOf(h)+" (pause frames)",
						fmt.Sprintf("%s was told to pause %.0f times (flow control, 802.3x): a slower receiver behind the switch stops all who send through it, not only its own sender.", name, n),
						"Turn pause (flow control) off on the switch's ports and the hosts (`ethtool -A "+name+" rx off tx off`), and find the slow receiver: the port that sends the pause frames.",
						scene.Saw(key+" of "+name, strconv.FormatFloat(n, 'f', -1, 64), at))
					return
				}
			}
		}
	}
}

// mostAgain is the part of what was sent that may have been sent again: more is no loss of a
// path, but all that is lost.
const mostAgain = 0.5

// lossyPath: a path that loses packets without being full.
func lossyPath(v *scene.View) {
	share, at, tool := 0.0, piece.Source{}, ""
	for _, r := range v.Case.Runs {
		if r.UDP && r.Datagrams > 1000 && r.Lost > 0 {
			if s := float64(r.Lost) / float64(r.Datagrams); s < 0.2 && s > share {
				share, at, tool = s, r.Source, r.Tool
			}
		}
	}
	for _, h := range v.Hosts {
		for _, s := range h.Sockets {
			sent, err := strconv.ParseFloat(s.Info["bytes_sent"], 64)
			again, err2 := strconv.ParseFloat(s.Info["bytes_retrans"], 64)
			if err == nil && err2 == nil && sent > 1e6 && again/sent > share && again/sent < mostAgain {
				share, at, tool = again/sent, s.Source, "ss"
				if s.Process == piece.NDT7 {
					tool = "tcp_info"
				}
			}
		}
	}
	trip := roundTrip(v)
	if share < 2e-4 || trip < 3 {
		return
	}
	for _, h := range v.Hosts {
		for _, s := range h.Sockets {
			if percent(s, "rwnd_limited") > waitedLong || percent(s, "sndbuf_limited") > waitedLong {
				return
			}
		}
	}
	sure, slows, until := 0.82, "loss-based congestion control (cubic, reno) takes each for congestion and never gets up to speed.", "Until then BBR (`sysctl -w net.ipv4.tcp_congestion_control=bbr`) or more streams help."
	switch {
	case v.HasFinding(record.Reordering):
		sure = 0.5 // what was sent again was late, not lost
	case modelBased(v):
		sure = 0.45 // BBR does not take a loss for congestion
		slows, until = "what is sent again takes that part of the rate, and BBR slows down too where much is lost.", "What drops so much is often a policer that lets bursts through first."
		if share >= 0.1 {
			sure = 0.6
		}
	}
	v.Add(record.Congestion, sure, nil, "the path",
		fmt.Sprintf("The path loses %.2g %% of the packets over a round trip of %.0f ms: %s", 100*share, trip, slows),
		"Find where they are lost (the provider's line, a cable, an optic, a full queue: counters of each port on the way). "+until,
		scene.Saw(tool, fmt.Sprintf("%.2g %% lost", 100*share), at))
}

// modelBased reports sockets, all of which are BBR's.
func modelBased(v *scene.View) bool {
	n := 0
	for _, h := range v.Hosts {
		for _, s := range h.Sockets {
			if c := s.Info["congestion"]; c != "" {
				if !strings.HasPrefix(c, "bbr") {
					return false
				}
				n++
			}
		}
	}
	return n > 0
}

// roundTrip is a path's in milliseconds, by ping or ss; zero unknown.
func roundTrip(v *scene.View) (most float64) {
	for _, h := range v.Case.Hosts {
		for _, p := range h.Pings {
			most = max(most, p.AvgMS)
		}
		for _, s := range h.Sockets {
			rtt, _, _ := strings.Cut(s.Info["rtt"], "/")
			n, _ := strconv.ParseFloat(rtt, 64)
			most = max(most, n)
		}
	}
	return most
}

// toolWindow: a test whose own socket buffer is what its rate comes to.
func toolWindow(v *scene.View) {
	trip := roundTrip(v)
	for _, r := range v.Case.Runs {
		window := r.Window
		if r.Clamped > 0 && window == 0 {
			window = r.Clamped
		}
		n := unit.BitRate(max(len(r.Streams), r.Parallel, 1))
		if window <= 0 || trip < 1 || r.UDP {
			continue
		}
		allowed := unit.FromBytes(float64(window), trip/1000)
		if each := r.Rate / n; each < allowed*55/100 || each > allowed*125/100 {
			continue
		}
		v.Add(record.ReceiveWindow, 0.85, nil, "the window of "+r.Tool,
			fmt.Sprintf("%s ran with a TCP window of %v, which over %.1f ms allows %v a stream: that is what was measured (%v).", r.Tool, window, trip, allowed, r.Rate),
			"Run it without -w (the kernel's tuning then goes as far as tcp_rmem and tcp_wmem), or with a larger one, raising net.core.rmem_max and wmem_max; or use more streams.",
			scene.Saw(r.Tool, fmt.Sprintf("window %v, %v", window, r.Rate), r.Source))
	}
}

// ownPace reports a socket whose algorithm was not read, on a host where BBR paces.
func ownPace(v *scene.View, h *piece.Host, s piece.Socket) bool {
	x, ok := h.Get("sysctl", "net.ipv4.tcp_congestion_control")
	return s.Info["congestion"] == "" && ok && strings.HasPrefix(x.Text, "bbr")
}

// socketPace: a socket whose pace is what it delivers: the program set it.
func socketPace(v *scene.View) {
	for _, h := range v.Hosts {
		for _, s := range h.Sockets {
			pace, err := strconv.ParseFloat(s.Info["pacing_bps"], 64)
			if most, err := strconv.ParseFloat(s.Info["max_pacing_bps"], 64); err == nil && most > 0 && most < 0.95*pace && heldByProgram(v, h, s, most) {
				break
			}
			delivered, err2 := strconv.ParseFloat(s.Info["delivery_bps"], 64)
			rtt, _, _ := strings.Cut(s.Info["rtt"], "/")
			trip, _ := strconv.ParseFloat(rtt, 64)
			cwnd, _ := strconv.ParseFloat(s.Info["cwnd"], 64)
			mss, _ := strconv.ParseFloat(s.Info["mss"], 64)
			if err != nil || err2 != nil || pace <= 0 || trip <= 0 || cwnd*mss <= 0 {
				continue
			}
			if _, most := s.Info["max_pacing_bps"]; !most && (strings.HasPrefix(s.Info["congestion"], "bbr") || ownPace(v, h, s)) {
				continue // BBR paces by itself
			}
			own := cwnd * mss * 8 / (trip / 1000)
			if delivered < 0.85*pace || delivered > 1.1*pace || pace > 0.6*own {
				continue
			}
			v.Add(record.Pacing, 0.85, h, "a socket of "+scene.NameOf(h),
				fmt.Sprintf("The socket is paced at %v (pacing_rate) and delivers that, while its window would allow %v: the program set SO_MAX_PACING_RATE, or a qdisc does.", unit.BitRate(pace), unit.BitRate(own)),
				"Look for a rate limit in the program's own configuration, then `tc qdisc show`; more connections go faster in sum.",
				scene.Saw("ss on "+scene.NameOf(h), fmt.Sprintf("pacing_rate %v, delivery_rate %v", unit.BitRate(pace), unit.BitRate(delivered)), s.Source))
			break
		}
	}
}

// heldByProgram: ss prints a socket's own maximum behind its pace where the program
// set one (SO_MAX_PACING_RATE).
func heldByProgram(v *scene.View, h *piece.Host, s piece.Socket, most float64) bool {
	delivered, err := strconv.ParseFloat(s.Info["delivery_bps"], 64)
	if err != nil || delivered < 0.8*most || delivered > 1.1*most {
		return false
	}
	v.Add(record.Pacing, 0.93, h, fmt.Sprintf("SO_MAX_PACING_RATE of a program of %s (port %d)", scene.NameOf(h), s.Local.Port()),
		fmt.Sprintf("The program set a maximum for its socket (SO_MAX_PACING_RATE %v: the figure behind the slash of pacing_rate), and the socket delivers that (%v). No qdisc and no congestion control is the cause: they carry it out.", unit.BitRate(most), unit.BitRate(delivered)),
		fmt.Sprintf("Look for a rate limit per connection in the configuration of the program (daemon) that owns port %d (`ss -tinp` names it).", s.Local.Port()),
		scene.Saw("ss on "+scene.NameOf(h), fmt.Sprintf("pacing_rate .../%v, delivery_rate %v", unit.BitRate(most), unit.BitRate(delivered)), s.Source))
	return true
}
