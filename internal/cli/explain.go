package cli

import (
	"github.com/spf13/cobra"

	diagnosetrial "github.com/linerate/linerate/diagnose/trial"
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

// oneRecord wants the one file, and names what needs none.
func oneRecord(_ *cobra.Command, args []string) error {
	if len(args) == 1 {
		return nil
	}
	return usage("explain: want one RECORD file", "`linerate measure FABRIC -o record.json` makes one; `linerate explain --live` needs none: it looks at the traffic of now")
}

func newExplain(app *App) *cobra.Command {
	return &cobra.Command{
		Use: "explain RECORD", Short: "what limits each result, with the evidence and the remedy", Args: oneRecord,
		Long:    explainHelp + explainProbeHelp + liveHelp + exitHelp + "\nFindings are no failure: 0 whatever they say.",
		Example: "  linerate measure fabric.yaml -o record.json && linerate explain record.json",
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := readRecord(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			findings := explain(r)
			if app.json {
				return app.printJSON(map[string]any{"findings": findings})
			}
			app.printFindings(r, findings)
			return nil
		},
	}
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
	return diagnosetrial.Decide(state, diagnosetrial.Judge(state, t), t, r.ProbesOf(t))
}
