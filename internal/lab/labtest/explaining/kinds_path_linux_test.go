package explaining

import (
	"fmt"
	"math"
	"time"

	"github.com/linerate/linerate/internal/lab/labtest/floor"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// lossy is a network whose packets may get lost one at a time.
func lossy(d dice, n *network) bool {
	n.singly = true
	if n.mtu == 1500 && float64(n.sum()) > 100e6 {
		n.mtu = one(d, 4000, 9000)
	}
	n.rtt = round(time.Duration(d.between(4e6, 30e6)))
	return n.possible()
}

// lossFor is the loss at which Mathis' law gives a part of the links' rate.
func lossFor(n network, part float64) float64 {
	p := math.Pow(1.22*float64(n.mtu)*8/(n.rtt.Seconds()*part*n.perStream()), 2)
	return min(max(p, 2e-4), 0.03)
}

// impaired changes the delay of links on the way to the receivers: how many,
// zero is all.
func impaired(links int, form string, values ...any) fault {
	each := func(s *stand, more string) {
		for _, host := range s.what.receivers() {
			for i := range s.what.rates {
				if links == 0 || i < links {
					s.tc(mid, "qdisc change dev %s parent 1:1 handle 2: netem delay %dus%s limit %d", end(host, i), s.what.rtt.Microseconds()/2, more, packets)
				}
			}
		}
	}
	text := " " + fmt.Sprintf(form, values...)
	// netem keeps what corrupts unless it is told (netem_change, 6.1).
	return fault{on: func(s *stand) { each(s, text) }, off: func(s *stand) { each(s, " corrupt 0%") }}
}

func lossKinds() []*kind {
	return []*kind{
		{cause: record.Congestion, name: "random loss", claims: "netem", suit: lossy, draw: func(d dice, n network) fault {
			p := lossFor(n, d.even(0.15, 0.5))
			return impaired(0, "loss %.4f%%", 100*p).with("%.2g of the packets lost", p)
		}},
		{cause: record.Congestion, name: "loss on one link", claims: "netem", suit: func(d dice, n *network) bool { return len(n.rates) > 1 && lossy(d, n) }, draw: func(d dice, n network) fault {
			p := 2 * lossFor(n, d.even(0.1, 0.3))
			return impaired(1, "loss %.4f%%", 100*p).with("%.2g of the packets of one link lost", p)
		}},
		{cause: record.Congestion, name: "loss in bursts", claims: "netem", suit: lossy, draw: func(d dice, n network) fault {
			burst := d.even(2, 6)
			p := min(lossFor(n, d.even(0.15, 0.5)), 0.04/burst)
			return impaired(0, "loss gemodel %.4f%% %.2f%%", 100*p, 100/burst).with("bursts of %.1f packets lost, one in %.0f", burst, 1/p)
		}},
		{cause: record.Congestion, name: "corruption", claims: "netem", suit: lossy, draw: func(d dice, n network) fault {
			p := lossFor(n, d.even(0.15, 0.5))
			return impaired(0, "corrupt %.4f%%", 100*p).with("%.2g of the packets corrupted", p)
		}},
	}
}

// reordered is a lossy network whose own delay is short beside what is to come:
// what TCP allows packets to be late grows with the shortest round trip.
func reordered(d dice, n *network) bool {
	ok := lossy(d, n)
	n.rtt = round(time.Duration(d.between(0.6e6, 2.5e6)))
	return ok && n.possible()
}

// late delays packets unevenly on the links to the receivers.
func late(form string, values ...any) fault {
	each := func(s *stand, more string) {
		for _, host := range s.what.receivers() {
			for i := range s.what.rates {
				s.tc(mid, "qdisc change dev %s parent 1:1 handle 2: netem %s limit %d", end(host, i), more, packets)
			}
		}
	}
	return fault{
		on:  func(s *stand) { each(s, fmt.Sprintf(form, values...)) },
		off: func(s *stand) { each(s, fmt.Sprintf("delay %dus 0us reorder 0%%", s.what.rtt.Microseconds()/2)) },
	}
}

// reorderKinds: Linux lets packets be late by up to a round trip before it
// takes them for lost, once duplicates have told it (RFC 8985): what overtakes
// must do so by more, or the receiver must not tell.
func reorderKinds() []*kind {
	mute := func(f fault, d dice) fault {
		if d.chance(0.5) {
			return f
		}
		return both(f, sysctls(network.receivers, map[string]string{"ipv4.tcp_dsack": "0"})).with("%s, no DSACK", f.text)
	}
	return []*kind{
		{cause: record.Reordering, name: "jitter", claims: "netem", suit: reordered, draw: func(d dice, n network) fault {
			jitter := time.Duration(d.between(3e6, 20e6))
			return mute(late("delay %dus %dus", jitter.Microseconds(), jitter.Microseconds()).with("a delay of 0 to %v, packet by packet", round(2*jitter)), d)
		}},
		{cause: record.Reordering, name: "packets that overtake", claims: "netem", suit: reordered, draw: func(d dice, n network) fault {
			share, delay := d.between(0.5, 30), time.Duration(d.between(5e6, 30e6))
			return mute(late("delay %dus reorder %.1f%% 25%%", delay.Microseconds(), share).with("%.1f %% of the packets skip a delay of %v", share, round(delay)), d)
		}},
		{cause: record.Reordering, name: "packets that are late", claims: "netem", suit: reordered, draw: func(d dice, n network) fault {
			share, delay := d.between(0.5, 30), time.Duration(d.between(5e6, 30e6))
			return mute(late("delay %dus reorder %.1f%% 25%%", delay.Microseconds(), 100-share).with("%.1f %% of the packets are late by %v", share, round(delay)), d)
		}},
	}
}

// both is two faults as one.
func both(a, b fault) fault {
	return fault{on: func(s *stand) { a.on(s); b.on(s) }, off: func(s *stand) { a.off(s); b.off(s) }}
}

func shaperKinds() []*kind {
	rate := func(d dice, n network) unit.BitRate {
		return unit.BitRate(math.Round(d.even(0.25, 0.72)*float64(n.sum())/1e6) * 1e6)
	}
	trunk := func(on func(s *stand, port string), off string) fault {
		ports := func(s *stand) (all []string) {
			for _, host := range s.what.senders() {
				all = append(all, "trunk-"+host)
			}
			return all
		}
		return fault{
			on: func(s *stand) {
				for _, p := range ports(s) {
					on(s, p)
				}
			},
			off: func(s *stand) {
				for _, p := range ports(s) {
					s.tc(mid, off, p)
				}
			},
		}
	}
	tbf := func(r unit.BitRate) string {
		burst := int64(floor.Bucket(r))
		return fmt.Sprintf("tbf rate %.0fbit burst %d limit %d", float64(r), burst, burst+int64(float64(r)/8*queueTime.Seconds()))
	}
	return []*kind{
		{cause: record.Shaper, name: "tbf in the middle", claims: "trunk", suit: always, draw: func(d dice, n network) fault {
			r := rate(d, n)
			return trunk(func(s *stand, port string) { s.tc(mid, "qdisc add dev %s root handle 1: %s", port, tbf(r)) }, "qdisc del dev %s root").with("tbf of %v in the middle", r)
		}},
		{cause: record.Shaper, name: "htb in the middle", claims: "trunk", suit: always, draw: func(d dice, n network) fault {
			r := rate(d, n)
			return trunk(func(s *stand, port string) {
				s.tc(mid, "qdisc add dev %s root handle 1: htb default 1", port)
				s.tc(mid, "class add dev %s parent 1: classid 1:1 htb rate %.0fbit burst %d", port, float64(r), int64(floor.Bucket(r)))
				s.tc(mid, "qdisc add dev %s parent 1:1 handle 10: bfifo limit %d", port, int64(floor.Bucket(r))+int64(float64(r)/8*queueTime.Seconds()))
			}, "qdisc del dev %s root").with("htb of %v in the middle", r)
		}},
		{cause: record.Shaper, name: "a policer in the middle", claims: "trunk", suit: lossy, draw: func(d dice, n network) fault {
			r := rate(d, n)
			burst := int64(float64(r) / 8 * d.even(0.01, 0.04))
			return trunk(func(s *stand, port string) {
				port = "trunk-" + other(port[len("trunk-"):])
				s.tc(mid, "qdisc add dev %s ingress", port)
				s.tc(mid, "filter add dev %s ingress matchall action police rate %.0fbit burst %d mtu 65535 conform-exceed drop", port, float64(r), max(burst, 70000))
			}, "").police().with("a policer of %v in the middle", r)
		}},
		{cause: record.Shaper, name: "a declared path", claims: "trunk", suit: always, draw: func(d dice, n network) fault {
			r := rate(d, n)
			f := trunk(func(s *stand, port string) { s.tc(mid, "qdisc add dev %s root handle 1: %s", port, tbf(r)) }, "qdisc del dev %s root")
			f.declare = func(said *declaration) {
				for i := range said.paths {
					said.paths[i].Rate = r
				}
			}
			return f.with("a declared path of %v", r)
		}},
		{cause: record.Shaper, name: "the sender's own bond", claims: "sender's qdisc", suit: func(d dice, n *network) bool { return isBonded(d, n) }, draw: func(d dice, n network) fault {
			r := rate(d, n)
			each := func(s *stand, form string) {
				for _, host := range s.what.senders() {
					s.tc(host, form)
				}
			}
			return fault{on: func(s *stand) { each(s, "qdisc add dev bond0 root handle 1: "+tbf(r)) }, off: func(s *stand) { each(s, "qdisc del dev bond0 root") }}.with("tbf of %v on the sender's bond", r)
		}},
		{cause: record.Shaper, name: "the sender's own ports", claims: "sender's qdisc", suit: always, draw: func(d dice, n network) fault {
			return ports(network.senders, func(s *stand, host string, i int) (string, string) { return host, eth(i) }, d.even(0.25, 0.72)).with("tbf below the links' speed on the sender's ports")
		}},
		{cause: record.Shaper, name: "the ports to the receiver", claims: "receiver's qdisc", suit: always, draw: func(d dice, n network) fault {
			part := d.even(0.25, 0.72)
			f := ports(network.receivers, func(s *stand, host string, i int) (string, string) { return mid, end(host, i) }, part)
			on, off := f.on, f.off
			// The delay's queue is the shaper's here: as many packets as the
			// delay and the shaper's own wait hold.
			queue := func(s *stand, limit int) {
				for _, host := range s.what.receivers() {
					for i := range s.what.rates {
						s.tc(mid, "qdisc change dev %s parent 1:1 handle 2: netem delay %dus limit %d", end(host, i), s.what.rtt.Microseconds()/2, limit)
					}
				}
			}
			f.on = func(s *stand) {
				on(s)
				held := part * float64(s.what.rates[0]) / 8 * (s.what.rtt/2 + queueTime).Seconds()
				queue(s, max(20, int(held/float64(s.what.mtu))))
			}
			f.off = func(s *stand) { off(s); queue(s, packets) }
			return f.with("%.2f of the links' rate at the switch's ports to the receiver", part)
		}},
	}
}

// police makes off right for a filter at the other end of the trunk.
func (f fault) police() fault {
	f.off = func(s *stand) {
		for _, host := range s.what.receivers() {
			s.tc(mid, "qdisc del dev trunk-%s ingress", host)
		}
	}
	return f
}

// ports shapes links below their speed.
func ports(where func(network) []string, port func(s *stand, host string, i int) (space, link string), part float64) fault {
	each := func(s *stand, part float64) {
		for _, host := range where(s.what) {
			for i, rate := range s.what.rates {
				space, link := port(s, host, i)
				r := unit.BitRate(part * float64(rate))
				s.tc(space, "qdisc change dev %s root handle 1: tbf rate %.0fbit burst %d limit %d", link, float64(r), int64(floor.Bucket(r)), int64(floor.Bucket(r))+int64(float64(r)/8*queueTime.Seconds()))
			}
		}
	}
	return fault{on: func(s *stand) { each(s, part) }, off: func(s *stand) { each(s, 1) }}
}
