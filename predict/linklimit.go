package predict

import (
	"fmt"
	"slices"
	"strings"

	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict/framing"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/steer/system"
	"github.com/linerate/linerate/unit"
)

// usage is how a plan uses one side's ports.
type usage struct {
	side     *side
	transmit bool
	host     string
	ports    []portUse
	streams  int // the most flows that share one attachment
	lanes    int
	chance   bool // luck decides which ports carry traffic
	striped  bool
}

// portUse is one port: the chance that it carries a flow and its payload.
type portUse struct {
	at, port    int
	probability float64
	payload     unit.BitRate
	// atMost: its speed is unknown, and it carries no more than that because
	// what is striped goes no faster than another port.
	atMost bool
}

func (w *way) usage(p plan, transmit bool) usage {
	s, end := &w.in, legIn
	host := w.receiver.Name
	if transmit {
		s, end, host = &w.out, legOut, w.sender.Name
	}
	u := usage{side: s, transmit: transmit, host: host, lanes: len(w.legs)}
	for i, a := range s.at {
		used := p.used(len(a.ports), func(c planned) (int, bool) {
			at, _ := end(w.legs[c.leg])
			if transmit {
				return c.out, at == i
			}
			return c.in, at == i
		})
		for n, probability := range used {
			payload := w.portPayload(a, i, n, end)
			if transmit {
				payload *= unit.BitRate(w.arriving())
			}
			u.ports = append(u.ports, portUse{at: i, port: n, probability: probability, payload: payload})
			u.chance = u.chance || probability > 1e-9 && probability < 1-1e-9
		}
		if len(a.ports) > 1 && s.uses[i].spread == byPacket {
			u.striped = true
			u.stripe(i)
		}
	}
	flows := make([]int, len(s.at))
	for i := range w.flows() {
		at, _ := end(w.legs[i%len(w.legs)])
		flows[at]++
		u.streams = max(u.streams, flows[at])
	}
	return u
}

// stripe gives ports of unknown speed the least of those that are known.
func (u usage) stripe(at int) {
	var least unit.BitRate
	for _, p := range u.ports {
		if p.at == at && p.payload > 0 && (least == 0 || p.payload < least) {
			least = p.payload
		}
	}
	for i, p := range u.ports {
		if p.at == at && p.payload == 0 && least > 0 {
			u.ports[i].payload, u.ports[i].atMost = least, true
		}
	}
}

// sum is the mean payload of the ports in use, their mean number, and what
// all usable ports carry. A striped flow goes no faster than its slowest
// port allows.
func (u usage) sum() (rate unit.BitRate, count float64, all unit.BitRate) {
	for _, p := range u.ports {
		payload := p.payload
		if u.side.uses[p.at].spread == byPacket {
			for _, q := range u.ports {
				if q.at == p.at {
					payload = min(payload, q.payload)
				}
			}
		}
		rate += payload * unit.BitRate(p.probability)
		count += p.probability
		all += p.payload
	}
	return rate, count, all
}

// linkLimit is what the ports that one side uses carry together. Low is set
// where the rate hangs on a switch that nobody described.
func (w *way) linkLimit(p plan, transmit bool, low unit.BitRate) Limit {
	u := w.usage(p, transmit)
	l := Limit{Where: u.where()}
	if name := u.unknownPort(); name != "" {
		l.Cause, l.Why = record.Unknown, fmt.Sprintf("the speed of %s is unknown: set hardware.links.%s.speed", name, name)
		return l
	}
	rate, count, all := u.sum()
	l.Rate = rate
	l.Cause = w.linkCause(u, rate, count, all)
	l.Why = w.linkWhy(u, l.Cause, rate, count)
	if low > 0 && slices.ContainsFunc(u.side.uses, func(u use) bool { return u.spread == notKnown }) {
		l.Why += fmt.Sprintf("; taken to spread as evenly as it can: %s in all if every flow lands on one", low)
	}
	return l
}

