package purchase

import (
	"fmt"
	"slices"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/predict/framing"
	"github.com/linerate/linerate/unit"
)

// builder knows the two hosts, what can be bought and what it costs.
type builder struct {
	path     fabric.Path
	want     unit.BitRate
	prices   fabric.Prices
	switches int
	mtu      int
	hosts    [2]netstate.Host
	free     [2]int    // cards that can be added
	kept     [2][]kept // cards that stay
	models   []fabric.CardModel
	notes    []string
}

// kept is a card that stays, with ports of one speed.
type kept struct {
	card  netstate.Card
	ports int
	speed unit.BitRate
}

func newBuilder(f fabric.Fabric, path fabric.Path, want unit.BitRate) (*builder, error) {
	b := &builder{path: path, want: want, switches: 1, models: f.Catalog}
	b.path.Directed = false
	if f.Prices != nil {
		b.prices = *f.Prices
	}
	if f.Switches != nil {
		b.switches = *f.Switches
	}
	for i, name := range []string{path.From, path.To} {
		declared, ok := f.Host(name)
		if !ok {
			return nil, fmt.Errorf("design links of %q: %w", name, ErrUnknownHost)
		}
		state, err := f.State(name)
		if err != nil {
			return nil, fmt.Errorf("design links: %w", err)
		}
		b.hosts[i] = state
		b.free[i] = maxCards
		if n := declared.Hardware.FreeSlots; n > 0 {
			b.free[i] = n
		}
		b.readCards(i, state)
	}
	if len(b.models) == 0 {
		return nil, fmt.Errorf("design links between %s and %s: %w", path.From, path.To, ErrNoPrices)
	}
	b.settleMTU(f)
	b.assume()
	return b, nil
}

func (b *builder) currency() string { return b.prices.Currency }

// readCards takes a host's cards: those to keep, and those with a price as
// models that could be bought again, unless a catalog says what can.
func (b *builder) readCards(end int, h netstate.Host) {
	for _, c := range h.Cards {
		k := kept{card: c}
		for _, l := range h.Links {
			if l.Card == c.Name && (k.speed == 0 || l.Speed == k.speed) {
				k.ports, k.speed = k.ports+1, l.Speed
			}
		}
		switch {
		case c.Keep && (k.ports == 0 || k.speed == 0):
			b.notes = append(b.notes, fmt.Sprintf("%s: card %s is kept, but no link of a known speed is on it: not used", h.Name, c.Name))
		case c.Keep:
			b.kept[end] = append(b.kept[end], k)
		case c.Price > 0 && k.ports > 0 && k.speed > 0 && !b.sold(c.Name):
			b.models = append(b.models, fabric.CardModel{Name: c.Name, Price: c.Price, Ports: k.ports, Speed: k.speed, Slot: c})
		}
	}
}

func (b *builder) sold(name string) bool {
	return slices.ContainsFunc(b.models, func(m fabric.CardModel) bool { return m.Name == name })
}

// settleMTU takes the MTU of the links between the hosts as they are; where
// there are none, the largest that both hosts have.
func (b *builder) settleMTU(f fabric.Fabric) {
	b.mtu = framing.DefaultMTU
	pair := predict.Fabric{Hosts: map[string]netstate.Host{b.path.From: b.hosts[0], b.path.To: b.hosts[1]}, Paths: f.Paths}
	lanes, err := predict.Lanes(pair, b.path.From, b.path.To, b.path.Family)
	if err == nil && len(lanes) > 0 {
		out, _ := b.hosts[0].LinkWith(lanes[0].Src)
		in, _ := b.hosts[1].LinkWith(lanes[0].Dst)
		if m := min(out.MTU, in.MTU); m > 0 {
			b.mtu = m
			return
		}
	}
	smallest := 0
	for _, h := range b.hosts {
		largest := 0
		for _, l := range h.Links {
			largest = max(largest, l.MTU)
		}
		if largest > 0 && (smallest == 0 || largest < smallest) {
			smallest = largest
		}
	}
	if smallest > 0 {
		b.mtu = smallest
	}
	b.notes = append(b.notes, fmt.Sprintf("MTU %d: the file gives the hosts no links to each other", b.mtu))
}

// assume says what stands in for what the file leaves out.
func (b *builder) assume() {
	if b.path.SwitchHash == "" || b.path.SwitchHash == "unknown" {
		b.path.SwitchHash = netstate.Layer34.String()
		if b.switches > 0 {
			b.notes = append(b.notes, "the switch is taken to spread flows by layer3+4, as one bought for this can (switch_hash)")
		}
	}
	for _, m := range b.models {
		if m.Slot.Generation == 0 || m.Slot.Lanes == 0 {
			b.notes = append(b.notes, fmt.Sprintf("%s: its slot is not known (pcie: generation, lanes), so nothing but its ports limits it", m.Name))
		}
	}
	if b.switches == 2 {
		b.notes = append(b.notes, "links go to the two switches in turn; a bond over both needs MLAG on them")
	}
}

