package cli

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/linerate/linerate/internal/advise/snippet"
	"github.com/linerate/linerate/steer"
	"github.com/linerate/linerate/steer/subflow"
)

// printSubflows prints a plan and its lines.
func (a *App) printSubflows(req subflow.SubflowRequest, p subflow.Subflows, commands map[string]snippet.SubflowCommands, notes []string) error {
	if a.json {
		for _, n := range notes {
			a.note(n)
		}
		return a.printJSON(snippet.ShownSubflows{ShownSubflows: p.Shown(), Commands: commands})
	}
	fmt.Fprint(a.Stdout, wrapped("", fmt.Sprintf("%d subflows of one connection: %s", len(p.Flows), aggregationText(req.Near)), a.width()))
	if err := a.printSubflowTable(req, p); err != nil {
		return err
	}
	a.printSubflowSpread(req, p)
	for _, n := range notes {
		fmt.Fprint(a.Stdout, wrapped("note: ", n, a.width()))
	}
	for _, s := range subflowSections(p, commands) {
		fmt.Fprintln(a.Stdout)
		fmt.Fprint(a.Stdout, wrapped("# ", s.heading, a.width()))
		fmt.Fprintln(a.Stdout, strings.Join(s.lines, "\n"))
	}
	return nil
}

// column is one side's links in the table.
type column struct {
	heading string
	side    steer.Spreader
	link    func(subflow.Subflow) int
}

// nearHeading is over the client's own links.
const nearHeading = "LINK"

func (a *App) printSubflowTable(req subflow.SubflowRequest, p subflow.Subflows) error {
	var columns []column
	for _, c := range []column{
		{nearHeading, req.Near, func(f subflow.Subflow) int { return f.Link }},
		{"FAR LINK", req.Far, func(f subflow.Subflow) int { return f.FarLink }},
		{"LINK BACK", req.Back, func(f subflow.Subflow) int { return f.BackLink }},
		{"FAR LINK BACK", req.BackFar, func(f subflow.Subflow) int { return f.BackFarLink }},
	} {
		if c.side != nil {
			columns = append(columns, c)
		}
	}
	w := tabwriter.NewWriter(a.Stdout, 0, 8, 2, ' ', 0)
	header := "SUBFLOW\tCLIENT\tSERVER"
	for _, c := range columns {
		header += "\t" + c.heading
	}
	fmt.Fprintln(w, header)
	for i, f := range p.Flows {
		row := fmt.Sprintf("%d\t%s\t%s", i, f.Src, f.Dst)
		for _, c := range columns {
			row += "\t" + indexText(c.side, c.link(f))
			if c.heading == nearHeading && f.Link < 0 && f.Group >= 0 {
				row += " " + groupLetters(f.Group)
			}
		}
		fmt.Fprintln(w, row)
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("print subflows: %w", err)
	}
	return nil
}

func (a *App) printSubflowSpread(req subflow.SubflowRequest, p subflow.Subflows) {
	fmt.Fprint(a.Stdout, wrapped("even: ", evenText(p.Even, p.Relative), a.width()))
	if p.Why != "" {
		fmt.Fprint(a.Stdout, wrapped("note: ", p.Why, a.width()))
	}
	if p.Remedy != "" {
		fmt.Fprint(a.Stdout, wrapped("remedy: ", p.Remedy, a.width()))
	}
	if len(p.AddFar) > 0 {
		fmt.Fprint(a.Stdout, wrapped("note: ", "the server must listen on all its addresses (0.0.0.0 or ::), not on "+req.Server.String()+" alone", a.width()))
	}
	fmt.Fprint(a.Stdout, wrapped("", "Nothing has been changed. Both hosts need Linux 5.6 or newer with MPTCP; the lines below need root, and act on connections that are made afterwards.", a.width()))
}

// subflowSections are the lines of both hosts in the order of use.
func subflowSections(p subflow.Subflows, commands map[string]snippet.SubflowCommands) []section {
	var out []section
	add := func(host, kind, heading string, lines []string) {
		if len(lines) > 0 {
			out = append(out, section{host, kind, heading, lines})
		}
	}
	client, server := commands["client"], commands["server"]
	add("client", "check", "before: does another host have the client's new addresses?", client.Check)
	add("server", "check", "before: does another host have the server's new addresses?", server.Check)
	add("server", "set", "on the server, until it reboots", server.Set)
	add("client", "set", "on the client, until it reboots", client.Set)
	add("server", "netplan", "on the server, to stay: /etc/netplan/60-mptcp.yaml, mode 0600", server.Netplan)
	add("client", "netplan", "on the client, to stay: /etc/netplan/60-mptcp.yaml, mode 0600", client.Netplan)
	add("server", "unit", "on the server, to stay (then: systemctl enable "+snippet.SubflowUnit+")", server.Unit)
	add("client", "unit", "on the client, to stay (then: systemctl enable "+snippet.SubflowUnit+")", client.Unit)
	add("server", "run", "on the server: programs that listen, one of", server.Run)
	add("client", "run", "on the client: programs that connect, one of", client.Run)
	add("client", "verify", fmt.Sprintf("while it runs: %d subflows of one connection", len(p.Flows)), client.Verify)
	add("client", "undo", "on the client, to take it back (and what was made to stay)", client.Undo)
	add("server", "undo", "on the server, to take it back (and what was made to stay)", server.Undo)
	return out
}