func (u usage) unknownPort() string {
	for _, p := range u.ports {
		a := u.side.at[p.at]
		if p.probability > 0 && a.caps[p.port].Rate == 0 && !p.atMost {
			return a.ports[p.port].Name
		}
	}
	return ""
}

// imbalance is the share of all links' rate below which chance is named as
// the cause.
const imbalance = 0.97

func (w *way) linkCause(u usage, rate unit.BitRate, count float64, all unit.BitRate) record.Cause {
	if u.chance && u.streams > 1 {
		if rate < all*imbalance {
			return record.HashImbalance
		}
		return w.atSpeed(u)
	}
	if count > float64(len(u.ports))-1e-9 {
		return w.atSpeed(u)
	}
	if u.lanes > 1 && w.traffic.Streams > 1 && u.collided() {
		return record.HashImbalance
	}
	return record.SingleLink
}

// collided reports lanes that could use several ports of an attachment, but
// hash to fewer than they are.
func (u usage) collided() bool {
	for i, s := range u.side.uses {
		if s.spread != byAddress || s.byVLAN {
			continue
		}
		ports := 0
		for _, p := range u.ports {
			if p.at == i && p.probability > 0 {
				ports++
			}
		}
		lanes := len(u.side.legs[i])
		if s.cards {
			lanes = u.side.cards[i]
		}
		if lanes > ports && ports < len(u.side.at[i].ports) {
			return true
		}
	}
	return false
}

// atSpeed is the cause where every usable port runs at its rate: what keeps
// more from being usable, a shaper on the ports, or nothing.
func (w *way) atSpeed(u usage) record.Cause {
	switch {
	case len(u.side.idle) > 0:
		return record.AsymmetricRoute
	case w.wantsOutside(u):
		return record.LACPDown
	case u.standby() > 0:
		return record.SingleLink
	case u.shaped():
		return record.Shaper
	}
	return record.LineRate
}

// leftIdle says which links carry nothing, why, and what gives them their own part.
func leftIdle(idle []attachment) string {
	var parts []string
	for _, a := range idle {
		parts = append(parts, fmt.Sprintf("traffic from %s's addresses leaves by another link: routes lead it there (`source_rules: [%s]` on %s gives it its own)", a.name(), a.name(), a.host.Name))
	}
	return strings.Join(parts, "; ")
}

// standby counts the ports that an active-backup bond keeps idle.
func (u usage) standby() int {
	n := 0
	for _, a := range u.side.at {
		n += a.standby()
	}
	return n
}

// shaped: every port in use is held below its speed by its own root qdisc.
func (u usage) shaped() bool {
	return !slices.ContainsFunc(u.ports, func(p portUse) bool { return p.probability > 0 && !u.side.at[p.at].caps[p.port].Shaped })
}

// wantsOutside reports ports outside the active aggregator that this traffic
// would use if they were in it.
func (w *way) wantsOutside(u usage) bool {
	for i, a := range u.side.at {
		outside := a.outside()
		if outside == 0 {
			continue
		}
		usable := len(a.ports)
		whole := a.whole(outside)
		spread := whole.receiveUse(w.path, w.ipv6())
		if u.transmit {
			spread = whole.transmitUse()
		}
		switch spread.spread {
		case onePort:
		case byPacket:
			return true
		case byAddress:
			if len(u.side.legs[i]) > usable {
				return true
			}
		default:
			if u.streams > usable {
				return true
			}
		}
	}
	return false
}

// whole is the attachment as it were with that many more ports.
func (a attachment) whole(more int) attachment {
	b := *a.bundle
	b.Ports = append([]string(nil), a.base.Bond.Ports...)
	w := a
	w.bundle = &b
	w.own = system.Whole(a.host, a.base)
	w.ports = append(append([]netstate.Link(nil), a.ports...), make([]netstate.Link, more)...)
	return w
}

func (u usage) where() string {
	var names []string
	for _, a := range u.side.at {
		names = append(names, a.name())
	}
	return u.host + ": " + strings.Join(names, ", ")
}

