package change

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/host/apply"
	"github.com/linerate/linerate/internal/run/change"
	"github.com/linerate/linerate/unit"
)

// waveFlags say in how many goes the hosts of a fleet change.
type waveFlags struct {
	canaries []string
	size     int
}

func (f *waveFlags) add(c *cobra.Command) {
	c.Flags().StringSliceVar(&f.canaries, "canary", nil, "change these hosts first, and the others only when that is\nproven and confirmed")
	c.Flags().IntVar(&f.size, "wave", 0, "then so many hosts at a time (default: all the others)")
}

// any reports that the hosts are to change in waves.
func (f *waveFlags) any() bool { return len(f.canaries) > 0 || f.size != 0 }

func (f *waveFlags) check(unconfirmed bool) error {
	switch {
	case f.size < 0:
		return console.BadUsage(fmt.Sprintf("--wave: want a number of hosts, not %d", f.size), "")
	case f.any() && unconfirmed:
		return console.BadUsage("--no-confirm: a wave is begun when the one before is confirmed", "leave --canary and --wave out")
	}
	return nil
}

// of are the waves that the flags ask for; none where they ask for none.
func (f *waveFlags) of(c *change.Change) ([][]string, error) {
	if !f.any() {
		return nil, nil
	}
	waves, err := c.Waves(f.canaries, f.size)
	if errors.Is(err, change.ErrWaves) {
		return nil, console.BadUsage("--canary: "+err.Error(), "name hosts that the plan changes")
	}
	return waves, err
}

func printWaves(con *console.Console, waves [][]string) {
	if len(waves) == 0 || con.JSON && con.Quiet {
		return
	}
	out := con.Stdout
	if con.JSON {
		out = con.Stderr
	}
	for i, hosts := range waves {
		fmt.Fprint(out, console.Wrapped(fmt.Sprintf("wave %d of %d: ", i+1, len(waves)), strings.Join(hosts, ", "), con.Width()))
	}
}

// applyWaves carries the waves out. What was confirmed stays when a later one
// fails: the error's hint rolls it back.
func applyWaves(ctx context.Context, con *console.Console, c *change.Change, plans []plannedHost, waves [][]string, o change.Options, file fabric.Fabric, journal string) error {
	o.Group = change.GroupName(time.Now())
	o.Title = console.RunTitle(wavesTitle, file.File)
	undo := rollbackLine(c, file, journal, o.Group)
	done, err := c.ApplyWaves(ctx, waves, o)
	if errors.Is(err, apply.ErrPending) {
		return console.WithHint(err, pendingHint(c, journal))
	}
	if err != nil {
		return console.WithHint(err, wavesHint(done, undo))
	}
	if con.JSON {
		return applyDocument.Print(con, wavesDocument(plans, done, o.Group, undo))
	}
	steps, hosts := 0, 0
	for _, w := range done {
		for _, h := range w.Hosts {
			steps += h.Applied
		}
		hosts += changedHosts(w.Outcome)
	}
	fmt.Fprintf(con.Stdout, "changed and confirmed in %s: %s on %s\n", unit.Counted(len(done), "wave"), unit.Counted(steps, "step"), unit.Counted(hosts, "host"))
	fmt.Fprintf(con.Stdout, "to roll it back:\n  %s\n", undo)
	return nil
}

// wavesHint says what stands after a wave that failed, and how it goes back.
func wavesHint(done []change.WaveOutcome, undo string) string {
	var kept, left []string
	for _, w := range done {
		switch {
		case w.Confirmed:
			kept = append(kept, w.Names...)
		case !w.Begun:
			left = append(left, w.Names...)
		}
	}
	var words []string
	if len(left) > 0 {
		words = append(words, "not begun: "+strings.Join(left, ", "))
	}
	if len(kept) > 0 {
		words = append(words, fmt.Sprintf("kept on %s, `%s` rolls that back", strings.Join(kept, ", "), undo))
	}
	return strings.Join(words, "; ")
}

func wavesDocument(plans []plannedHost, done []change.WaveOutcome, group, undo string) applied {
	doc := applied{Plans: plans, Hosts: []change.HostOutcome{}, Proofs: []change.Proved{}, Confirmed: true, Group: group, Rollback: undo}
	for _, w := range done {
		doc.Waves = append(doc.Waves, appliedWave{w.Names, w.Begun, w.Confirmed})
		doc.Hosts = append(doc.Hosts, w.Hosts...)
		doc.Proofs = append(doc.Proofs, w.Proofs...)
		doc.Confirmed = doc.Confirmed && w.Confirmed
	}
	return doc
}

// appliedWave is one wave in the document of `apply --json`.
type appliedWave struct {
	Hosts     []string `json:"hosts"`
	Begun     bool     `json:"begun"`
	Confirmed bool     `json:"confirmed"`
}
