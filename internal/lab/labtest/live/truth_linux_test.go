package live

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/linerate/linerate/internal/kernel/rtnl"
	"github.com/linerate/linerate/internal/kernel/sockdiag"
	"github.com/linerate/linerate/internal/kernel/sys"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/unit"
)

// counts is what the near host's kernel has counted at one moment, read by the
// test itself: what is true is not asked of the program under test.
type counts struct {
	at    time.Time
	conns map[uint16]sockdiag.Detail // by source port, those that send
	tx    map[string]uint64          // bytes by link
}

func (s *stand) count() counts {
	s.t.Helper()
	c := counts{at: time.Now(), conns: make(map[uint16]sockdiag.Detail), tx: make(map[string]uint64)}
	s.must(s.near.NS.Do(func() error {
		all, err := sockdiag.ConnectionsAt(0, 0)
		if err != nil {
			return err
		}
		for _, d := range all {
			if d.Info != nil {
				c.conns[d.Sport] = d
			}
		}
		return nil
	}))
	for _, l := range s.observed(s.near).Links {
		c.tx[l.Name] = l.Counters.TxBytes
	}
	return c
}

// sent is what a connection moved from one moment to another.
func sent(a, b counts, port uint16) unit.BitRate {
	return unit.FromBytes(float64(b.conns[port].Info.BytesAcked-a.conns[port].Info.BytesAcked), b.at.Sub(a.at).Seconds())
}

// From this share of its rate on a link counts as full, up to that one as
// having room.
const full, room = 0.92, 0.7

func share(a, b counts, link string) float64 {
	return float64(unit.FromBytes(float64(b.tx[link]-a.tx[link]), b.at.Sub(a.at).Seconds()) / rate)
}

// filled waits until the link that is to be full is.
func (s *stand) filled(link string) {
	s.t.Helper()
	const looks = 8
	for range looks {
		if link == "" {
			return
		}
		a := s.count()
		time.Sleep(time.Second)
		if share(a, s.count(), link) >= full {
			return
		}
	}
}

// whileTrue watches, and again where the limits that are known did not hold
// meanwhile: a machine that gives the emulated core a small part of its time
// holds every program back. What it says is no part of that choice.
func (s *stand) whileTrue(some []limit, busy string) told {
	s.t.Helper()
	const attempts = 3
	for range attempts {
		a := s.count()
		doc, _ := s.explain(s.near, false, "--json", "--duration", span.String())
		b := s.count()
		s.t.Logf("what the sockets showed:\n%s", table(a, b, some))
		untrue := s.untrue(a, b, some, busy)
		if untrue == "" {
			return doc
		}
		s.t.Logf("watched again: %s", untrue)
	}
	s.t.Fatalf("the limits did not hold %d times: the machine is too busy", attempts)
	return told{}
}

// untrue says which limit did not hold; "" all did.
func (s *stand) untrue(a, b counts, some []limit, busy string) string {
	for _, l := range some {
		found := 0
		for port, d := range b.conns {
			if _, ok := a.conns[port]; !ok || d.Dport != l.port || d.Info.BytesAcked < 1e5 {
				continue
			}
			found++
			if r := sent(a, b, port); r < l.least {
				return fmt.Sprintf("%s moves %v, and its limit is no less than %v", l.name, r, l.least)
			}
		}
		if found != each {
			return fmt.Sprintf("%s has %d connections", l.name, found)
		}
	}
	for _, link := range []string{"eth0", "eth1"} {
		if got := share(a, b, link); link == busy && got < full || link != busy && got > room {
			return fmt.Sprintf("%s is %.0f %% full", link, 100*got)
		}
	}
	return ""
}

// table is what the sockets showed from one moment to another.
func table(a, b counts, some []limit) string {
	var t strings.Builder
	fmt.Fprintf(&t, "%-8s %5s %8s %5s %5s %5s %6s %6s %6s %5s %7s %5s %5s %5s %3s\n",
		"program", "port", "kbit/s", "busy", "rwnd", "sndb", "notsnt", "queued", "sndbuf", "cwnd", "wnd", "rtt", "min", "retr", "app")
	for _, port := range slices.Sorted(maps.Keys(b.conns)) {
		d := b.conns[port]
		was, ok := a.conns[port]
		if !ok {
			continue
		}
		name := "-"
		for _, l := range some {
			if l.port == d.Dport {
				name = l.name
			}
		}
		i, span := d.Info, b.at.Sub(a.at)
		part := func(a, b time.Duration) float64 { return float64(b-a) / float64(span) }
		fmt.Fprintf(&t, "%-8s %5d %8.0f %5.2f %5.2f %5.2f %6d %6d %6d %5d %7d %5d %5d %5d %v\n", name, port, float64(sent(a, b, port))/1e3,
			part(was.Info.Busy, i.Busy), part(was.Info.RwndLimited, i.RwndLimited), part(was.Info.SndbufLimited, i.SndbufLimited),
			i.NotSent, int(d.Memory.Queued), int(d.Memory.SndBuf), i.SndCwnd, i.SndWnd, i.RTT.Milliseconds(), i.MinRTT.Milliseconds(), i.TotalRetrans-was.Info.TotalRetrans, i.AppLimited)
	}
	for _, link := range []string{"eth0", "eth1"} {
		fmt.Fprintf(&t, "%s %.1f %% full\n", link, 100*share(a, b, link))
	}
	return t.String()
}

// ways listens at the switch until it has seen a data packet of each source
// port, and says which of the near host's links it came by.
func (s *stand) ways(ports map[uint16]bool) map[uint16]string {
	s.t.Helper()
	seen := make(map[uint16]string)
	s.must(s.mid.NS.Do(func() error {
		sockets := make(map[string]*sys.PacketSocket)
		for _, link := range []string{"eth0", "eth1"} {
			l, _ := s.observedHere("near-" + link)
			socket, err := sys.OpenPacketSocket(l.Index, ethPAll)
			if err != nil {
				return err
			}
			defer socket.Close()
			sockets[link] = socket
		}
		const long, turn = 10 * time.Second, 100 * time.Millisecond
		for end := time.Now().Add(long); time.Now().Before(end) && len(seen) < len(ports); {
			for link, socket := range sockets {
				s.sniff(socket, link, turn, ports, seen)
			}
		}
		return nil
	}))
	return seen
}

const ethPAll = 3 // ETH_P_ALL: before a bond takes the frame

func (s *stand) observedHere(name string) (netstate.Link, bool) {
	h, err := rtnl.Open()
	s.must(err)
	defer h.Close()
	links, err := h.Links()
	s.must(err)
	return netstate.Host{Links: links}.Link(name)
}

// sniff reads frames of one link for a while.
func (s *stand) sniff(socket *sys.PacketSocket, link string, turn time.Duration, ports map[uint16]bool, seen map[uint16]string) {
	s.t.Helper()
	frame := make([]byte, 64)
	for end := time.Now().Add(turn); time.Now().Before(end) && len(seen) < len(ports); {
		n, err := socket.Receive(frame, time.Until(end))
		if err != nil || n < 54 {
			continue
		}
		// Ethernet 14, IPv4 20: source address at 26, TCP's ports at 34.
		src, _ := netip.AddrFromSlice(frame[26:30])
		port := uint16(frame[34])<<8 | uint16(frame[35])
		if src != nearAddr || !ports[port] {
			continue
		}
		if was := seen[port]; was != "" && was != link {
			s.t.Errorf("port %d came by %s and by %s", port, was, link)
		}
		seen[port] = link
	}
}