// modeWord is the mode of an attachment that keeps links standing by.
func (a attachment) modeWord() string {
	if a.base.Bond == nil { // Open vSwitch's
		return netstate.ActiveBackup.String()
	}
	return a.base.Bond.ModeWord()
}

func (w *way) linkWhy(u usage, cause record.Cause, rate unit.BitRate, count float64) string {
	var parts []string
	for _, s := range u.side.uses {
		if s.why != "" && !slices.Contains(parts, s.why) {
			parts = append(parts, s.why)
		}
	}
	if n := len(u.side.at); n > 1 && cause == record.SingleLink {
		parts = append(parts, fmt.Sprintf("%s in all over %d lanes of %d interfaces: each takes one",
			unit.Counted(w.traffic.Streams, "stream"), u.lanes, n))
	}
	switch cause {
	case record.SingleLink:
		for _, a := range u.side.at {
			if n := a.standby(); n > 0 {
				parts = append(parts, fmt.Sprintf("%s: %s uses one link at a time, %d more %s by", a.base.Name, a.modeWord(), n, map[bool]string{true: "stands", false: "stand"}[n == 1]))
			}
		}
	case record.LACPDown:
		for _, a := range u.side.at {
			if n := a.outside(); n > 0 {
				parts = append(parts, fmt.Sprintf("%d of %d ports of %s are outside the active aggregator and carry nothing", n, len(a.base.Bond.Ports), a.base.Name))
			}
		}
	case record.AsymmetricRoute:
		parts = append(parts, leftIdle(u.side.idle))
	case record.HashImbalance:
		if u.chance {
			parts = append(parts, "flows land by chance, and some share a link while others idle")
		}
	}
	parts = append(parts, w.arithmetic(u, rate, count))
	for _, s := range u.side.uses {
		if s.mend != "" && placement[cause] {
			parts = append(parts, "for more: "+s.mend)
		}
	}
	return strings.Join(parts, "; ")
}

// fullest is the segment behind a port's payload, and its tags.
func (u usage) fullest(w *way, p portUse) (best framing.Segment, tags int) {
	most := 0.0
	for _, n := range u.side.legs[p.at] {
		l := w.legs[n]
		_, t := legIn(l)
		if u.transmit {
			_, t = legOut(l)
		}
		if s := w.segment(l); u.side.at[p.at].caps[p.port].Share(s, t) > most {
			most, best, tags = u.side.at[p.at].caps[p.port].Share(s, t), s, t
		}
	}
	return best, tags
}

// arithmetic is "2 of 2 links x 500 Mbit/s x 1448/1514 = 956 Mbit/s".
func (w *way) arithmetic(u usage, rate unit.BitRate, count float64) string {
	of := unit.Counted(len(u.ports), "link")
	links := fmt.Sprintf("%.0f of %s", count, of)
	if u.chance {
		links = fmt.Sprintf("on average %.2f of %s", count, of)
	}
	first := u.ports[0]
	c := u.side.at[first.at].caps[first.port]
	for _, p := range u.ports {
		if p.atMost {
			return fmt.Sprintf("%s, each at most as fast as the slowest that is known (the speed of %s is unknown) = %s", links, u.side.at[p.at].ports[p.port].Name, rate)
		}
	}
	for _, p := range u.ports {
		if u.side.at[p.at].caps[p.port] != c || p.payload != first.payload {
			return fmt.Sprintf("%s of different rates, payload %s in all", links, rate)
		}
	}
	s, tags := u.fullest(w, first)
	held := ""
	if c.Shaped {
		held = " (a root qdisc)"
	}
	arrives := ""
	if a := w.arriving(); u.transmit && a < 1 {
		arrives = fmt.Sprintf(" x %.4g (arrives)", a)
	}
	return fmt.Sprintf("%s x %s%s x %d/%d (payload of a full frame)%s = %s",
		links, c.Rate, held, s.Payload(), s.Frame(c.Framing, c.CountedTags(tags)), arrives, rate)
}
