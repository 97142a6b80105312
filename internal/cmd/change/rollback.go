package change

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/agent/ask"
	"github.com/linerate/linerate/internal/agent/fleet"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/cmd/progress"
	"github.com/linerate/linerate/plan"
	"github.com/linerate/linerate/unit"
)

// NewRollback is `linerate rollback`.
func NewRollback(con *console.Console) *cobra.Command {
	var flags journalFlags
	var wait progress.WaitFlag
	c := &cobra.Command{
		Use: "rollback [HOST|FABRIC] [ID]", Short: "roll back what a change, or a tune, changed",
		Long: `Rolls back what was changed, files too, the last step first: the change that
waits to be confirmed, else all that the newest ` + "`linerate apply`" + ` or
` + "`linerate tune`" + ` changed, on every host of FABRIC. ID names a change or a run;
` + "`linerate journal`" + ` lists both. What somebody else has changed since is left and
named. Without HOST or FABRIC it is this host. A rollback that is cut short is
continued by the next rollback, apply or tune, and at the next boot.

` + console.ExitHelp,
		Example: "  linerate rollback\n  linerate rollback fabric.yaml --dry-run\n  linerate rollback ssh://root@192.0.2.11 20261121T120000.000000Z-abcdef",
	}
	dryRun := c.Flags().Bool("dry-run", false, "show what would be rolled back, change nothing")
	wait.Add(c)
	c.RunE = func(cmd *cobra.Command, args []string) error {
		place, err := flags.place(cmd.Context(), "rollback", args)
		if err != nil {
			return err
		}
		hosts, err := place.open(cmd.Context(), con)
		if err != nil {
			return err
		}
		defer closeAll(hosts)
		var u targets
		if place.id != "" {
			u, err = named(hosts, place.id)
		} else {
			u, err = newest(hosts)
		}
		if err != nil {
			return err
		}
		if *dryRun {
			return showRollback(con, u)
		}
		return rollback(cmd.Context(), con, u, wait)
	}
	flags.add(c)
	c.Flags().Lookup("host").Usage += "; with FABRIC names of its hosts, with commas"
	return c
}

// rolledBack is the document of `rollback --json` for a run or several hosts;
// one entry's is the host's reply.
type rolledBack struct {
	Group      string           `json:"group,omitempty"`
	Title      string           `json:"title,omitempty"`
	RolledBack int              `json:"undone_count"`
	Left       []string         `json:"left"`
	Hosts      []rolledBackHost `json:"hosts"`
}

type rolledBackHost struct {
	Host string `json:"host"`
	agentapi.RollbackReply
}

// rollback puts back host after host; one that fails does not keep the others.
func rollback(ctx context.Context, con *console.Console, u targets, wait progress.WaitFlag) error {
	if err := lockForRun(ctx, con, u, wait); err != nil {
		return err
	}
	doc := rolledBack{Group: u.group, Title: u.title, Left: []string{}}
	var failures []error
	for _, part := range u.parts {
		req := agentapi.RollbackRequest{Group: u.group}
		if u.group == "" {
			req.Journal = part.entries[0].ID
		}
		reply, err := ask.Call(ctx, part.host, agentapi.Rollback, req)
		if err != nil {
			failures = append(failures, noEntry("rollback", req.Journal+req.Group, err))
			continue
		}
		doc.RolledBack += reply.RolledBack
		doc.Left = append(doc.Left, reply.Left...)
		doc.Hosts = append(doc.Hosts, rolledBackHost{part.host.Name, reply})
	}
	if len(failures) == 1 && len(doc.Hosts) == 0 {
		return failures[0]
	}
	if con.JSON && len(failures) == 0 {
		return printRollbackJSON(con, u, doc)
	}
	if !con.JSON {
		printRollback(con, u, doc)
	}
	return errors.Join(failures...)
}

// lockForRun keeps off a run that is still changing the hosts: what it changes
// next would stay. One change of each host can be rolled back while its maker waits
// for the word to keep it.
func lockForRun(ctx context.Context, con *console.Console, u targets, wait progress.WaitFlag) error {
	if u.group == "" || u.oneChange() {
		return nil
	}
	var all []*fleet.Host
	for _, part := range u.parts {
		all = append(all, part.host)
	}
	err := fleet.LockAll(ctx, all, progress.Locking(con, progress.New(con), wait, "rollback", u.group))
	if errors.Is(err, agentapi.ErrBusy) {
		return console.WithHint(err, "end that run first: Ctrl-C there rolls its last step back; --wait waits until it is done")
	}
	return err
}

func printRollbackJSON(con *console.Console, u targets, doc rolledBack) error {
	if u.group == "" && len(doc.Hosts) == 1 {
		reply := doc.Hosts[0]
		return rollbackDocument.Print(con, rolledBackChange{reply, u.parts[0].later()})
	}
	return rollbackRunDocument.Print(con, doc)
}

