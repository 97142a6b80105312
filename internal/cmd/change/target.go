package change

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/agent/ask"
	"github.com/linerate/linerate/internal/agent/fleet"
	"github.com/linerate/linerate/internal/bondopt"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/plan"
)

// journalPlace is what rollback and journal are about: hosts, and of rollback
// an entry or a run.
type journalPlace struct {
	flags  *journalFlags
	fabric *fabric.Fabric // nil: one host, by its reach
	reach  string
	id     string
}

// place sorts out [ID] and [HOST|FABRIC], in any order: a fabric is a file, a
// host is written as it is reached.
func (f *journalFlags) place(ctx context.Context, command string, args []string) (journalPlace, error) {
	p := journalPlace{flags: f, reach: f.host}
	where := ""
	for _, arg := range args {
		info, err := os.Stat(arg)
		isFile := err == nil && !info.IsDir() || strings.HasSuffix(arg, ".yaml") || strings.HasSuffix(arg, ".yml")
		if !isFile && !strings.Contains(arg, ":") {
			if p.id != "" {
				return p, console.BadUsage(command+": want one ID at most, not "+p.id+" and "+arg, "`linerate journal` lists them")
			}
			p.id = arg
			continue
		}
		if where != "" {
			return p, console.BadUsage(command+": want one HOST or FABRIC at most, not "+where+" and "+arg, "")
		}
		where = arg
		if !isFile {
			p.reach = arg
			continue
		}
		file, err := console.ReadFabric(ctx, arg)
		if err != nil {
			return p, err
		}
		p.fabric = &file
	}
	return p, nil
}

// kept is one host with its journal.
type kept struct {
	host    *fleet.Host
	reach   string
	journal agentapi.JournalReply
}

// open reaches the hosts and reads their journals: all of them, or it is an
// error.
func (p journalPlace) open(ctx context.Context, con *console.Console) ([]kept, error) {
	names, reaches, err := p.hosts(con)
	if err != nil {
		return nil, err
	}
	var out []kept
	var failures []error
	read := 0
	cfg := con.Fleet(p.flags.dir)
	for i, name := range names {
		cfg.Fresh = !strings.HasPrefix(reaches[i], "nats:") // on NATS one connection, made now, serves all
		h, err := fleet.Dial(ctx, name, reaches[i], cfg)
		if err != nil {
			failures = append(failures, err)
			continue
		}
		k := kept{host: h, reach: reaches[i]}
		if k.journal, err = ask.Call(ctx, h, agentapi.Journal, agentapi.Empty{}); err != nil {
			failures = append(failures, err)
		} else {
			read++
		}
		out = append(out, k)
	}
	if len(failures) > 0 {
		closeAll(out)
		err := errors.Join(failures...)
		if read > 0 {
			return nil, console.WithHint(err, "nothing was touched; --host takes the names of those that are to go on without the others")
		}
		return nil, err
	}
	return out, nil
}

// hosts are the names of the hosts and how each is reached.
func (p journalPlace) hosts(con *console.Console) (names, reaches []string, err error) {
	if p.fabric == nil {
		t, err := con.Target(p.reach)
		return []string{t.Name}, []string{t.Reach}, err
	}
	var only []string
	if p.flags.host != defaultHost {
		only = strings.Split(p.flags.host, ",")
	}
	for _, name := range only {
		if _, err := console.ChosenHost("--host", *p.fabric, name); err != nil {
			return nil, nil, err
		}
	}
	for _, h := range p.fabric.Hosts {
		if h.Reach != "" && !bondopt.Foreign(h.System) && (only == nil || slices.Contains(only, h.Name)) {
			names, reaches = append(names, h.Name), append(reaches, h.Reach)
		}
	}
	if len(names) == 0 {
		return nil, nil, console.BadUsage(p.fabric.File+": no host of it says how to reach it", "add `reach: ssh://root@HOST` (or local:, netns:NAME)")
	}
	return names, reaches, nil
}

func closeAll(hosts []kept) {
	for _, k := range hosts {
		k.host.Close()
	}
}

// undoing is what is to go back, on one host after the other.
type targets struct {
	// group is the run that goes back whole; "" is one entry a host.
	group, title string
	parts        []targetPart
}

// oneChange reports a run that changed each host once, as apply does without waves:
// nothing of it follows.
func (u targets) oneChange() bool {
	return strings.HasPrefix(u.title, applyTitle+" ") && !strings.HasPrefix(u.title, wavesTitle)
}

