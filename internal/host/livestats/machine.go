package livestats

import (
	"fmt"
	"time"

	"github.com/linerate/linerate/internal/evidence/livetraffic"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/unit"
)

// links is what each link carried between the first and the newest count.
func (m *meter) links() []livetraffic.Link {
	all := []livetraffic.Link{}
	seconds := m.newest.linksAt.Sub(m.first.linksAt).Seconds()
	if seconds <= 0 || len(m.first.links) != len(m.newest.links) {
		return all
	}
	for i, b := range m.newest.links {
		a := m.first.links[i]
		more := b.Sub(a.LinkCounters)
		rate := func(bytes uint64) unit.BitRate { return unit.FromBytes(float64(bytes), seconds) }
		all = append(all, livetraffic.Link{
			Name: b.Link, Tx: rate(more.Counters.TxBytes), Rx: rate(more.Counters.RxBytes),
			TxPackets:  float64(more.Counters.TxPackets) / seconds,
			RxPackets:  float64(more.Counters.RxPackets) / seconds,
			TxDrops:    more.Counters.TxDropped + more.QdiscDrops,
			RxDrops:    more.Counters.RxDropped + more.Counters.RxMissed,
			Backlog:    unit.Bytes(m.backlog[b.Link] / float64(max(m.linkLooks, 1))),
			Overlimits: more.QdiscOverlimits, Requeues: more.QdiscRequeues,
		})
	}
	return all
}

// cores is each core's time between the first and the last look.
func (m *meter) cores() []livetraffic.Core {
	var all []livetraffic.Core
	for _, b := range m.newest.cores {
		for _, a := range m.first.cores {
			total := b.Total - a.Total
			if a.CPU != b.CPU || total <= 0 {
				continue
			}
			share := func(a, b float64) float64 { return min(1, max(0, (b-a)/total)) }
			all = append(all, livetraffic.Core{Core: b.CPU, Busy: share(a.Busy, b.Busy), Softirq: share(a.Softirq, b.Softirq), Steal: share(a.Steal, b.Steal)})
		}
	}
	return all
}

func (m *meter) softnet() (dropped, squeezed uint64) {
	for _, b := range m.newest.softnet {
		for _, a := range m.first.softnet {
			if a.CPU == b.CPU {
				dropped += netstate.Grown32(a.Dropped, b.Dropped)
				squeezed += netstate.Grown32(a.TimeSqueeze, b.TimeSqueeze)
			}
		}
	}
	return dropped, squeezed
}

// tcpExt are TCP's counters that moved.
func (m *meter) tcpExt() map[string]uint64 {
	moved := make(map[string]uint64)
	for name, b := range m.newest.tcpExt {
		if a, ok := m.first.tcpExt[name]; ok && b > a {
			moved[name] = uint64(b - a)
		}
	}
	const wrong = "InCsumErrors" // of TCP, by the name that nstat(8) gives it
	if a, ok := m.first.snmp["Tcp"][wrong]; ok && m.newest.snmp["Tcp"][wrong] > a {
		moved["Tcp"+wrong] = uint64(m.newest.snmp["Tcp"][wrong] - a)
	}
	return moved
}

// leastApart is how many packets a second of what is not looked at are worth
// a line: names and clocks that are asked for stay below it.
const leastApart = 50

// apart says what else went by, which is in the links' counters and in no
// connection: UDP (QUIC, WireGuard, NFS of old), and what the host forwards.
func apart(a, b map[string]map[string]int64, span time.Duration) (lines []string) {
	if span <= 0 {
		return nil
	}
	grown := func(group, name string) float64 {
		was, ok := a[group][name]
		now := b[group][name]
		if !ok || now < was {
			return 0
		}
		return float64(now-was) / span.Seconds()
	}
	if out, in := grown("Udp", "OutDatagrams"), grown("Udp", "InDatagrams"); out+in >= leastApart {
		lines = append(lines, fmt.Sprintf("UDP: %.0f datagrams a second out and %.0f in are in the links' counts; whose they are, and what limits them, UDP does not tell", out, in))
	}
	if n := grown("Ip", "ForwDatagrams"); n >= leastApart {
		lines = append(lines, fmt.Sprintf("forwarded: %.0f packets a second of other hosts, containers or machines inside this one are in the links' counts; their connections are seen in their own network namespace", n))
	}
	return lines
}
