package purchase

import (
	"errors"
	"fmt"
	"net/netip"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict"
)

// port is one port of a design's end.
type port struct {
	name, card string
	sw         int // the switch it is cabled to
}

// portsOf lists an end's ports, cards in order, dealt to the switches in turn.
func (b *builder) portsOf(d Design, end int) (ports []port, cards []netstate.Card) {
	for _, c := range d.Ends[end].Cards {
		for i := range c.Count {
			card := b.slotOf(end, c)
			card.Name = c.Model
			if c.Count > 1 {
				card.Name = fmt.Sprintf("%s-%d", c.Model, i+1)
			}
			if c.Kept {
				card.Name += " (kept)"
			}
			cards = append(cards, card)
			for range c.Used {
				n := len(ports)
				ports = append(ports, port{name: fmt.Sprintf("port%d", n+1), card: card.Name, sw: n % max(b.switches, 1)})
			}
		}
	}
	return ports, cards
}

func (b *builder) slotOf(end int, c Cards) netstate.Card {
	if c.Kept {
		for _, k := range b.kept[end] {
			if k.card.Name == c.Model {
				return k.card
			}
		}
	}
	for _, m := range b.models {
		if m.Name == c.Model {
			return m.Slot
		}
	}
	return netstate.Card{}
}

// failed tells which ports of an end carry nothing; nil is none.
type failed func(end int, p port) bool

// made is the fabric of a design used in one way, less what failed; false
// when an end has no port left.
func (b *builder) made(d Design, how string, gone failed) (predict.Fabric, bool) {
	f := predict.Fabric{Hosts: map[string]netstate.Host{}}
	for end := range d.Ends {
		h := b.hosts[end].Clone()
		h.Links, h.Routes, h.Rules = nil, nil, nil
		all, cards := b.portsOf(d, end)
		h.Cards = cards
		var names []string
		for i, p := range all {
			if gone != nil && gone(end, p) {
				continue
			}
			l := netstate.Link{Name: p.name, Up: true, Carrier: true, MTU: b.mtu, Speed: d.Speed, Card: p.card}
			switch how {
			case UseLanes, UseOneLink:
				l = b.address(l, i, end)
			default:
				l.Master = "bond0"
				l.Port = &netstate.BondPort{Bond: "bond0", MIIUp: true, Active: true}
			}
			names = append(names, p.name)
			h.SetLink(l)
		}
		if len(names) == 0 {
			return f, false
		}
		if how == UseBond || how == UseStripes {
			bond := netstate.Bond{Mode: netstate.LACP, HashPolicy: netstate.Layer34, Ports: names}
			if how == UseStripes {
				bond.Mode = netstate.BalanceRR
			}
			h.SetLink(b.address(netstate.Link{Name: "bond0", Kind: "bond", Up: true, Carrier: true, MTU: b.mtu, Bond: &bond}, 0, end))
		}
		f.Hosts[h.Name] = h
	}
	path := b.path
	path.Learned = nil // of the switch that is there
	if how == UseStripes {
		path.SwitchHash = "" // what a switch does with stripes is its own affair
	}
	f.Paths = append(f.Paths, path)
	return f, true
}

// address gives a link an address in the n-th subnet (RFC 5737 and 3849 leave
// room for examples; nothing is sent to them).
func (b *builder) address(l netstate.Link, n, end int) netstate.Link {
	p := netip.PrefixFrom(netip.AddrFrom4([4]byte{198, 18, byte(n), byte(end + 1)}), 24)
	if b.path.Family == "ipv6" {
		p = netip.PrefixFrom(netip.AddrFrom16([16]byte{0x20, 0x01, 0x0d, 0xb8, 7: byte(n), 15: byte(end + 1)}), 64)
	}
	l.Addresses = []netip.Prefix{p}
	return l
}

// predicted is the lower of both directions: a design has to carry its rate
// each way. What nothing bounds is zero.
func (b *builder) predicted(f predict.Fabric, streams int, chosenOnly bool) (predict.Prediction, error) {
	var worst predict.Prediction
	for _, way := range flow.Both.Ways() {
		sent := predict.Between(b.path.From, b.path.To, way, streams)
		sent.ChosenOnly = chosenOnly
		p, err := predict.Predict(f, sent)
		if errors.Is(err, predict.ErrNoLane) || errors.Is(err, predict.ErrNoLink) {
			return predict.Prediction{}, nil
		}
		if err != nil {
			return predict.Prediction{}, fmt.Errorf("predict a design: %w", err)
		}
		if worst.Rate == 0 || p.Rate < worst.Rate {
			worst = p
		}
	}
	return worst, nil
}
