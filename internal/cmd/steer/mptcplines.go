package steer

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/linerate/linerate/internal/advise/snippet"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/steer"
)

// printSubflows prints a plan and its lines.
func printSubflows(con *console.Console, req steer.SubflowRequest, p steer.Subflows, commands map[string]snippet.SubflowCommands, notes []string) error {
	if con.JSON {
		for _, n := range notes {
			sayNote(con, n)
		}
		return con.PrintJSON(snippet.ShownSubflows{ShownSubflows: p.Shown(), Commands: commands})
	}
	fmt.Fprint(con.Stdout, console.Wrapped("", fmt.Sprintf("%d subflows of one connection: %s", len(p.Flows), aggregationText(req.Near)), con.Width()))
	if err := printSubflowTable(con, req, p); err != nil {
		return err
	}
	printSubflowSpread(con, req, p)
	for _, n := range notes {
		fmt.Fprint(con.Stdout, console.Wrapped("note: ", n, con.Width()))
	}
	for _, s := range subflowSections(p, commands) {
		fmt.Fprintln(con.Stdout)
		fmt.Fprint(con.Stdout, console.Wrapped("# ", s.heading, con.Width()))
		fmt.Fprintln(con.Stdout, strings.Join(s.lines, "\n"))
	}
	return nil
}

// column is one side's links in the table.
type column struct {
	heading string
	side    steer.Spreader
	link    func(steer.Subflow) int
}

// nearHeading is over the client's own links.
const nearHeading = "LINK"

func printSubflowTable(con *console.Console, req steer.SubflowRequest, p steer.Subflows) error {
	var columns []column
	for _, c := range []column{
		{nearHeading, req.Near, func(f steer.Subflow) int { return f.Link }},
		{"FAR LINK", req.Far, func(f steer.Subflow) int { return f.FarLink }},
		{"LINK BACK", req.Back, func(f steer.Subflow) int { return f.BackLink }},
		{"FAR LINK BACK", req.BackFar, func(f steer.Subflow) int { return f.BackFarLink }},
	} {
		if c.side != nil {
			columns = append(columns, c)
		}
	}
	w := tabwriter.NewWriter(con.Stdout, 0, 8, 2, ' ', 0)
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

func printSubflowSpread(con *console.Console, req steer.SubflowRequest, p steer.Subflows) {
	fmt.Fprint(con.Stdout, console.Wrapped("even: ", evenText(p.Even, p.Relative), con.Width()))
	if p.Why != "" {
		fmt.Fprint(con.Stdout, console.Wrapped("note: ", p.Why, con.Width()))
	}
	if p.Remedy != "" {
		fmt.Fprint(con.Stdout, console.Wrapped("remedy: ", p.Remedy, con.Width()))
	}
	if len(p.AddFar) > 0 {
		fmt.Fprint(con.Stdout, console.Wrapped("note: ", "the server must listen on all its addresses (0.0.0.0 or ::), not on "+req.Server.String()+" alone", con.Width()))
	}
	fmt.Fprint(con.Stdout, console.Wrapped("", "Nothing has been changed. Both hosts need Linux 5.6 or newer with MPTCP; the lines below need root, and act on connections that are made afterwards.", con.Width()))
}

// subflowSections are the lines of both hosts in the order of use.
func subflowSections(p steer.Subflows, commands map[string]snippet.SubflowCommands) []section {
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