// line is a kind of design that grows by one card an end: so many ports of a
// model in use beside what is kept.
type line struct {
	model fabric.CardModel
	used  int     // ports in use on each new card
	keeps [2]bool // ends whose kept cards are used
}

// series are all lines, those of kept cards alone first.
func (b *builder) series() []line {
	choices := [2][]bool{{false}, {false}}
	for i := range choices {
		if len(b.kept[i]) > 0 {
			choices[i] = []bool{false, true}
		}
	}
	var all []line
	for _, first := range choices[0] {
		for _, second := range choices[1] {
			if first && second {
				all = append(all, line{keeps: [2]bool{true, true}})
			}
			for _, m := range b.models {
				for used := 1; used <= m.Ports; used++ {
					all = append(all, line{model: m, used: used, keeps: [2]bool{first, second}})
				}
			}
		}
	}
	return all
}

// keptPorts is how many links an end's kept cards give; false when they are of
// another speed than the new ones, which one bond does not join.
func (b *builder) keptPorts(l line, end int) (ports int, speed unit.BitRate, ok bool) {
	speed = l.model.Speed
	if !l.keeps[end] {
		return 0, speed, true
	}
	for _, k := range b.kept[end] {
		if speed == 0 {
			speed = k.speed
		}
		if k.speed != speed {
			return 0, 0, false
		}
		ports += k.ports
	}
	return ports, speed, true
}

// design is the line's design with n new cards at the first end, and as many
// as that needs at the second; false when the ends can't match.
func (b *builder) design(l line, n int) (Design, bool) {
	first, speed, ok1 := b.keptPorts(l, 0)
	second, other, ok2 := b.keptPorts(l, 1)
	links := first + n*l.used
	if !ok1 || !ok2 || speed != other || links == 0 || links > maxLinks || links < second {
		return Design{}, false
	}
	count := [2]int{n, 0}
	if l.used > 0 {
		count[1] = (links - second) / l.used
	}
	if second+count[1]*l.used != links || count[0] > b.free[0] || count[1] > b.free[1] {
		return Design{}, false
	}
	if l.used > 0 && count == [2]int{} {
		return Design{}, false // that is the line of kept cards alone
	}
	d := Design{From: b.path.From, To: b.path.To, Links: links, Speed: speed}
	for i := range d.Ends {
		d.Ends[i] = End{Host: b.hosts[i].Name, Cards: []Cards{}}
		if l.keeps[i] {
			for _, k := range b.kept[i] {
				d.Ends[i].Cards = append(d.Ends[i].Cards, Cards{Model: k.card.Name, Count: 1, Used: k.ports, Kept: true})
			}
		}
		if count[i] > 0 {
			d.Ends[i].Cards = append(d.Ends[i].Cards, Cards{Model: l.model.Name, Count: count[i], Used: l.used, Price: l.model.Price})
		}
	}
	d.Cost = b.cost(d)
	return d, true
}

// cost is what has to be bought: new cards, and for their ports a switch's
// port and a cable each; hosts cabled to each other share cables and need no
// switch.
func (b *builder) cost(d Design) float64 {
	var cards float64
	var ports [2]int
	for i, e := range d.Ends {
		for _, c := range e.Cards {
			if !c.Kept {
				cards += float64(c.Count) * c.Price
				ports[i] += c.Count * c.Used
			}
		}
	}
	if b.switches == 0 {
		return cards + float64(max(ports[0], ports[1]))*b.prices.Cable
	}
	return cards + float64(ports[0]+ports[1])*(b.prices.Cable+b.prices.SwitchPort)
}

// grow adds cards to a line until it reaches the rate, and one more for what
// it leaves when something fails. Found are those that reach it or nearly do,
// most is the fastest of all.
func (b *builder) grow(l line) (found []Design, most Design, err error) {
	more, last := 1, b.free[0]
	if l.used == 0 {
		last = 0
	}
	for n := 0; n <= last && more >= 0; n++ {
		d, ok := b.design(l, n)
		if !ok {
			continue
		}
		if err := b.rate(&d); err != nil {
			return nil, most, err
		}
		if d.Rate > most.Rate {
			most = d
		}
		if d.Rate >= b.want*NearMiss {
			found = append(found, d)
		}
		if d.Reaches {
			more--
		}
	}
	return found, most, nil
}
