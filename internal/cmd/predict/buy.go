package predict

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/internal/advise/purchase"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/unit"
)

// buyFlags ask what to buy.
type buyFlags struct{ rate, from, to string }

func (b *buyFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&b.rate, "buy", "", "list what carries a rate, such as 30G, with its cost (prices and catalog in the file)")
	c.Flags().StringVar(&b.from, "from", "", "with --buy: one host (default: every path's)")
	c.Flags().StringVar(&b.to, "to", "", "with --buy: the other")
}

// asked: any of the flags was given.
func (b buyFlags) asked() bool { return b.rate != "" || b.from != "" || b.to != "" }

// buyAlone are flags that say how to predict, which --buy decides.
var buyAlone = []string{"streams", "directions", "ports", "socket-buffer", "calibrate", "what-if", "validate", "together", "live", "clouds", "limits"}

// read checks the flags against each other.
func (b buyFlags) read(c *cobra.Command, args []string) (unit.BitRate, error) {
	switch {
	case b.rate == "":
		return 0, console.BadUsage("--from and --to are for --buy", "add --buy 30G, the rate to carry")
	case (b.from == "") != (b.to == ""):
		return 0, console.BadUsage("--buy: one host is named", "give both --from and --to, or neither for every path")
	case b.from != "" && b.from == b.to:
		return 0, console.BadUsage(fmt.Sprintf("--buy: %s is named twice", b.from), "give two hosts")
	case len(args) != 1:
		return 0, console.BadUsage("--buy takes one FABRIC file", "hosts cannot say what cards cost: write prices and catalog in a fabric file")
	}
	for _, name := range buyAlone {
		if f := c.Flags().Lookup(name); f != nil && f.Changed {
			return 0, console.BadUsage("--buy and --"+name+" do not go together", "leave out --"+name+": designs are compared by many streams, each way")
		}
	}
	want, err := unit.ParseBitRate(b.rate)
	if err != nil {
		return 0, console.BadUsage("--buy: "+err.Error(), "rates take K M G T, bits per second: 30G")
	}
	if want <= 0 {
		return 0, console.BadUsage(fmt.Sprintf("--buy %s: no rate to carry", b.rate), "write a rate above zero, such as 30G")
	}
	return want, nil
}

// buyPaths are the pairs to design for: the two hosts named, every declared
// path, or the first pair there is.
func (b buyFlags) paths(f fabric.Fabric) ([]fabric.Path, error) {
	var all []fabric.Path
	for _, p := range f.Paths {
		switch {
		case b.from != "" && p.Joins(b.from, b.to):
			return []fabric.Path{p}, nil
		case b.from == "" && p.Declared:
			all = append(all, p)
		}
	}
	if b.from != "" {
		return []fabric.Path{{From: b.from, To: b.to}}, nil
	}
	if len(all) > 0 {
		var first []fabric.Path
		for _, pair := range pairsOf(all) {
			first = append(first, pair[0])
		}
		return first, nil
	}
	if len(f.Paths) > 0 {
		return f.Paths[:1], nil
	}
	if len(f.Hosts) >= 2 {
		return []fabric.Path{{From: f.Hosts[0].Name, To: f.Hosts[1].Name}}, nil
	}
	return nil, console.BadUsage(f.File+": one host, nothing to connect", "a purchase joins two hosts: write the other under hosts")
}

// buyDocument is predict --buy --json.
type buyDocument struct {
	Want     unit.BitRate      `json:"want_bps"`
	Currency string            `json:"currency,omitempty"`
	Pairs    []buyPair         `json:"pairs"`
	Designs  []purchase.Design `json:"designs"`
}

// buyPair is what holds for all designs of one pair; numbers are designs'.
type buyPair struct {
	From     string   `json:"from"`
	To       string   `json:"to"`
	MTU      int      `json:"mtu_bytes"`
	Switches int      `json:"switches"`
	Cheapest int      `json:"cheapest"`
	ForMoney int      `json:"most_for_the_money"`
	Survives int      `json:"survives_any_card_or_link"`
	Notes    []string `json:"notes,omitempty"`
}

func compareDesigns(con *console.Console, c *cobra.Command, args []string, flags buyFlags) error {
	want, err := flags.read(c, args)
	if err != nil {
		return err
	}
	f, err := console.ReadFabric(c.Context(), args[0])
	if err != nil {
		return err
	}
	paths, err := flags.paths(f)
	if err != nil {
		return err
	}
	var results []purchase.Result
	for _, p := range paths {
		r, err := purchase.Designs(f, p, want)
		if err != nil {
			return buyError(f, err)
		}
		results = append(results, r)
	}
	if con.JSON {
		return con.PrintJSON(documentOf(want, results))
	}
	for i, r := range results {
		if i > 0 {
			fmt.Fprintln(con.Stdout)
		}
		if err := printPurchase(con, r); err != nil {
			return err
		}
	}
	return nil
}

func documentOf(want unit.BitRate, results []purchase.Result) buyDocument {
	d := buyDocument{Want: want}
	for _, r := range results {
		best := r.Best()
		d.Currency = r.Currency
		d.Pairs = append(d.Pairs, buyPair{
			From: r.From, To: r.To, MTU: r.MTU, Switches: r.Switches,
			Cheapest: best.Cheapest, ForMoney: best.ForMoney, Survives: best.Survives, Notes: r.Notes,
		})
		d.Designs = append(d.Designs, r.Designs...)
	}
	return d
}

// buyError is what to do about a purchase that cannot be answered.
func buyError(f fabric.Fabric, err error) error {
	switch what := f.File + ": " + err.Error(); {
	case errors.Is(err, purchase.ErrNoPrices):
		return console.BadUsage(what, "write what can be bought: catalog: {NAME: {price: 500, ports: 2, speed: 10G}}, and prices: {switch_port: 100, cable: 10}")
	case errors.Is(err, purchase.ErrOutOfReach):
		return console.BadUsage(what, "ask for less, or put faster cards in catalog; free_slots under hosts.NAME.hardware bounds how many fit")
	case errors.Is(err, purchase.ErrUnknownHost):
		var names string
		for _, h := range f.Hosts {
			names += " " + h.Name
		}
		return console.BadUsage(what, "the file's hosts:"+names)
	default:
		return err
	}
}
