package cli

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/linerate/linerate/internal/advise/hashsurvey"
)

// shownProbe is the document of `linerate steer probe --json`.
type shownProbe struct {
	hashsurvey.Report
	// Letter is the words for the people who run the switch.
	Letter string `json:"letter"`
}

func (a *App) printProbe(r hashsurvey.Report) error {
	if a.json {
		return a.printJSON(shownProbe{r, r.Letter()})
	}
	fmt.Fprint(a.Stdout, wrapped("", fmt.Sprintf("%d streams from %s to %s, after looking at %d connections (%.1f expected, limit %d), %v sent",
		len(r.Streams), r.A, r.B, r.Probes, r.Expected, r.Limit, r.Sent), a.width()))
	if r.Separate {
		what := "separate interfaces, nothing hashes: each address is one link."
		if !slices.ContainsFunc(r.Sides, func(s hashsurvey.SideReport) bool { return len(s.Links) > 1 }) {
			what = "one link each, nothing hashes."
		}
		fmt.Fprint(a.Stdout, wrapped("", fmt.Sprintf("%s and %s have %s", r.A, r.B, what), a.width()))
	}
	if len(r.Streams) > 0 {
		w := tabwriter.NewWriter(a.Stdout, 0, 8, 2, ' ', 0)
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
		a.printSide(r, side)
	}
	even := "yes, on all sides"
	if !r.Even {
		even = "no"
	}
	fmt.Fprint(a.Stdout, wrapped("even: ", even, a.width()))
	for _, why := range r.Reasons() {
		fmt.Fprint(a.Stdout, wrapped("note: ", why, a.width()))
	}
	for _, note := range r.Notes {
		fmt.Fprint(a.Stdout, wrapped("note: ", oneLine(note), a.width()))
	}
	ports := make([]string, len(r.Ports))
	for i, p := range r.Ports {
		ports[i] = fmt.Sprint(p)
	}
	fmt.Fprintln(a.Stdout, "ports: "+strings.Join(ports, ","))
	if letter := r.Letter(); letter != "" {
		fmt.Fprintf(a.Stdout, "\n--- for the people who run the switch\n%s---\n", letter)
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
func (a *App) printSide(r hashsurvey.Report, s hashsurvey.SideReport) {
	if len(s.Links) < 2 {
		return
	}
	counts := make([]string, len(s.Links))
	for i, l := range s.Links {
		counts[i] = fmt.Sprintf("%s: %d", l, s.PerLink[i])
	}
	lead := sideText(s.Side, r.A, r.B) + ": "
	fmt.Fprint(a.Stdout, wrapped(lead, strings.Join(counts, ", "), a.width()))
	if len(s.Guesses) > 0 {
		fmt.Fprint(a.Stdout, wrapped("  ", hashsurvey.GuessWords(s.Guesses), a.width()))
	}
}
