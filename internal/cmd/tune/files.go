package tune

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/agent/ask"
	"github.com/linerate/linerate/internal/agent/fleet"
	"github.com/linerate/linerate/internal/cmd/console"
	rendercmd "github.com/linerate/linerate/internal/cmd/render"
	"github.com/linerate/linerate/internal/run/change"
	"github.com/linerate/linerate/plan"
	"github.com/linerate/linerate/render"
	"github.com/linerate/linerate/render/amend"
	"github.com/linerate/linerate/unit"
)

// checkOutputs refuses places for files that cannot be written to, before hosts
// are changed.
func (t *tuneRun) checkOutputs(given func(string) bool) error {
	if given("render-to") && t.flags.render == "" {
		return console.BadUsage("--render-to: goes with --render", "such as --render netplan")
	}
	if t.flags.fabricOut != nowhere {
		// The name that nobody gave is that of the last tune's.
		tuned := console.Output{Path: t.fabricName(), Force: t.flags.out.Force || t.flags.fabricOut == ""}
		if err := tuned.Check("tune --fabric-out", console.FabricFile); err != nil {
			return err
		}
	}
	return t.flags.out.Check("tune -o", console.RecordFile)
}

// fabricName is the file that the tuned fabric goes to.
func (t *tuneRun) fabricName() string {
	if t.flags.fabricOut != "" {
		return t.flags.fabricOut
	}
	ext := filepath.Ext(t.path)
	return strings.TrimSuffix(t.path, ext) + ".tuned" + ext
}

// writeFiles writes what a tune hands over: the user's fabric file with the
// settings in it, each host's files in a format, and on the hosts themselves
// what keeps the settings over a reboot. Without settings there is nothing to
// write.
func (t *tuneRun) writeFiles(ctx context.Context, out *tuneOutcome) error {
	if out.kept() == 0 {
		if t.flags.persist || t.flags.render != "" {
			out.notes = append(out.notes, "no setting is kept: no file is written")
		}
		return nil
	}
	steps, err := t.keptSteps(ctx, out.doc.Group)
	if err != nil {
		return err
	}
	text, unsaid, whole, err := amend.Fabric(t.file, t.file.Text, steps)
	if err != nil {
		return fmt.Errorf("write the tuned fabric: %w", err)
	}
	for _, u := range unsaid {
		out.doc.Unsaid = append(out.doc.Unsaid, u.Words())
		out.notes = append(out.notes, "not in the fabric file: "+console.OneLine(u.Words()))
	}
	if !whole {
		out.notes = append(out.notes, "the fabric file is in a form that had to be written anew, without its comments")
	}
	tuned, err := fabric.Parse(t.file.File, []byte(text))
	if err != nil {
		return fmt.Errorf("read the tuned fabric: %w", err)
	}
	for i := range tuned.Hosts {
		tuned.Hosts[i].Profiles = []string{} // nothing but what was proven
	}
	return errors.Join(t.writeFabric(ctx, text, out), t.renderFiles(ctx, tuned, steps, out), t.persist(ctx, tuned, steps, out))
}

// keptSteps are the steps that the run's confirmed changes made, by host, as
// the hosts' own journals have them.
func (t *tuneRun) keptSteps(ctx context.Context, group string) (map[string][]plan.Step, error) {
	steps := map[string][]plan.Step{}
	for _, name := range []string{t.options.Path.From, t.options.Path.To} {
		h, _ := t.file.Host(name)
		host, err := fleet.Dial(ctx, name, h.Reach, t.con.Fleet(t.flags.journal))
		if err != nil {
			return nil, err
		}
		reply, err := ask.Call(ctx, host, agentapi.Journal, agentapi.Empty{})
		host.Close()
		if err != nil {
			return nil, err
		}
		steps[name] = confirmedSteps(reply, group)
	}
	return steps, nil
}

func confirmedSteps(journal agentapi.JournalReply, group string) []plan.Step {
	var steps []plan.Step
	for _, e := range journal.Entries {
		if e.Group != group || e.State != agentapi.ChangeConfirmed {
			continue
		}
		for _, s := range e.Steps {
			steps = append(steps, s.Step)
		}
	}
	return steps
}

// nowhere is the word for no tuned fabric file.
const nowhere = "none"

