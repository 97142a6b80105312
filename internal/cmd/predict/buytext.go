package predict

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/linerate/linerate/internal/advise/purchase"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/unit"
)

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
