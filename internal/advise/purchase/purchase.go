// Package purchase says which cards to buy: the designs that carry a rate
// between two hosts, what each costs, what it carries for the money, and what
// is left when a link, a card or a switch fails. Pure: every rate comes from
// predict on a fabric made up for the design; it has no model of its own. Don't
// guess a price.
package purchase

import (
	"errors"
	"fmt"
	"slices"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// Errors that callers may act on.
var (
	// ErrNoPrices is a fabric without a card that could be bought.
	ErrNoPrices = errors.New("no card with a price")
	// ErrOutOfReach is a rate that no design reaches; the error's text says
	// what the most is.
	ErrOutOfReach = errors.New("out of reach")
	// ErrUnknownHost is a name that the fabric does not hold.
	ErrUnknownHost = errors.New("unknown host")
)

const (
	// NearMiss is the share of the wanted rate from which on a design that
	// falls short is listed beside those that reach it: people say 30 Gb/s and
	// mean three ports of 10, whose payload is 29.7.
	NearMiss = 0.9
	// maxCards is how many like cards a host is given where its free slots are
	// not known.
	maxCards = 8
	// maxLinks is how many links one bond gets: 802.3ad switches stop at 8 or
	// 16.
	maxLinks = 16
)

// Result is every design worth looking at, the cheapest first.
type Result struct {
	From     string       `json:"from"`
	To       string       `json:"to"`
	Want     unit.BitRate `json:"want_bps"`
	Currency string       `json:"currency,omitempty"`
	Switches int          `json:"switches"`
	MTU      int          `json:"mtu_bytes"`
	Designs  []Design     `json:"designs"`
	// Notes say what was assumed.
	Notes []string `json:"notes,omitempty"`
}

// Design is one way to connect the two hosts.
type Design struct {
	From   string `json:"from"`
	To     string `json:"to"`
	Number int    `json:"number"` // its place in the pair's list, from 1
	// Ends are the first host's cards and the second's.
	Ends  [2]End       `json:"ends"`
	Links int          `json:"links"`
	Speed unit.BitRate `json:"link_speed_bps"`
	// Rate is the payload of many streams in one direction, Low and High its
	// range where something is uncertain.
	Rate  unit.BitRate `json:"rate_bps"`
	Low   unit.BitRate `json:"rate_low_bps,omitempty"`
	High  unit.BitRate `json:"rate_high_bps,omitempty"`
	Limit record.Cause `json:"limit"`
	// Reaches: Rate is the wanted rate or more.
	Reaches bool    `json:"reaches"`
	Cost    float64 `json:"cost"`
	// ForMoney is Rate for each 1,000 units of money; zero when it is free.
	ForMoney unit.BitRate `json:"rate_bps_per_1000"`
	Uses     []Use        `json:"uses"`
	Left     Left         `json:"left"`
	// WorseThan is the number of a design that is in nothing worse and in
	// something better; zero none. Why says in what.
	WorseThan int    `json:"worse_than,omitempty"`
	Why       string `json:"worse_why,omitempty"`
}

// End is one host's cards in a design.
type End struct {
	Host  string  `json:"host"`
	Cards []Cards `json:"cards"`
}

// Cards are like cards, each with that many of its ports in use.
type Cards struct {
	Model string `json:"model"`
	Count int    `json:"count"`
	Used  int    `json:"ports_used"`
	// Kept: it is there already.
	Kept  bool    `json:"kept,omitempty"`
	Price float64 `json:"price"` // of one; zero when kept
}

// Use is how traffic makes use of a design's links.
type Use struct {
	// How is UseOneLink, UseBond, UseStripes or UseLanes.
	How string `json:"how"`
	// Mode and Policy are the bond's; "" without one.
	Mode   string `json:"mode,omitempty"`
	Policy string `json:"policy,omitempty"`
	// Streams is the fewest that carry Rate, in one direction.
	Streams int          `json:"streams"`
	Rate    unit.BitRate `json:"rate_bps"`
	Low     unit.BitRate `json:"rate_low_bps,omitempty"`
	High    unit.BitRate `json:"rate_high_bps,omitempty"`
	// Kernel is the mean with ports that the kernel chooses; zero the same.
	Kernel unit.BitRate `json:"kernel_ports_bps,omitempty"`
	Limit  record.Cause `json:"limit"`
}

// The ways to use links.
const (
	UseOneLink = "one link"
	UseBond    = "bond"    // many streams, spread by their ports
	UseStripes = "stripes" // one stream over all links, packet by packet
	UseLanes   = "lanes"   // an address on each link
)

// Left is what many streams still carry when one thing fails, the worst of
// its kind.
type Left struct {
	Link   unit.BitRate `json:"link_bps"`
	Card   unit.BitRate `json:"card_bps"`
	Switch unit.BitRate `json:"switch_bps"`
}

// Designs lists the designs that carry a payload rate between a path's hosts
// in each direction, and those that nearly do. What the file says of the
// hosts' processors, settings and MTU holds for every design; their present
// links do not, except ports of cards that it says to keep. Errors:
// ErrUnknownHost, ErrNoPrices, ErrOutOfReach.
func Designs(f fabric.Fabric, path fabric.Path, want unit.BitRate) (Result, error) {
	b, err := newBuilder(f, path, want)
	if err != nil {
		return Result{}, err
	}
	r := Result{From: path.From, To: path.To, Want: want, Currency: b.currency(), Switches: b.switches, MTU: b.mtu, Notes: b.notes}
	var best Design
	for _, s := range b.series() {
		found, most, err := b.grow(s)
		if err != nil {
			return Result{}, err
		}
		r.Designs = append(r.Designs, found...)
		if most.Rate > best.Rate {
			best = most
		}
	}
	if !slices.ContainsFunc(r.Designs, func(d Design) bool { return d.Reaches }) {
		return Result{}, fmt.Errorf("reach %s between %s and %s: the most is %s, with %s (%s): %w",
			want, path.From, path.To, best.Rate, best, best.Limit, ErrOutOfReach)
	}
	for i := range r.Designs {
		if err := b.complete(&r.Designs[i]); err != nil {
			return Result{}, err
		}
	}
	rank(r.Designs)
	return r, nil
}

// String is a design's cards: "2 x540-t2 with 2 ports each".
func (d Design) String() string {
	a, b := d.Ends[0].String(), d.Ends[1].String()
	if a == b {
		return a
	}
	return fmt.Sprintf("%s: %s; %s: %s", d.Ends[0].Host, a, d.Ends[1].Host, b)
}

func (e End) String() string {
	text := ""
	for _, c := range e.Cards {
		if text != "" {
			text += " + "
		}
		text += c.String()
	}
	return text
}

func (c Cards) String() string {
	ports := "1 port"
	if c.Used > 1 {
		ports = fmt.Sprintf("%d ports", c.Used)
	}
	if c.Kept {
		return fmt.Sprintf("%s kept (%s)", c.Model, ports)
	}
	return fmt.Sprintf("%d x %s (%s)", c.Count, c.Model, ports)
}
