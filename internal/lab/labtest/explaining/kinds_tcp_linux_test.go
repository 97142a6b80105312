package explaining

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/linerate/linerate/internal/lab/labtest/floor"
	"github.com/linerate/linerate/internal/run/campaign"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

func itoa(n int) string { return strconv.Itoa(n) }

// leastWindow is how many packets a small window should hold: fewer make it
// other faults' business, such as delayed acknowledgements.
const leastWindow = 5

// windowFor is what each stream needs in flight to reach a part of the links.
func windowFor(n network, part float64) float64 {
	return part * n.perStream() / 8 * n.rtt.Seconds()
}

// far makes the round trip long enough for a window of leastWindow packets to
// be a fifth of what the links need.
func far(d dice, n *network) bool {
	n.rtt = round(time.Duration(d.between(8e6, 40e6)))
	return windowFor(*n, 0.2) >= leastWindow*float64(n.mtu)
}

// fixed makes the round trip such that windows of a size reach a part.
func fixed(window float64) func(dice, *network) bool {
	return func(d dice, n *network) bool {
		part := d.even(0.25, 0.7)
		n.rtt = round(time.Duration(window * 8 / (part * n.perStream()) * 1e9))
		return n.rtt >= 3*time.Millisecond && n.rtt <= 80*time.Millisecond
	}
}

func page(bytes float64) int64 { return max(4096, int64(math.Round(bytes/1024))*1024) }

// windowKinds are windows and buffers that are too small.
func windowKinds() []*kind {
	return []*kind{
		{cause: record.ReceiveWindow, name: "tcp_rmem", claims: "window", suit: far, draw: func(d dice, n network) fault {
			most := page(2 * windowFor(n, d.even(0.2, 0.7)))
			return sysctls(network.receivers, map[string]string{"ipv4.tcp_rmem": fmt.Sprintf("4096 %d %d", min(131072, most), most)}).with("tcp_rmem at most %d at the receiver", most)
		}},
		{cause: record.ReceiveWindow, name: "SO_RCVBUF", claims: "window", suit: far, draw: func(d dice, n network) fault {
			size := unit.Bytes(page(windowFor(n, d.even(0.2, 0.7))))
			return asks(func(m *campaign.Matrix) { m.Base.Socket.RcvBuf = size }).with("the receiver asks for a buffer of %v", size)
		}},
		{cause: record.ReceiveWindow, name: "no window scaling", claims: "window", suit: fixed(65535), draw: func(d dice, n network) fault {
			side := one(d, network.receivers, network.senders)
			return sysctls(side, map[string]string{"ipv4.tcp_window_scaling": "0"}).with("window scaling off at one end")
		}},
		{cause: record.ReceiveWindow, name: "no autotuning", claims: "window", suit: fixed(65536), draw: func(d dice, n network) fault {
			return sysctls(network.receivers, map[string]string{"ipv4.tcp_moderate_rcvbuf": "0"}).with("the receiver's autotuning off")
		}},
		{cause: record.ReceiveWindow, name: "tcp_adv_win_scale", claims: "window", suit: far, draw: func(d dice, n network) fault {
			most := page(8 * windowFor(n, d.even(0.2, 0.7)))
			return sysctls(network.receivers, map[string]string{"ipv4.tcp_adv_win_scale": "-3", "ipv4.tcp_rmem": fmt.Sprintf("4096 %d %d", most, most)}).with("an eighth of tcp_rmem of %d is window (tcp_adv_win_scale -3)", most)
		}},
		{cause: record.SendBuffer, name: "tcp_wmem", claims: "sndbuf", suit: far, draw: func(d dice, n network) fault {
			most := page(windowFor(n, d.even(0.15, 0.5)))
			return sysctls(network.senders, map[string]string{"ipv4.tcp_wmem": fmt.Sprintf("4096 %d %d", min(16384, most), most)}).with("tcp_wmem at most %d at the sender", most)
		}},
		{cause: record.SendBuffer, name: "SO_SNDBUF", claims: "sndbuf", suit: far, draw: func(d dice, n network) fault {
			size := unit.Bytes(page(0.5 * windowFor(n, d.even(0.15, 0.5))))
			return asks(func(m *campaign.Matrix) { m.Base.Socket.SndBuf = size }).with("the sender asks for a buffer of %v", size)
		}},
	}
}

// paceKinds are senders that are held back on purpose, or have nothing to send.
func paceKinds() []*kind {
	return []*kind{
		{cause: record.Pacing, name: "SO_MAX_PACING_RATE", anywhere: true, claims: "pace", suit: always, draw: func(d dice, n network) fault {
			rate := unit.BitRate(math.Round(d.even(0.2, 0.75)*n.perStream()/1e5) * 1e5)
			return asks(func(m *campaign.Matrix) { m.Base.Socket.Pacing = rate }).with("each stream paced at %v", rate)
		}},
		{cause: record.Pacing, name: "fq maxrate", claims: "pace", suit: always, draw: func(d dice, n network) fault {
			rate := math.Round(d.even(0.2, 0.7)*n.perStream()/1e5) * 1e5
			return childQueue("fq maxrate %.0fbit", rate).with("fq maxrate %.1fM at the sender", rate/1e6)
		}},
		{cause: record.Pacing, name: "fq maxrate on the bond", claims: "pace", suit: isBonded, draw: func(d dice, n network) fault {
			rate := math.Round(d.even(0.2, 0.7)*n.perStream()/1e5) * 1e5
			each := func(s *stand, form string, values ...any) {
				for _, host := range s.what.senders() {
					s.tc(host, form, values...)
				}
			}
			return fault{
				on:  func(s *stand) { each(s, "qdisc add dev bond0 root fq maxrate %.0fbit", rate) },
				off: func(s *stand) { each(s, "qdisc del dev bond0 root") },
			}.with("fq maxrate %.1fM on the sender's bond", rate/1e6)
		}},
		{cause: record.Application, name: "a slow writer", anywhere: true, claims: "pace", suit: always, draw: func(d dice, n network) fault {
			rate := unit.BitRate(math.Round(d.even(0.15, 0.75)*float64(n.sum())/1e6) * 1e6)
			return asks(func(m *campaign.Matrix) { m.Base.Rate = rate }).with("the program offers %v", rate)
		}},
	}
}

// childQueue puts a queue under the shapers of the senders' ports.
func childQueue(form string, values ...any) fault {
	return fault{
		on: func(s *stand) {
			for _, host := range s.what.senders() {
				for i := range s.what.rates {
					s.tc(host, "qdisc replace dev %s parent 1:1 handle 9: %s", eth(i), fmt.Sprintf(form, values...))
				}
			}
		},
		off: func(s *stand) {
			for _, host := range s.what.senders() {
				for i := range s.what.rates {
					s.tc(host, "qdisc replace dev %s parent 1:1 handle 8: bfifo limit %d", eth(i), int64(floor.Bucket(s.what.rates[i]))+int64(float64(s.what.rates[i])/8*queueTime.Seconds()))
				}
			}
		},
	}
}