func printRollback(con *console.Console, u targets, doc rolledBack) {
	if u.group != "" {
		fmt.Fprint(con.Stdout, console.Wrapped("", fmt.Sprintf("%s: %s (%s): %s rolled back on %s", u.group, console.OneLine(runTitle(u.title)), unit.Counted(u.changes(), "change"),
			unit.Counted(doc.RolledBack, "step"), unit.Counted(len(doc.Hosts), "host")), con.Width()))
	}
	for i, h := range doc.Hosts {
		where := ""
		if len(u.parts) > 1 {
			where = h.Host + ": "
		}
		if u.group == "" {
			fmt.Fprintf(con.Stdout, "%s%s: %s rolled back\n", where, h.Journal, unit.Counted(h.RolledBack, "step"))
			printRest(con, u.parts[i])
		}
		for _, left := range h.Left {
			fmt.Fprint(con.Stdout, console.Wrapped(where+"left: ", left, con.Width()))
		}
	}
}

// printRest says what an entry that went back alone was a step of.
func printRest(con *console.Console, p targetPart) {
	for _, text := range p.later() {
		fmt.Fprint(con.Stdout, console.Wrapped("note: ", text, con.Width()))
	}
	e := p.entries[0]
	if e.Group == "" {
		return
	}
	for _, other := range p.standing() {
		if other.Group == e.Group && other.ID != e.ID {
			fmt.Fprint(con.Stdout, console.Wrapped("note: ", fmt.Sprintf("it was a step of %s; the others stay: `linerate rollback %s` rolls them back", console.OneLine(runTitle(e.Title)), e.Group), con.Width()))
			return
		}
	}
}

func (u targets) changes() (n int) {
	for _, p := range u.parts {
		n += len(p.entries)
	}
	return n
}

// shownEntry is one entry of `rollback --dry-run --json`.
type shownEntry struct {
	Journal  string               `json:"journal"`
	State    agentapi.ChangeState `json:"state"`
	Rollback []string             `json:"undo"`
	Files    []string             `json:"files"`
	Later    []string             `json:"later,omitempty"`
}

func wouldRollBack(p targetPart, e agentapi.JournalEntry) shownEntry {
	s := shownEntry{Journal: e.ID, State: e.State, Rollback: []string{}, Files: console.OrEmpty(e.Files)}
	for _, step := range toRollBack(e) {
		s.Rollback = append(s.Rollback, step.Change())
	}
	if len(p.entries) == 1 {
		s.Later = p.later()
	}
	return s
}

// showRollback lists what a rollback would undo, last step first.
func showRollback(con *console.Console, u targets) error {
	if con.JSON {
		return printShown(con, u)
	}
	indent := ""
	if u.group != "" {
		indent = "  "
		fmt.Fprint(con.Stdout, console.Wrapped("", fmt.Sprintf("%s: %s (%s) would be rolled back:", u.group, console.OneLine(runTitle(u.title)), unit.Counted(u.changes(), "change")), con.Width()))
	}
	for _, part := range u.parts {
		where := ""
		if len(u.parts) > 1 {
			where = part.host.Name + ": "
		}
		for _, e := range part.entries {
			end := ""
			if u.group == "" {
				end = " would be rolled back"
			}
			fmt.Fprintf(con.Stdout, "%s%s%s (%s)%s:\n", indent, where, e.ID, e.State, end)
			printReversed(con, indent+"    ", e)
		}
		if u.group == "" {
			printRest(con, part)
		}
	}
	return nil
}

func printReversed(con *console.Console, indent string, e agentapi.JournalEntry) {
	steps := toRollBack(e)
	for _, group := range plan.Together(steps) {
		fmt.Fprint(con.Stdout, console.Wrapped(indent, plan.ChangeTogether(steps, group), con.Width()))
	}
	for _, f := range e.Files {
		fmt.Fprintln(con.Stdout, indent+"file "+f)
	}
}

// printShown prints the document of a rollback that is only shown.
func printShown(con *console.Console, u targets) error {
	if u.group == "" && len(u.parts) == 1 {
		return rollbackShownDocument.Print(con, wouldRollBack(u.parts[0], u.parts[0].entries[0]))
	}
	doc := shownRun{u.group, u.title, []shownHost{}}
	for _, p := range u.parts {
		h := shownHost{Host: p.host.Name}
		for _, e := range p.entries {
			h.Entries = append(h.Entries, wouldRollBack(p, e))
		}
		doc.Hosts = append(doc.Hosts, h)
	}
	return rollbackRunShownDocument.Print(con, doc)
}
