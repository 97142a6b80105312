package fabric

import (
	"fmt"

	"github.com/linerate/linerate/fabric/yamldoc"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/unit"
)

// Prices are what links cost apart from cards, in any currency.
type Prices struct {
	Currency   string // "" unknown: amounts stand alone
	SwitchPort float64
	Cable      float64
}

// CardModel is a card that could be bought.
type CardModel struct {
	Name  string
	Price float64
	Ports int
	Speed unit.BitRate // of each port
	// Slot is how it would run in the hosts' slots; generation and lanes are
	// zero where nobody said.
	Slot netstate.Card
}

// maxModelPorts is more ports than a card has.
const maxModelPorts = 16

var pricesKeys = object[Prices]{
	name: "prices", doc: "What links cost apart from cards.",
	keys: []key[Prices]{
		{"currency", "the currency of every price, such as USD", one(currency, func(p *Prices) *string { return &p.Currency })},
		{"switch_port", "one port of a switch", one(amount, func(p *Prices) *float64 { return &p.SwitchPort })},
		{"cable", "one cable", one(amount, func(p *Prices) *float64 { return &p.Cable })},
	},
	alias: map[string]string{"port": "switch_port", "switch": "switch_port", "cables": "cable"},
}

func readPrices(d *decoder, at place, n *yamldoc.Node, into *Fabric) {
	into.Prices = &Prices{}
	pricesKeys.decode(d, at, n, into.Prices)
}

// currency is short enough for the head of a column.
var currency = scalar[string]{
	schema: pattern(`^[^\s]{1,8}$`),
	parse: func(s string) (string, error) {
		if len(s) > 8 || BadName(s) != "" {
			return "", fmt.Errorf("%q is no currency", s)
		}
		return s, nil
	},
	hint: "write a code such as USD",
}

var modelKeys = object[CardModel]{
	name: "card_model", doc: "A card that could be bought.",
	keys: []key[CardModel]{
		{"price", "what one costs", one(amount, func(m *CardModel) *float64 { return &m.Price })},
		{"ports", "ports on it", one(integer(1, maxModelPorts), func(m *CardModel) *int { return &m.Ports })},
		{"speed", "line rate of a port, each direction", one(rate, func(m *CardModel) *unit.BitRate { return &m.Speed })},
		{"pcie", "the slot it would run in", sub(pcieKeys, func(m *CardModel) *netstate.Card { return &m.Slot })},
	},
	required: []string{"price", "ports", "speed"},
	finish: func(d *decoder, at place, n *yamldoc.Node, m *CardModel) {
		if speed := n.Get("speed"); speed != nil && speed.Text == "0" && m.Speed == 0 {
			d.wrong(at.key("speed"), speed, "a port of no speed carries nothing", rate.hint)
		}
	},
}

var catalogReader = reader[Fabric]{
	schema: named("card", modelKeys, func(*Fabric, string) *CardModel { return new(CardModel) }).schema,
	read: func(d *decoder, at place, n *yamldoc.Node, into *Fabric) {
		var models []*CardModel
		named("card", modelKeys, func(_ *Fabric, name string) *CardModel {
			m := &CardModel{Name: name}
			models = append(models, m)
			return m
		}).read(d, at, n, into)
		for _, m := range models {
			m.Slot.Name = m.Name
			into.Catalog = append(into.Catalog, *m)
		}
	},
}
