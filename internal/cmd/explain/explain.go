// Package explain is `linerate explain`: what limits a result, or the traffic of now.
package explain

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/linerate/linerate/diagnose"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/record"
)

const explainHelp = `Says what limits each result of a record: the cause, the evidence for it and
against it, what to do, what that should gain, and what is next in line. RECORD
is what measure, tune or demo wrote, or what iperf3 -J or iperf -y C did (which
say less, so that less is certain). Only the file is read: nothing is sent, no
host is asked, and anybody may do it.

`

// opts are the flags of explain.
type opts struct {
	con   *console.Console
	probe probeFlags
	live  liveFlags
}

// New is `linerate explain`.
func New(con *console.Console) *cobra.Command {
	o := opts{con: con}
	c := &cobra.Command{
		Use: "explain RECORD | --live [HOST]", Short: "what limits each result, with the evidence and the remedy",
		Long: explainHelp + probeHelp + liveHelp + console.ExitHelp + "\nFindings are no failure: 0 whatever they say.",
		Example: `  linerate measure fabric.yaml -o record.json && linerate explain record.json
  linerate explain record.json --probe --yes -o settled.json
  linerate explain --live
  linerate explain --live ssh://root@192.0.2.11 --duration 30s`,
		Args: o.args,
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), args) },
	}
	o.probe.add(c)
	o.live.add(c)
	return c
}

// args refuses flags that do not go together, and what is neither one record nor,
// with --live, one host.
func (o *opts) args(cmd *cobra.Command, args []string) error {
	if o.live.on {
		return o.live.check(cmd, args)
	}
	switch {
	case cmd.Flags().Changed("duration") || cmd.Flags().Changed("flows"):
		return console.BadUsage("explain: --duration and --flows are about traffic that is watched", "say --live, or leave them out")
	case len(args) != 1:
		return console.BadUsage("explain: want one RECORD file", "`linerate measure FABRIC -o record.json` makes one; `linerate explain --live` needs none: it looks at the traffic of now")
	case !o.probe.on && (o.probe.yes || o.probe.out.Path != "" || o.probe.out.Force):
		return console.BadUsage("explain: --yes, --output and --force are about probes", "say --probe, or leave them out")
	}
	return nil
}

func (o *opts) run(ctx context.Context, args []string) error {
	if o.live.on {
		return explainLive(ctx, o.con, append(args, "local:")[0], o.live)
	}
	r, err := console.ReadRecord(ctx, args[0])
	if err != nil {
		return err
	}
	if o.probe.on {
		return explainProbe(ctx, o.con, args[0], r, o.probe)
	}
	findings := explain(r)
	if o.con.JSON {
		return o.con.PrintJSON(map[string]any{"findings": findings})
	}
	printFindings(o.con, r, findings)
	return nil
}

// explain judges a record's trials. Those of a run that changed hosts keep
// the finding made in the state they were measured in; only that state knew.
func explain(r record.Record) []record.Finding {
	findings := []record.Finding{}
	for _, t := range r.Trials {
		if _, _, probe := t.Probe(); !probe {
			findings = append(findings, findingOf(r, t))
		}
	}
	return findings
}

// findingOf judges one trial of a record, with the probes that were made for it.
func findingOf(r record.Record, t record.Trial) record.Finding {
	if t.Phase != "" && t.Finding != nil {
		return *t.Finding
	}
	state := predict.Fabric{Hosts: make(map[string]netstate.Host), Paths: r.Fabric.Paths}
	for _, h := range r.Environment.Hosts {
		state.Hosts[h.Name] = h
	}
	return diagnose.Decide(state, diagnose.Trial(state, t), t, r.ProbesOf(t))
}
