package measure

import (
	"fmt"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// ceilingOf is what a direction of the trial must not exceed, and the MTU
// behind it. Where predict does not know the trial's own lanes, as those to a
// listener, the pair's count.
func (t *trial) ceilingOf(d flow.Direction) (unit.BitRate, int, error) {
	traffic := t.traffic(d)
	ceiling, mtu, err := predict.CeilingOf(t.cfg.Network.Fabric, traffic, t.spec.CeilingMTU)
	if err != nil && traffic.Lanes != nil {
		traffic.Lanes = nil
		return predict.CeilingOf(t.cfg.Network.Fabric, traffic, t.spec.CeilingMTU)
	}
	return ceiling, mtu, err
}

// tcpTimestamps is what timestamps take of a segment's MSS (RFC 7323).
const tcpTimestamps = 12

// packet is the payload of one packet of a way where the trial was asked for
// less than full ones; zero is full.
func (t *trial) packet(w way) int {
	if t.spec.protocol() == protocolUDP {
		return t.spec.datagrams().Payload
	}
	if t.spec.Socket.MSS <= 0 {
		return 0
	}
	segment := 0
	for _, e := range t.ends {
		if !e.sending || e.way.name != w.name {
			continue
		}
		_, shut := e.edges()
		for i := range shut.TCP {
			segment = max(segment, shut.TCP[i].Last.SndMSS)
		}
	}
	if segment > 0 && t.spec.protocol() == protocolTCP {
		return segment
	}
	return max(t.spec.Socket.MSS-tcpTimestamps, 1) // an MPTCP connection has no MSS of its own
}

// backlogTold is the share of goodput from which what had arrived before the
// window is said.
const backlogTold = 0.0005

// backlogNotes says of a goodput above its ceiling that part of it had arrived
// before the window: goodput is what the application took in, and it took in
// what waited too.
func backlogNotes(t record.Trial) []string {
	backlog := -t.Unread
	if t.Ceiling <= 0 || t.Goodput <= t.Ceiling || backlog < t.Goodput*backlogTold {
		return nil
	}
	return []string{fmt.Sprintf("%.1f %% of the goodput had arrived before the window and waited in the receivers' buffers: the links carried %v of the ceiling's %v in the window",
		100*float64(backlog/t.Goodput), t.Goodput-backlog, t.Ceiling)}
}
