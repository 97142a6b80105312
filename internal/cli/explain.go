package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/linerate/linerate/diagnose"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/record"
)

func newExplain(app *App) *cobra.Command {
	return &cobra.Command{
		Use: "explain RECORD", Short: "what limits each result, with the evidence and the remedy", Args: exactly(1, "one RECORD file"),
		Long:    "Says what limits each result of a record, with the evidence and what to do.\n\n" + exitHelp,
		Example: "  linerate measure fabric.yaml -o record.json && linerate explain record.json",
		RunE: func(_ *cobra.Command, args []string) error {
			r, err := readRecord(args[0])
			if err != nil {
				return err
			}
			findings := explain(r)
			if app.json {
				return app.printJSON(map[string]any{"findings": findings})
			}
			for i, f := range findings {
				if i > 0 {
					fmt.Fprintln(app.Stdout)
				}
				app.printFinding(f)
			}
			return nil
		},
	}
}

// explain judges a record's trials. Those of a run that changed hosts keep
// the finding made in the state they were measured in; only that state knew.
func explain(r record.Record) []record.Finding {
	state := predict.Fabric{Hosts: make(map[string]netstate.Host), Paths: r.Fabric.Paths}
	for _, h := range r.Environment.Hosts {
		state.Hosts[h.Name] = h
	}
	findings := []record.Finding{}
	for _, t := range r.Trials {
		if t.Phase != "" && t.Finding != nil {
			findings = append(findings, *t.Finding)
			continue
		}
		findings = append(findings, diagnose.Trial(state, t))
	}
	return findings
}

func (a *App) printFinding(f record.Finding) {
	phase := ""
	if f.Phase != "" {
		phase = string(f.Phase) + ": "
	}
	noun := "streams"
	if f.Streams == 1 {
		noun = "stream"
	}
	fmt.Fprintf(a.Stdout, "%s%s to %s, %s, %d %s: %v of %v\n", phase, f.From, f.To, f.Direction, f.Streams, noun, f.Rate, f.Ceiling)
	fmt.Fprint(a.Stdout, wrapped("  ", fmt.Sprintf("%s (%s, confidence %.0f %%)", f.Summary, f.Cause, 100*f.Confidence), a.width()))
	for _, e := range f.Evidence {
		fmt.Fprint(a.Stdout, wrapped("    - ", fmt.Sprintf("%s: %s", e.What, e.Value), a.width()))
	}
	if f.Remedy != "" {
		expected := ""
		if f.Expected > 0 {
			expected = fmt.Sprintf(" Expect %v.", f.Expected)
		}
		fmt.Fprint(a.Stdout, wrapped("  To do: ", f.Remedy+"."+expected, a.width()))
	}
}
