package predict

import (
	"fmt"
	"slices"
	"strings"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict/framing"
	"github.com/linerate/linerate/predict/vhost"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// A core's time goes to bytes (the copy between program and kernel) and to
// packets (sockets, IP, TCP, queues, the driver). Where the stack hands on up
// to 64 KiB at once (TSO or GSO when sending, GRO or LRO when receiving) a
// packet's cost is spread over some 44 segments of 1448 bytes and hardly
// counts; where nothing joins packets, each pays it. CPU.StreamRate was
// measured where packets are joined, CPU.PacketRate where none are, so that
//
//	time of a full packet = payload / StreamRate + 1 / PacketRate
//
// is the most that it costs a core: PacketRate's single datagrams hold a
// system call each and a socket's wake-up, which a stream's segments do not.

// coreEnd is one host of a way and what its cores do there.
type coreEnd struct {
	host  netstate.Host
	cause record.Cause
	side  *side
	// receives: one core runs the program and the copy, another may run the
	// software interrupts, with all that the kernel does before the copy.
	receives bool
}

// ends are the two hosts of a way.
func (w *way) ends() [2]coreEnd {
	return [2]coreEnd{
		{host: w.sender, cause: record.SenderCPU, side: &w.out},
		{host: w.receiver, cause: record.ReceiverCPU, side: &w.in, receives: true},
	}
}

// joining says whether a host's links join packets.
type joining uint8

const (
	joinsUnknown joining = iota
	joinsAll             // every link is known to
	joinsNone            // a link is known not to
)

// joins judges the offloads of the end's ports. One port without them decides:
// a stream may be on it.
func (e coreEnd) joins() joining {
	verdict, ports := joinsAll, 0
	for _, a := range e.side.at {
		for _, p := range a.ports {
			ports++
			switch e.joinsOn(p) {
			case joinsNone:
				return joinsNone
			case joinsUnknown:
				verdict = joinsUnknown
			}
		}
	}
	if ports == 0 {
		return joinsUnknown
	}
	return verdict
}

// joinsOn is one port's: when sending, TSO has the card cut segments; GSO alone
// has the kernel do it below the queues, which lies between the two.
func (e coreEnd) joinsOn(l netstate.Link) joining {
	tell := func(names ...string) (on, known bool) {
		known = true
		for _, name := range names {
			v, told := l.Offloads[name]
			on, known = on || v, known && told
		}
		return on, known
	}
	if e.receives {
		switch on, known := tell("gro", "lro"); {
		case on:
			return joinsAll
		case known:
			return joinsNone
		}
		return joinsUnknown
	}
	if l.Offloads["tso"] {
		return joinsAll
	}
	if on, known := tell("tso", "gso"); known && !on {
		return joinsNone
	}
	return joinsUnknown
}

// oneByOne is what one core moves of packets with that payload, each handled by
// itself; zero where either rate is unknown.
func oneByOne(c netstate.CPU, payload int) unit.BitRate {
	if !sensible(float64(c.StreamRate)) || !sensible(c.PacketRate) || payload <= 0 {
		return 0
	}
	bits := float64(payload) * 8
	return unit.BitRate(bits / (bits/float64(c.StreamRate) + 1/c.PacketRate))
}

// mostSensible is far above what a core does, of bits or packets, and far below
// where arithmetic ends.
const mostSensible = 1e15

// sensible: a file may say anything.
func sensible(rate float64) bool { return rate > 0 && rate <= mostSensible }

// coreRate is what the end moves of one stream, and the arithmetic; false where
// it was not calibrated.
func (w *way) coreRate(e coreEnd) (estimate, string, bool) {
	c := e.host.CPU
	if !sensible(float64(c.StreamRate)) {
		return estimate{}, "", false
	}
	whole := estimate{rate: c.StreamRate}
	why := fmt.Sprintf("one core moves %s of one stream", c.StreamRate)
	payload := w.smallest()
	low := oneByOne(c, payload)
	joins := e.joins()
	if low == 0 {
		if joins == joinsNone {
			why += ", where packets are joined; its links join none, and what one costs is not known"
		}
		return whole, why, true
	}
	each := fmt.Sprintf("%s where each packet of %d bytes goes alone (%.0f a second)", low, payload, c.PacketRate)
	if framing.IsTCP(w.traffic.protocol()) && joins == joinsNone {
		why = "the links join no packets: " + each
		one := estimate{rate: low}
		if e.receives {
			// Bytes and packets on two cores: the slower of them binds.
			one.low, one.high = low, min(c.StreamRate, unit.BitRate(c.PacketRate*float64(payload)*8))
			one.open = e.host.Name + "'s program and its software interrupts may share a core or have one each"
		}
		return one, why, true
	}
	whole.low, whole.high = low, c.StreamRate
	switch {
	case !framing.IsTCP(w.traffic.protocol()):
		whole.open = "whether the program hands datagrams on singly or many at once is its own matter"
	case joins == joinsUnknown:
		whole.open = fmt.Sprintf("whether %s's links join packets (TSO, GRO) is not known", e.host.Name)
	default:
		whole.open = fmt.Sprintf("%s's core was measured without a card: what a driver spends on each packet is open", e.host.Name)
	}
	return whole, why + ", " + each, true
}

// smallest is the payload of a full packet on the leg where it is smallest.
func (w *way) smallest() int {
	payload := 0
	for _, l := range w.legs {
		if p := w.segment(l).Payload(); payload == 0 || p < payload {
			payload = p
		}
	}
	return payload
}

// coreLimits are what one core moves of one stream, where it was calibrated.
func (w *way) coreLimits() []streamLimit {
	var all []streamLimit
	for _, end := range w.ends() {
		if each, why, ok := w.coreRate(end); ok {
			all = append(all, streamLimit{cause: end.cause, where: end.host.Name, each: each, why: why})
		}
	}
	return all
}

// allCores are what all of a host's cores move together, less what they move
// the other way at the same time. Streams that are received need a core for
// software interrupts beside the program's; how much of one was not
// calibrated, and it is no more than the program's, or that would be the
// busier one: so it is between all of the cores and half of them. A guest's queues are
// shared alike.
func (w *way) allCores() []sharedLimit {
	_, all, _ := w.guestQueues()
	if other := w.traffic.opposite; other > 0 {
		for i := range all {
			all[i].total = all[i].total.beside(other)
			all[i].what += fmt.Sprintf(", and up to %s the other way", other)
		}
	}
	for _, end := range w.ends() {
		each, _, ok := w.coreRate(end)
		cores := min(float64(end.host.CPU.Cores), mostSensible)
		if !ok || cores <= 0 {
			continue
		}
		s := sharedLimit{cause: end.cause, where: end.host.Name, payload: true, roles: true, total: each.times(cores),
			what: fmt.Sprintf("%d cores that move %s each", end.host.CPU.Cores, each.rate)}
		if end.receives {
			s.total.low, s.total.high = s.total.at(lowest)/2, s.total.at(highest)
			s.total.open = joined(each.open, end.host.Name+"'s cores also run the software interrupts of what it receives")
		}
		if other := w.traffic.opposite; other > 0 {
			s.total = s.total.beside(other)
			s.what += fmt.Sprintf(", and up to %s the other way", other)
		}
		all = append(all, s)
	}
	return all
}

// beside is what is left of a capacity beside other traffic: as much as that
// leaves, and half of it when both want more.
func (e estimate) beside(other unit.BitRate) estimate {
	left := func(r unit.BitRate) unit.BitRate {
		if r <= 0 {
			return 0
		}
		return max(r/2, r-other)
	}
	return estimate{rate: left(e.rate), low: left(e.low), high: left(e.high), open: e.open}
}

// besideOpposite predicts each of two ways again that run at the same time on
// cores whose number and rate are known: the cores do both. What the links
// carry each way does not change.
func besideOpposite(f Fabric, t Traffic, fwd, rev Prediction) (Prediction, Prediction, error) {
	known := func(name string) bool {
		h := f.Hosts[name]
		return h.CPU.Cores > 0 && sensible(float64(h.CPU.StreamRate)) || vhost.Known(h.Links)
	}
	if !known(t.From) && !known(t.To) {
		return fwd, rev, nil
	}
	again := func(p, other Prediction) (Prediction, error) {
		one := t.bothWays(p.Direction)
		one.opposite = other.Rate
		return Predict(f, one)
	}
	forward, err := again(fwd, rev)
	if err != nil {
		return fwd, rev, err
	}
	reverse, err := again(rev, fwd)
	if err != nil {
		return fwd, rev, err
	}
	return forward, reverse, nil
}

// rangeOfBoth settles the range of both ways together: what each may be alone,
// in sum, and no more than the cores that do both. How they divide it is as
// uncertain as each, but the sum is not.
func rangeOfBoth(f Fabric, t Traffic, fwd, rev Prediction, p *Prediction) error {
	low := sumEither(fwd, rev, func(p Prediction) unit.BitRate { return p.RateLow })
	high := sumEither(fwd, rev, func(p Prediction) unit.BitRate { return p.RateHigh })
	if low == 0 {
		low = fwd.Rate + rev.Rate
	}
	if high == 0 {
		high = fwd.Rate + rev.Rate
	}
	most := make(map[string]unit.BitRate)
	for _, d := range flow.Both.Ways() {
		w, err := newWay(f, t.bothWays(d), d)
		if err != nil {
			return err
		}
		for _, s := range w.allCores() {
			if at := s.total.at(lowest); at < low {
				low = at
				if s.total.open != "" && !strings.Contains(p.RangeWhy, s.total.open) {
					p.RangeWhy = strings.TrimPrefix(p.RangeWhy+"; "+s.total.open, "; ")
				}
			}
			most[s.where] = max(most[s.where], s.total.at(highest))
		}
	}
	for _, m := range most {
		high = min(high, m)
	}
	p.RateLow, p.RateHigh = min(low, p.Rate), max(high, p.Rate)
	if p.RateLow >= p.Rate*(1-Differs) && p.RateHigh <= p.Rate*(1+Differs) {
		p.RateLow, p.RateHigh, p.RangeWhy = 0, 0, ""
	}
	return nil
}

// forRole names a limit of cores, which both roles share, by what the host does
// in one way of traffic.
func forRole(way Prediction, l Limit) Limit {
	receiver := way.To
	if way.Direction == flow.Reverse {
		receiver = way.From
	}
	if l.Cause == record.SenderCPU && l.Where == receiver {
		l.Cause = record.ReceiverCPU
	}
	return l
}

// coreUnknown is the one entry of the ladder for hosts whose cores nobody
// calibrated; none where both are.
func (w *way) coreUnknown() []Limit {
	var names []string
	for _, end := range w.ends() {
		if !sensible(float64(end.host.CPU.StreamRate)) && !slices.Contains(names, end.host.Name) {
			names = append(names, end.host.Name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	slices.Sort(names)
	return []Limit{{Cause: record.Unknown, Where: strings.Join(names, ", "),
		Why: "CPU speed per core is unknown: `linerate inspect --calibrate` measures it"}}
}