// targetPart is one host's entries, the newest first.
type targetPart struct {
	kept
	entries []agentapi.JournalEntry
}

// standing are a host's entries that are not taken back yet, newest first.
func (k kept) standing() []agentapi.JournalEntry {
	var out []agentapi.JournalEntry
	for _, e := range slices.Backward(k.journal.Entries) {
		if e.State != agentapi.ChangeRolledBack {
			out = append(out, e)
		}
	}
	return out
}

// named is what an ID says: an entry, or a run. An entry that is back already
// is named too: the host says so.
func named(hosts []kept, id string) (targets, error) {
	u, known := targets{}, false
	for _, k := range hosts {
		for _, e := range k.journal.Entries {
			if e.ID == id {
				return targets{parts: []targetPart{{k, []agentapi.JournalEntry{e}}}}, nil
			}
			known = known || e.Group == id
		}
	}
	if !known {
		return u, noEntry("rollback", id, os.ErrNotExist)
	}
	u = ofRun(hosts, id)
	if len(u.parts) == 0 {
		return u, console.WithHint(fmt.Errorf("roll back %s: it is rolled back already", id), "`linerate journal` says what became of it")
	}
	return u, nil
}

// ofRun is all that a run changed and that still stands.
func ofRun(hosts []kept, group string) targets {
	u := targets{group: group}
	for _, k := range hosts {
		part := targetPart{kept: k}
		for _, e := range k.standing() {
			if e.Group == group {
				part.entries, u.title = append(part.entries, e), e.Title
			}
		}
		if len(part.entries) > 0 {
			u.parts = append(u.parts, part)
		}
	}
	return u
}

// askedOn names the hosts that were asked.
func askedOn(hosts []kept) string {
	var names []string
	for _, k := range hosts {
		if k.reach == "local:" && len(hosts) == 1 {
			return "here"
		}
		names = append(names, k.host.Name)
	}
	return "on " + strings.Join(names, ", ")
}

// newest is what goes back when nothing is named: the change that waits, with
// the run that it is a step of, else the newest run. A change by itself that is
// confirmed has to be named.
func newest(hosts []kept) (targets, error) {
	var last agentapi.JournalEntry
	var waiting []targetPart
	older := ""
	for _, k := range hosts {
		for i, e := range k.standing() {
			if i == 0 && e.Pending && e.Group == "" {
				waiting = append(waiting, targetPart{k, []agentapi.JournalEntry{e}})
			}
			if i == 0 && (last.ID == "" || e.Pending && !last.Pending || e.Pending == last.Pending && e.Started.After(last.Started)) {
				last = e
			}
			if older == "" {
				older = e.Group
			}
		}
	}
	switch {
	case last.Group != "":
		return ofRun(hosts, last.Group), nil
	case last.Pending:
		return targets{parts: waiting}, nil
	}
	const lists = "`linerate journal` lists all; --host says on which host, and `linerate rollback FABRIC` asks those of a fabric file"
	if last.ID == "" {
		return targets{}, console.BadUsage("rollback: nothing to roll back "+askedOn(hosts)+": no change is in force", lists)
	}
	hint := "name it to roll it back; " + lists
	if older != "" {
		hint = "name it to roll it back, or the run before it, " + older
	}
	return targets{}, console.BadUsage("rollback: no change waits to be confirmed "+askedOn(hosts)+"; the last one is "+last.ID, hint)
}

// later are the changes after an entry that stand and are about the same: what
// they set stays when it goes back.
func (p targetPart) later() []string {
	e := p.entries[len(p.entries)-1]
	targets := map[string]bool{}
	for _, s := range e.Steps {
		targets[s.Step.Target()] = true
	}
	var out []string
	for _, other := range p.standing() {
		if other.ID <= e.ID {
			break
		}
		for _, s := range other.Steps {
			if targets[s.Step.Target()] {
				out = append(out, fmt.Sprintf("%s has set %s since: that stays as it is", other.ID, s.Step.Target()))
			}
		}
	}
	return slices.Compact(out)
}

// undone are the steps that going back would undo, last first.
func toRollBack(e agentapi.JournalEntry) []plan.Step {
	var steps []plan.Step
	for _, s := range slices.Backward(e.Steps) {
		if s.Progress == agentapi.StepDone || s.Progress == agentapi.StepBegun {
			steps = append(steps, s.Step.Rollback())
		}
	}
	return steps
}
