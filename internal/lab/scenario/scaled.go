package scenario

import (
	"fmt"
	"maps"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/unit"
)

// Port is one physical link of a host.
type Port struct{ Host, Link string }

// String is "HOST.LINK".
func (p Port) String() string { return p.Host + "." + p.Link }

// Ports are the physical links of the fabric's hosts, in file order.
func Ports(f fabric.Fabric) []Port {
	var all []Port
	for _, h := range f.Hosts {
		state, err := f.State(h.Name)
		if err != nil {
			continue // the host is of this very file
		}
		for _, l := range state.Links {
			if l.Kind == "" {
				all = append(all, Port{h.Name, l.Name})
			}
		}
	}
	return all
}

// Scaled is the fabric as the lab has it: rates and windows divided by the
// scale, round trips as long as Slow makes them, hosts reached as reach says. A shaper's count of a link's speed depends
// on the frames: mtus are the ports' now; nil is what the file says. What a cloud
// would limit is not in a lab: its rules are left out, and so are the rates of
// cores, which are the machine's own, but for the packets that one takes in singly:
// see CoreRate.
func (s Scenario) Scaled(reach func(host string) string, mtus map[Port]int) fabric.Fabric {
	f := s.Fabric
	f.Hosts = append([]fabric.Host(nil), f.Hosts...)
	for i := range f.Hosts {
		h := &f.Hosts[i]
		links := make(map[string]fabric.HardwareLink, len(h.Hardware.Links))
		for name, l := range h.Hardware.Links {
			l.Speed = shaped(l, s.mtu(h.Name, name, mtus)) / unit.BitRate(s.Scale)
			l.Framing = netstate.FramingL2
			links[name] = l
		}
		cards := maps.Clone(h.Hardware.Cards)
		for name, c := range cards {
			c.Scale = s.Scale
			cards[name] = c
		}
		cpu := netstate.CPU{PacketRate: h.Hardware.CPU.PacketRate / s.Scale}
		h.Hardware = fabric.Hardware{Links: links, Cards: cards, CPU: cpu}
		h.Reach, h.Kernel, h.Cloud = reach(h.Name), "", nil
		h.Rate /= unit.BitRate(s.Scale)
		h.Sysctl = maps.Clone(h.Sysctl)
		for key, value := range h.Sysctl {
			h.Sysctl[key] = ScaledSysctl(key, value, s.Windows())
		}
	}
	f.Paths = append([]fabric.Path(nil), f.Paths...)
	for i := range f.Paths {
		f.Paths[i].Rate /= unit.BitRate(s.Scale)
		f.Paths[i].Bucket = unit.Bytes(float64(f.Paths[i].Bucket) / s.Windows())
		f.Paths[i].RTT = time.Duration(float64(f.Paths[i].RTT) * s.Slow)
	}
	return f
}

// Windows is what the lab divides windows by.
func (s Scenario) Windows() float64 { return s.Scale / s.Slow }

// SlowSysctls are the tunables of every host that measure time by round trips and
// go with Slow, as far as the host's kernel has them: without them TCP cuts what it
// sends into small pieces for paths this long, and a bond that deals pieces out by
// turns has the large ones on one port and what is left of them on the other
// (tcp_tso_autosize; tcp_tso_rtt_log is 9 by default, since Linux 5.18).
func (s Scenario) SlowSysctls() map[string]string {
	if s.Slow <= 1 {
		return nil
	}
	return map[string]string{TSOLog: strconv.Itoa(9 + int(math.Round(math.Log2(s.Slow))))}
}

// TSOLog is the n of what TCP sends at once besides its pace's part: 64 KiB, halved
// for every 2^n microseconds of round trip.
const TSOLog = "net.ipv4.tcp_tso_rtt_log"

// ScaleText says how a lab is scaled: "rates and windows divided by 20".
func ScaleText(scale, slow float64) string {
	if slow <= 1 {
		return fmt.Sprintf("rates and windows divided by %g", scale)
	}
	return fmt.Sprintf("rates divided by %g, of it time by %g (round trips longer), windows by %g", scale, slow, scale/slow)
}

// mtu is a port's, by mtus or the file; name may be a glob that covers several
// ports of one kind.
func (s Scenario) mtu(host, name string, mtus map[Port]int) int {
	state, err := s.Fabric.State(host)
	if err != nil {
		return 0 // the host is of this very file
	}
	declared, _ := s.Fabric.Host(host)
	for _, l := range state.Links {
		if _, isThat := declared.HardwareOf(l); l.Name == name || isThat && strings.ContainsAny(name, "*?[") {
			if mtu, known := mtus[Port{host, l.Name}]; known {
				return mtu
			}
			return l.MTU
		}
	}
	return 0
}

// What Ethernet adds to a frame's payload: the header, which a shaper counts
// too, then preamble, FCS and gap, which it does not (IEEE 802.3 clause 4.4.2).
const (
	header = 14
	onWire = 38
)

// shaped is the rate that a shaper must have for frames of the MTU to go as fast
// as over a link like this.
func shaped(l fabric.HardwareLink, mtu int) unit.BitRate {
	if l.Framing == netstate.FramingL2 || mtu == 0 {
		return l.Speed
	}
	return l.Speed * unit.BitRate(mtu+header) / unit.BitRate(mtu+onWire)
}

// leastWindow is the least that a buffer is scaled down to: two frames of 9000
// bytes with what the kernel counts besides, below which nothing flows evenly.
const leastWindow = 64 << 10

// firstWindow is what a scaled receive buffer begins with at least, as far as its
// largest goes: the kernel lets one grow once more is read in a round trip than
// ten segments (tcp_init_buffer_space, tcp_rcv_space_adjust), of 9000 bytes more
// than a buffer of the usual 128 KiB has room for.
const firstWindow = 256 << 10

// ScaledSysctl is a tunable's value with windows divided by scale; what is no
// window stays. Of three values the last is the window, and the others are no
// larger.
func ScaledSysctl(key, value string, scale float64) string {
	switch key {
	case "net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem", "net.core.rmem_max", "net.core.wmem_max", "net.core.rmem_default", "net.core.wmem_default":
	default:
		return value
	}
	fields := strings.Fields(value)
	for i := len(fields) - 1; i >= 0; i-- {
		n, err := strconv.ParseInt(fields[i], 10, 64)
		if err != nil {
			return value
		}
		if i == len(fields)-1 {
			n = scaledWindow(n, scale)
		} else if next, err := strconv.ParseInt(fields[i+1], 10, 64); err == nil {
			n = min(n, next)
		}
		fields[i] = strconv.FormatInt(n, 10)
	}
	if key == "net.ipv4.tcp_rmem" && len(fields) == 3 && scale > 1 {
		first, _ := strconv.ParseInt(fields[1], 10, 64) // it was read above
		most, _ := strconv.ParseInt(fields[2], 10, 64)
		fields[1] = strconv.FormatInt(max(first, min(firstWindow, most)), 10)
	}
	return strings.Join(fields, " ")
}

func scaledWindow(n int64, scale float64) int64 {
	return min(n, max(int64(float64(n)/scale), leastWindow))
}
