package purchase

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
	"pgregory.net/rapid"
)

// The question of a published article (2015): for 30 Gb/s, three cards with
// one port each in use, or two with two? A card of two ports costs 500, a port
// of the switch about 100; the card moves 13.9 Gb/s of its 20.
const article = `linerate: v1
hosts:
  storinator:
    network: {ethernets: {e0: {addresses: [192.0.2.1/24], mtu: 9000}}}
  client:
    network: {ethernets: {e0: {addresses: [192.0.2.2/24], mtu: 9000}}}
prices: {currency: USD, switch_port: 100}
catalog:
  x540-t2: {price: 500, ports: 2, speed: 10G, pcie: {generation: 2, lanes: 4, max_payload: 256}}
`

func parse(t testing.TB, text string) fabric.Fabric {
	t.Helper()
	f, err := fabric.Parse("fabric.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func designs(t testing.TB, text string, want unit.BitRate) Result {
	t.Helper()
	f := parse(t, text)
	r, err := Designs(f, f.Paths[0], want)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func find(t testing.TB, r Result, name string) Design {
	t.Helper()
	for _, d := range r.Designs {
		if d.String() == name {
			return d
		}
	}
	t.Fatalf("no design %q in %v", name, r.Designs)
	return Design{}
}

func near(got unit.BitRate, want, within float64) bool {
	return math.Abs(float64(got)-want) <= within*want
}

// TestArticle: two cards with two ports are cheaper, and lose less with a
// cable; they carry less, and lose half with a card where three lose a third.
func TestArticle(t *testing.T) {
	r := designs(t, article, 30e9)
	two, three := find(t, r, "2 x x540-t2 (2 ports)"), find(t, r, "3 x x540-t2 (1 port)")
	if two.Cost != 2*2*500+2*4*100 || three.Cost != 2*3*500+2*3*100 {
		t.Errorf("costs %v and %v; want 2800 and 3600", two.Cost, three.Cost)
	}
	for _, c := range []struct {
		what string
		got  unit.BitRate
		want float64
	}{
		{"two cards", two.Rate, 28e9}, {"three cards", three.Rate, 30e9},
		{"two cards without a link", two.Left.Link, 23.3e9}, {"three without a link", three.Left.Link, 19.8e9},
		{"two cards without a card", two.Left.Card, 13.9e9}, {"three without a card", three.Left.Card, 19.8e9},
		{"two cards for 1,000", two.ForMoney, 9.79e9}, {"three for 1,000", three.ForMoney, 8.25e9},
	} {
		if !near(c.got, c.want, .03) {
			t.Errorf("%s: %v; want %v", c.what, c.got, unit.BitRate(c.want))
		}
	}
	if two.Limit != record.CardSlot || three.Limit != record.LineRate || two.Reaches || three.Reaches {
		t.Errorf("limits %s and %s, reached %v and %v; want card and line-rate, both just short of 30 of payload", two.Limit, three.Limit, two.Reaches, three.Reaches)
	}
	if two.Left.Switch != 0 || three.Left.Switch != 0 {
		t.Error("something is left without the only switch")
	}
	if two.WorseThan != 0 || three.WorseThan != 0 {
		t.Error("one of the two is called worse than another in everything")
	}
}

func TestTwoSwitches(t *testing.T) {
	r := designs(t, article+"switches: 2\n", 19e9)
	if d := find(t, r, "2 x x540-t2 (1 port)"); !near(d.Left.Switch, 9.9e9, .01) {
		t.Errorf("%v left without a switch; want one link", d.Left.Switch)
	}
}

func TestDirect(t *testing.T) {
	r := designs(t, strings.Replace(article, "switch_port: 100", "switch_port: 100, cable: 7", 1)+"switches: 0\n", 19e9)
	if d := find(t, r, "2 x x540-t2 (1 port)"); d.Cost != 4*500+2*7 || d.Left.Switch != d.Rate || !near(d.Left.Link, 9.9e9, .01) {
		t.Errorf("%v with %v left without a link; want four cards, two cables and no switch", d.Cost, d.Left.Link)
	}
}

// TestKept: cards that stay cost nothing, and are joined by new ones of their
// speed only.
func TestKept(t *testing.T) {
	const text = `linerate: v1
hosts:
  a:
    network: {ethernets: {e0: {addresses: [192.0.2.1/24], mtu: 9000}, e1: {mtu: 9000}}}
    hardware:
      links: {e0: {speed: 10G, card: c0}, e1: {speed: 10G, card: c0}}
      cards: {c0: {pcie: {generation: 3, lanes: 8, max_payload: 256}, keep: true}}
  b:
    network: {ethernets: {e0: {addresses: [192.0.2.2/24], mtu: 9000}}}
    hardware: {free_slots: 2}
prices: {switch_port: 10, cable: 1}
catalog:
  one: {price: 50, ports: 1, speed: 10G}
  fast: {price: 500, ports: 1, speed: 25G}
`
	r := designs(t, text, 19e9)
	d := find(t, r, "a: c0 kept (2 ports); b: 2 x one (1 port)")
	if d.Cost != 2*(50+11) || !d.Reaches || d.Number != 1 {
		t.Errorf("%+v; want the two new cards at one end, cheapest", d)
	}
	for _, d := range r.Designs {
		if s := d.String(); strings.Contains(s, "kept") && strings.Contains(s, "fast") {
			t.Errorf("%s joins ports of two speeds", s)
		}
		if strings.Contains(d.String(), "3 x") {
			t.Errorf("%s has no free slots for it", d)
		}
	}
	if find(t, r, "1 x fast (1 port)"); len(r.Notes) == 0 {
		t.Error("nothing is said of slots that are not known")
	}
	both := strings.Replace(text, `    hardware: {free_slots: 2}`, `    hardware:
      links: {e0: {speed: 10G, card: c0}}
      cards: {c0: {keep: true}}`, 1)
	r = designs(t, both, 9e9)
	if d := find(t, r, "a: c0 kept (2 ports); b: c0 kept (1 port) + 1 x one (1 port)"); d.Cost != 50+11 || d.Links != 2 {
		t.Errorf("%+v", d)
	}
}

// TestPricedCards: without a catalog the hosts' own priced cards are what can
// be bought.
func TestPricedCards(t *testing.T) {
	r := designs(t, `linerate: v1
hosts:
  a:
    network: {ethernets: {e0: {addresses: [192.0.2.1/24], mtu: 9000}, e1: {mtu: 9000}}}
    hardware:
      links: {e0: {speed: 10G, card: x}, e1: {speed: 10G, card: x}}
      cards: {x: {pcie: {generation: 3, lanes: 8}, price: 300}}
  b: {network: {ethernets: {e0: {addresses: [192.0.2.2/24], mtu: 9000}}}}
`, 19e9)
	if d := find(t, r, "1 x x (2 ports)"); d.Cost != 600 || d.Left.Card != 0 || d.Left.Link >= d.Rate {
		t.Errorf("%+v; want one card an end", d)
	}
}

func TestErrors(t *testing.T) {
	f := parse(t, article)
	if _, err := Designs(f, f.Paths[0], 1e15); !errors.Is(err, ErrOutOfReach) || !strings.Contains(err.Error(), "the most is 110 Gbit/s, with 8 x x540-t2 (2 ports) (card)") {
		t.Errorf("out of reach: %v", err)
	}
	if _, err := Designs(f, fabric.Path{From: "client", To: "nobody"}, 1e9); !errors.Is(err, ErrUnknownHost) {
		t.Errorf("unknown host: %v", err)
	}
	f.Catalog = nil
	if _, err := Designs(f, f.Paths[0], 1e9); !errors.Is(err, ErrNoPrices) {
		t.Errorf("no prices: %v", err)
	}
}

func drawFabric(t *rapid.T) (string, unit.BitRate) {
	number := func(low, high int, what string) int { return rapid.IntRange(low, high).Draw(t, what) }
	text := fmt.Sprintf("linerate: v1\nswitches: %d\nprices: {switch_port: %d, cable: %d}\nhosts:\n", number(0, 2, "switches"), number(0, 300, "port price"), number(0, 30, "cable price"))
	mtu := rapid.SampledFrom([]int{1500, 9000}).Draw(t, "mtu")
	for i, name := range []string{"a", "b"} {
		text += fmt.Sprintf("  %s:\n    network: {ethernets: {e0: {addresses: [192.0.2.%d/24], mtu: %d}}}\n    hardware: {free_slots: %d", name, i+1, mtu, number(1, 3, name+" slots"))
		if rapid.Bool().Draw(t, name+" keeps") {
			text += ", links: {e0: {speed: 10G, card: k}}, cards: {k: {keep: true}}"
		}
		text += "}\n"
	}
	text += "catalog:\n"
	for i := range number(1, 2, "models") {
		text += fmt.Sprintf("  m%d: {price: %d, ports: %d, speed: %s, pcie: {generation: %d, lanes: %d}}\n", i, number(0, 900, "price"), number(1, 2, "ports"),
			rapid.SampledFrom([]string{"1G", "10G", "25G"}).Draw(t, "speed"), number(1, 5, "generation"), rapid.SampledFrom([]int{1, 4, 8}).Draw(t, "lanes"))
	}
	return text, unit.BitRate(number(1, 60, "want")) * 1e9
}

// TestDesignsHold: whatever the file, the list is in order of cost, no rate
// grows when something fails, and what is called worse is.
func TestDesignsHold(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: it takes seconds")
	}
	rapid.Check(t, func(t *rapid.T) {
		text, want := drawFabric(t)
		f, err := fabric.Parse("fabric.yaml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		r, err := Designs(f, f.Paths[0], want)
		if errors.Is(err, ErrOutOfReach) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		for i, d := range r.Designs {
			if i > 0 && r.Designs[i-1].Cost > d.Cost {
				t.Fatalf("%s for %v comes after %v", d, d.Cost, r.Designs[i-1].Cost)
			}
			if d.Rate < want*NearMiss || d.Reaches != (d.Rate >= want) || d.Number != i+1 || len(d.Uses) == 0 {
				t.Fatalf("%+v of %v", d, want)
			}
			if max(d.Left.Link, d.Left.Card, d.Left.Switch) > d.Rate {
				t.Fatalf("more is left than there was: %+v", d)
			}
			if d.WorseThan == 0 {
				continue
			}
			if o := r.Designs[d.WorseThan-1]; o.WorseThan != 0 || o.Cost > d.Cost || o.Rate < d.Rate*(1-2*alike) || d.Why == "" {
				t.Fatalf("%s is called worse than %s", d, o)
			}
		}
		if best := r.Best(); best.Cheapest == 0 || !r.Designs[best.Cheapest-1].Reaches {
			t.Fatalf("cheapest is %d", best.Cheapest)
		}
	})
}

// TestAnotherCard never costs rate.
func TestAnotherCard(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: it takes seconds")
	}
	rapid.Check(t, func(t *rapid.T) {
		text, want := drawFabric(t)
		f, err := fabric.Parse("fabric.yaml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		b, err := newBuilder(f, f.Paths[0], want)
		if err != nil {
			t.Fatal(err)
		}
		b.want = 1e15 // as many streams as help
		for _, l := range b.series() {
			before := unit.BitRate(0)
			for n := range b.free[0] + 1 {
				d, ok := b.design(l, n)
				if !ok {
					continue
				}
				if err := b.rate(&d); err != nil {
					t.Fatal(err)
				}
				if d.Rate < before*(1-1e-9) {
					t.Fatalf("%s carries %v, one card less %v", d, d.Rate, before)
				}
				before = d.Rate
			}
		}
	})
}

// BenchmarkDesigns is a catalog of eight cards.
func BenchmarkDesigns(b *testing.B) {
	text := article
	for i := range 7 {
		text += fmt.Sprintf("  m%d: {price: %d, ports: %d, speed: %s, pcie: {generation: 3, lanes: 8}}\n", i, 100+50*i, 1+i%4, []string{"10G", "25G", "100G"}[i%3])
	}
	f := parse(b, text)
	for b.Loop() {
		if _, err := Designs(f, f.Paths[0], 60e9); err != nil {
			b.Fatal(err)
		}
	}
}
