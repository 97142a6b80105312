package steer

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/linerate/linerate/internal/advise/hashsurvey"
	"github.com/linerate/linerate/internal/cmd/console"
)

// shownProbe is the document of `linerate steer probe --json`.
type shownProbe struct {
	hashsurvey.Report
	// Letter is the words for the people who run the switch.
	Letter string `json:"letter"`
}

func printProbe(con *console.Console, r hashsurvey.Report) error {
	if con.JSON {
		return con.PrintJSON(shownProbe{r, r.Letter()})
	}
	fmt.Fprint(con.Stdout, console.Wrapped("", fmt.Sprintf("%d streams from %s to %s, after looking at %d connections (%.1f expected, limit %d), %v sent",
		len(r.Streams), r.A, r.B, r.Probes, r.Expected, r.Limit, r.Sent), con.Width()))
	if r.Separate {
		what := "separate interfaces, nothing hashes: each address is one link."
		if !slices.ContainsFunc(r.Sides, func(s hashsurvey.SideReport) bool { return len(s.Links) > 1 }) {
			what = "one link each, nothing hashes."
		}
		fmt.Fprint(con.Stdout, console.Wrapped("", fmt.Sprintf("%s and %s have %s", r.A, r.B, what), con.Width()))
	}
	if len(r.Streams) > 0 {
		w := tabwriter.NewWriter(con.Stdout, 0, 8, 2, ' ', 0)
		fmt.Fprintln(w, "SPORT\tSRC\tDST\tDPORT\tTHERE\tBACK\tSEEN")
		for _, s := range r.Streams {
			seen := "yes"
			if !s.Seen {
				seen = "derived"
			}
			fmt.Fprintf(w, "%d\t%s\t%s\t%d\t%s\t%s\t%s\n", s.Sport, s.Src, s.Dst, s.Dport,
				linkPair(s, hashsurvey.NearOut, hashsurvey.FarIn), linkPair(s, hashsurvey.FarOut, hashsurvey.NearIn), seen)
		}
		if err := w.Flush(); err != nil {
			return fmt.Errorf("print streams: %w", err)
		}
	}
	for _, side := range r.Sides {
		printSide(con, r, side)
	}
	even := "yes, on all sides"
	if !r.Even {
		even = "no"
	}
	fmt.Fprint(con.Stdout, console.Wrapped("even: ", even, con.Width()))
	for _, why := range r.Reasons() {
		fmt.Fprint(con.Stdout, console.Wrapped("note: ", why, con.Width()))
	}
	for _, note := range r.Notes {
		fmt.Fprint(con.Stdout, console.Wrapped("note: ", console.OneLine(note), con.Width()))
	}
	ports := make([]string, len(r.Ports))
	for i, p := range r.Ports {
		ports[i] = fmt.Sprint(p)
	}
	fmt.Fprintln(con.Stdout, "ports: "+strings.Join(ports, ","))
	if letter := r.Letter(); letter != "" {
		fmt.Fprintf(con.Stdout, "\n--- for the people who run the switch\n%s---\n", letter)
	}
	return nil
}

func linkPair(s hashsurvey.Stream, out, in hashsurvey.Side) string {
	word := func(side hashsurvey.Side) string {
		if s.Links[side] == "" {
			return "?"
		}
		return s.Links[side]
	}
	return word(out) + " > " + word(in)
}

// printSide is how the set uses one side's links, and what chooses them.
func printSide(con *console.Console, r hashsurvey.Report, s hashsurvey.SideReport) {
	if len(s.Links) < 2 {
		return
	}
	counts := make([]string, len(s.Links))
	for i, l := range s.Links {
		counts[i] = fmt.Sprintf("%s: %d", l, s.PerLink[i])
	}
	lead := sideText(s.Side, r.A, r.B) + ": "
	fmt.Fprint(con.Stdout, console.Wrapped(lead, strings.Join(counts, ", "), con.Width()))
	if len(s.Guesses) > 0 {
		fmt.Fprint(con.Stdout, console.Wrapped("  ", hashsurvey.GuessWords(s.Guesses), con.Width()))
	}
}
