package steer

import (
	"fmt"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/linerate/linerate/internal/advise/snippet"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/textlayout"
	"github.com/linerate/linerate/steer"
)

func linkText(b steer.Bundle, i int) string {
	if i < 0 || i >= len(b.Ports) {
		return "unknown"
	}
	if b.Ports[i] == strconv.Itoa(i) {
		return b.Ports[i]
	}
	return fmt.Sprintf("%d %s", i, b.Ports[i])
}

// mostListed is how many links are listed whatever they carry.
const mostListed = 16

// perLink is how many flows each link gets; of very many links, those that get
// some.
func perLink(b steer.Bundle, counts []int) string {
	var parts []string
	for i, n := range counts {
		if n > 0 || len(counts) <= mostListed {
			parts = append(parts, fmt.Sprintf("%s: %d", linkText(b, i), n))
		}
	}
	if rest := len(counts) - len(parts); rest > 0 {
		parts = append(parts, fmt.Sprintf("none on %d others", rest))
	}
	return strings.Join(parts, ", ")
}

func printShown(con *console.Console, b steer.Bundle, s steer.Shown) error {
	return printFlows(con, b.Summary(), b.Ports, s)
}

// pickedSide is one side's column of the table.
type pickedSide struct {
	title, counts string
	spreader      steer.Spreader
	link          func(steer.Stream) int
	perLink       []int
}

// named lets the link texts of bonds serve any spreader.
func (s pickedSide) named() steer.Bundle { return steer.Bundle{Ports: s.spreader.Links()} }

func pickedSides(req steer.PickRequest, p steer.Picked) []pickedSide {
	sides := []pickedSide{{"LINK", "on each link: ", req.Near, func(s steer.Stream) int { return s.Link }, p.PerLink}}
	for i, counts := range p.BetweenPerLink {
		sides = append(sides, pickedSide{fmt.Sprintf("SWITCHES %d", i+1), fmt.Sprintf("between switches, %d: ", i+1), req.Between[i], func(s steer.Stream) int { return s.BetweenLinks[i] }, counts})
	}
	for _, s := range []pickedSide{
		{"FAR LINK", "on each far link: ", req.Far, func(s steer.Stream) int { return s.FarLink }, p.FarPerLink},
		{"BACK", "on each link back: ", req.Back, func(s steer.Stream) int { return s.BackLink }, p.BackPerLink},
		{"BACK FAR", "on each far link back: ", req.BackFar, func(s steer.Stream) int { return s.BackFarLink }, p.BackFarPerLink},
	} {
		if s.spreader != nil {
			sides = append(sides, s)
		}
	}
	return sides
}

func printPicked(con *console.Console, req steer.PickRequest, p steer.Picked, how *snippet.Snippet, notes []string) error {
	if p.Why != "" {
		notes = append(notes, p.Why)
	}
	if con.JSON {
		for _, n := range notes {
			sayNote(con, n)
		}
		return pickDocument.Print(con, snippet.ShownPick{ShownPick: p.Shown(), Snippet: how})
	}
	sides := pickedSides(req, p)
	fmt.Fprint(con.Stdout, console.Wrapped("", fmt.Sprintf("%d streams, %s", len(p.Streams), aggregationText(req.Near)), con.Width()))
	if err := printStreams(con, p, sides); err != nil {
		return err
	}
	for _, s := range sides {
		fmt.Fprint(con.Stdout, console.Wrapped(s.counts, perLink(s.named(), s.perLink), con.Width()))
	}
	even := "no"
	if p.Even {
		even = "yes"
	}
	if how != nil && !how.Exact {
		even += ": " + how.Program.String() + " cannot be limited to these streams; how it fares is said below"
	}
	if p.Relative {
		even += "; the links are told apart, but their numbers are not known"
	}
	fmt.Fprint(con.Stdout, console.Wrapped("even: ", even, con.Width()))
	for _, n := range notes {
		fmt.Fprint(con.Stdout, console.Wrapped("note: ", n, con.Width()))
	}
	printWhy(con, "", p.Remedy)
	ports := make([]string, len(p.Streams))
	for i, s := range p.Streams {
		ports[i] = strconv.Itoa(int(s.Sport))
	}
	fmt.Fprintln(con.Stdout, "ports: "+strings.Join(ports, ","))
	if how != nil {
		printSnippet(con, *how)
	}
	return nil
}

func printStreams(con *console.Console, p steer.Picked, sides []pickedSide) error {
	w := tabwriter.NewWriter(con.Stdout, 0, 8, 2, ' ', 0)
	fmt.Fprint(w, "STREAM\tSPORT\tSRC\tDST\tDPORT")
	for _, s := range sides {
		fmt.Fprint(w, "\t"+s.title)
	}
	fmt.Fprintln(w)
	for i, st := range p.Streams {
		fmt.Fprintf(w, "%d\t%d\t%s\t%s\t%d", i, st.Sport, st.Src, st.Dst, st.Dport)
		for _, s := range sides {
			fmt.Fprint(w, "\t"+linkText(s.named(), s.link(st)))
		}
		fmt.Fprintln(w)
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("print streams: %w", err)
	}
	return nil
}

// printSnippet prints commands as they can be pasted, long ones continued.
func printSnippet(con *console.Console, r snippet.Snippet) {
	for _, part := range []struct {
		title    string
		commands []string
	}{{"on the receiver:", r.Receiver}, {"on the sender:", r.Sender}} {
		if len(part.commands) == 0 {
			continue
		}
		fmt.Fprintln(con.Stdout, "\n"+part.title)
		for _, c := range part.commands {
			fmt.Fprintln(con.Stdout, strings.Join(textlayout.Command("  ", "    ", c, con.Width()), "\n"))
		}
	}
	if len(r.Notes) > 0 {
		fmt.Fprintln(con.Stdout)
	}
	for _, n := range r.Notes {
		fmt.Fprint(con.Stdout, console.Wrapped("note: ", n, con.Width()))
	}
}
