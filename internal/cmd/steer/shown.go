package steer

import (
	"fmt"
	"text/tabwriter"

	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/steer"
)

// printFlows prints flows with their links, which have these names.
func printFlows(con *console.Console, header string, names []string, s steer.Shown) error {
	b := steer.Bundle{Ports: names}
	fmt.Fprint(con.Stdout, console.Wrapped("", header, con.Width()))
	w := tabwriter.NewWriter(con.Stdout, 0, 8, 2, ' ', 0)
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
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", f.Proto, console.OrNone(f.Src.IsValid(), f.Src.String()), console.OrNone(f.Dst.IsValid(), f.Dst.String()),
			console.OrNone(ports, fmt.Sprint(f.Sport)), console.OrNone(ports, fmt.Sprint(f.Dport)), hash, link)
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("print flows: %w", err)
	}
	if len(names) > 0 {
		fmt.Fprint(con.Stdout, console.Wrapped("on each link: ", perLink(b, s.PerLink), con.Width()))
	}
	for _, why := range reasons {
		fmt.Fprint(con.Stdout, console.Wrapped("note: ", why, con.Width()))
	}
	return nil
}

// note tells people what a document for programs does not hold.
func sayNote(con *console.Console, text string) {
	if text != "" && !con.Quiet {
		fmt.Fprintln(con.Stderr, "note: "+console.OneLine(text))
	}
}
