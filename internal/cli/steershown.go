package cli

import (
	"fmt"
	"text/tabwriter"

	"github.com/linerate/linerate/steer"
)

// printFlows prints flows with their links, which have these names.
func (a *App) printFlows(header string, names []string, s steer.Shown) error {
	b := steer.Bundle{Ports: names}
	fmt.Fprint(a.Stdout, wrapped("", header, a.width()))
	w := tabwriter.NewWriter(a.Stdout, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "PROTO\tSRC\tDST\tSPORT\tDPORT\tHASH\tLINK")
	var reasons []string
	told := map[string]bool{}
	for _, f := range s.Flows {
		hash, link := "-", "unknown"
		if f.Hash != nil {
			hash = fmt.Sprintf("%#08x", *f.Hash)
		}
		switch {
		case f.Link != nil:
			link = linkText(b, *f.Link)
		case f.Known:
			link = "all"
		}
		if f.Why != "" && !told[f.Why] {
			told[f.Why] = true
			reasons = append(reasons, f.Why)
		}
		ports := f.Proto.HasPorts()
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", f.Proto, orNone(f.Src.IsValid(), f.Src.String()), orNone(f.Dst.IsValid(), f.Dst.String()),
			orNone(ports, fmt.Sprint(f.Sport)), orNone(ports, fmt.Sprint(f.Dport)), hash, link)
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("print flows: %w", err)
	}
	if len(names) > 0 {
		fmt.Fprint(a.Stdout, wrapped("on each link: ", perLink(b, s.PerLink), a.width()))
	}
	for _, why := range reasons {
		fmt.Fprint(a.Stdout, wrapped("note: ", why, a.width()))
	}
	return nil
}

// note tells people what a document for programs does not hold.
func (a *App) note(text string) {
	if text != "" && !a.quiet {
		fmt.Fprintln(a.Stderr, "note: "+oneLine(text))
	}
}