// writeFabric writes the tuned fabric beside the user's, or where the flag
// says.
func (t *tuneRun) writeFabric(ctx context.Context, text string, out *tuneOutcome) error {
	if t.flags.fabricOut == nowhere {
		return nil
	}
	name := t.fabricName()
	if err := console.WriteFile(ctx, name, []byte(text)); err != nil {
		return err
	}
	out.doc.Fabric = name
	out.notes = append(out.notes, "written: "+name+", the fabric file with these settings")
	return nil
}

// renderFiles writes the files of each host that was changed, below a
// directory of its name. Files that are there are changed in place.
func (t *tuneRun) renderFiles(ctx context.Context, tuned fabric.Fabric, steps map[string][]plan.Step, out *tuneOutcome) error {
	if t.flags.render == "" {
		return nil
	}
	format := render.Format(t.flags.render)
	if t.flags.renderTo != "" {
		if err := console.MkDir("tune --render-to", t.flags.renderTo); err != nil {
			return err
		}
	}
	for _, h := range tuned.Hosts {
		if len(steps[h.Name]) == 0 {
			continue
		}
		dir := filepath.Join(t.flags.renderTo, h.Name)
		in, _, err := rendercmd.InputOf(tuned, h.Name)
		if err != nil {
			return fmt.Errorf("render %s: %w", h.Name, err)
		}
		if in.Old, err = rendercmd.OldFiles(dir, format); err != nil {
			return err
		}
		made, err := rendercmd.Whole(format, in)
		if err != nil {
			return fmt.Errorf("render %s: %w", h.Name, err)
		}
		rendercmd.PrintWarnings(t.con, made.Warnings)
		if err := rendercmd.WriteBelow(ctx, dir, made.Files, true); err != nil {
			return err
		}
		for _, f := range made.Files {
			out.doc.Rendered = append(out.doc.Rendered, rendercmd.Below(dir, f.Path))
			out.notes = append(out.notes, "written: "+rendercmd.Below(dir, f.Path))
		}
	}
	return nil
}

// persist writes what is kept to the hosts' own files, as one more change of
// the run, so that the same rollback rolls it back. A file that wants more of a
// host than the tune set is not applied here.
func (t *tuneRun) persist(ctx context.Context, tuned fabric.Fabric, steps map[string][]plan.Step, out *tuneOutcome) error {
	if !t.flags.persist {
		return nil
	}
	var hosts []string
	for _, h := range tuned.Hosts {
		if len(steps[h.Name]) > 0 {
			hosts = append(hosts, h.Name)
		}
	}
	c, err := change.Open(ctx, change.Config{
		Fabric: tuned, Only: hosts, Profiles: []string{}, Persist: cmp.Or(t.format, change.PersistAlways), Roots: t.roots, Fleet: t.con.Fleet(t.flags.journal),
	})
	if err != nil {
		return notPersisted(err, out)
	}
	defer c.Close()
	for _, h := range c.Hosts() {
		if n := len(h.Plan.Steps); n > 0 {
			return notPersisted(fmt.Errorf("the file wants %s of %s that the tune did not make, such as %s", unit.Counted(n, "more step"), h.Name, h.Plan.Steps[0].Change()), out)
		}
		if len(h.Plan.Files) == 0 {
			out.notes = append(out.notes, fmt.Sprintf("%s: nothing is written: %s", h.Name, cmp.Or(h.PersistWhy, "its files say all of it already")))
		}
	}
	done, err := c.Apply(ctx, change.Options{Group: out.doc.Group, Title: t.options.Title})
	if err == nil && !done.Confirmed {
		err = c.Keep(&done) // the settings themselves were proven from both ends
	}
	if err != nil {
		return notPersisted(err, out)
	}
	for _, h := range c.Hosts() {
		for _, f := range h.Plan.Files {
			out.doc.Persisted = append(out.doc.Persisted, h.Name+": "+f.Path)
		}
	}
	return nil
}

// notPersisted says that the settings hold, and only until the next reboot.
func notPersisted(err error, out *tuneOutcome) error {
	hint := ""
	if out.doc.Fabric != "" {
		hint = "`linerate plan " + out.doc.Fabric + "` shows what the file wants, `linerate apply` makes it so"
	}
	return console.WithHint(fmt.Errorf("tune: the settings are kept, but only until the next reboot: %w", err), hint)
}
