package predict

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/internal/advise/purchase"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/predict/declared"
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
		return 0, console.BadUsage("--buy takes one FABRIC file", "hosts do not report what cards cost: write prices and catalog in a fabric file")
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
		for _, pair := range declared.Pairs(all) {
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
		return buyAnswer.Print(con, documentOf(want, results))
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

// mostDesigns is how many designs are printed before those that are worse
// than another in everything are left out.
const mostDesigns = 12

// designWidth is how much of a line a design's name may take.
const designWidth = 25

// printPurchase prints one pair's designs, then what they need and assume.
func printPurchase(con *console.Console, r purchase.Result) error {
	currency := "prices for both hosts"
	if r.Currency != "" {
		currency = "prices in " + r.Currency + " for both hosts"
	}
	fmt.Fprint(con.Stdout, console.Wrapped("", fmt.Sprintf("%s - %s: %s of payload each way at MTU %d, cheapest first; %s", r.From, r.To, r.Want, r.MTU, currency), con.Width()))
	shown, hidden := shownDesigns(r.Designs)
	if err := designTable(con.Stdout, shown, r.Switches); err != nil {
		return fmt.Errorf("print designs: %w", err)
	}
	say := func(lead, text string) { fmt.Fprint(con.Stdout, console.Wrapped(lead, text, con.Width())) }
	for _, d := range shown {
		if text := designRemark(r, d); text != "" {
			say("  ", fmt.Sprintf("%d: %s", d.Number, text))
		}
	}
	if hidden > 0 {
		say("  ", fmt.Sprintf("%d more are in nothing better than one of these (--json has them)", hidden))
	}
	best := r.Best()
	say("  ", bestDesigns(best))
	say("  ", useOf(r.Designs[best.Cheapest-1]))
	for _, n := range r.Notes {
		say("  ", "assumed: "+n)
	}
	return nil
}

// shownDesigns leaves out what is worse in everything where the list is long.
func shownDesigns(all []purchase.Design) (shown []purchase.Design, hidden int) {
	if len(all) <= mostDesigns {
		return all, 0
	}
	for _, d := range all {
		if d.WorseThan > 0 {
			hidden++
			continue
		}
		shown = append(shown, d)
	}
	return shown, hidden
}

// designTable is LINK, CARD and SWITCH: what is left when one fails.
func designTable(out io.Writer, all []purchase.Design, switches int) error {
	w := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "  \t\t\t\t\t\tLEFT WITHOUT ONE")
	header := "  #\tEACH HOST\tLINKS\tCOST\tRATE\tPER 1000\tLINK\tCARD"
	if switches > 0 {
		header += "\tSWITCH"
	}
	fmt.Fprintln(w, header)
	for _, d := range all {
		name := d.String()
		if d.Ends[0].String() != d.Ends[1].String() {
			name = "see below"
		} else if r := []rune(name); len(r) > designWidth {
			name = string(r[:designWidth-3]) + "..."
		}
		speed, err := d.Speed.MarshalText()
		if err != nil {
			return err
		}
		row := fmt.Sprintf("  %d\t%s\t%d x %s\t%.0f\t%s\t%s\t%s\t%s", d.Number, name, d.Links, speed, d.Cost, brief(d.Rate), brief(d.ForMoney), brief(d.Left.Link), brief(d.Left.Card))
		if switches > 0 {
			row += "\t" + brief(d.Left.Switch)
		}
		fmt.Fprintln(w, row)
	}
	return w.Flush()
}

// brief is a rate for a column: "27.4G"; a dash for none.
func brief(r unit.BitRate) string {
	if r <= 0 {
		return "-"
	}
	return strings.Replace(strings.TrimSuffix(r.String(), "bit/s"), " ", "", 1)
}

// designRemark is what the table has no room for.
func designRemark(r purchase.Result, d purchase.Design) string {
	var parts []string
	if d.Ends[0].String() != d.Ends[1].String() || len([]rune(d.String())) > designWidth {
		parts = append(parts, d.String())
	}
	if !d.Reaches {
		parts = append(parts, fmt.Sprintf("%.0f %% short of %s (%s)", 100*(1-float64(d.Rate/r.Want)), r.Want, d.Limit))
	}
	if d.Low > 0 && d.Low < d.Rate*0.99 {
		parts = append(parts, fmt.Sprintf("between %s and %s", d.Low, d.High))
	}
	if d.WorseThan > 0 {
		parts = append(parts, fmt.Sprintf("worse than %d, which %s", d.WorseThan, betterIn(d.Why)))
	}
	return strings.Join(parts, "; ")
}

// betterIn is "is cheaper, has more left without a card".
func betterIn(why string) string {
	if strings.HasPrefix(why, "more left") {
		return "has " + why
	}
	return "is " + strings.Replace(why, "more left", "has more left", 1)
}

func bestDesigns(b purchase.Best) string {
	text := fmt.Sprintf("cheapest that reaches it: %d", b.Cheapest)
	if b.ForMoney > 0 {
		text += fmt.Sprintf("; most for the money: %d", b.ForMoney)
	}
	if b.Survives > 0 {
		return text + fmt.Sprintf("; cheapest that carries it without any one link or card: %d", b.Survives)
	}
	return text + "; none of these carries it without any one link or card"
}

// useOf says how traffic uses the links of one design.
func useOf(d purchase.Design) string {
	var parts []string
	for _, u := range d.Uses {
		switch u.How {
		case purchase.UseOneLink:
			text := "one link: no bond is needed"
			if u.Streams > 1 {
				text += fmt.Sprintf(", %d streams", u.Streams)
			}
			parts = append(parts, text)
		case purchase.UseBond:
			text := fmt.Sprintf("many streams: mode %s, %s, %d or more streams on chosen ports", u.Mode, u.Policy, u.Streams)
			if u.Kernel > 0 {
				text += fmt.Sprintf(" (%s on average on the kernel's)", u.Kernel)
			}
			parts = append(parts, text)
		case purchase.UseStripes:
			text := fmt.Sprintf("one stream: %s up to %s", u.Mode, max(u.Rate, u.High))
			if u.Low > 0 {
				text += fmt.Sprintf(", at least %s (the switch, reordering)", u.Low)
			}
			parts = append(parts, text)
		case purchase.UseLanes:
			parts = append(parts, fmt.Sprintf("without a bond: an address on each link and %d streams, %s", u.Streams, u.Rate))
		}
	}
	return fmt.Sprintf("to use %d: %s", d.Number, strings.Join(parts, "; "))
}
