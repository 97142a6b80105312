package lab

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/cmd/progress"
	"github.com/linerate/linerate/internal/lab"
	"github.com/linerate/linerate/internal/lab/scenario"
	"github.com/linerate/linerate/internal/lab/scenariorun"
	"github.com/linerate/linerate/record"
)

// labNetwork is what a lab can be built of: a network of the lab's own, or one
// that a file declares.
type labNetwork struct {
	Built *lab.Scenario
	file  *scenario.Scenario
	text  []byte // of the file
	// argument names it to a second run of this program.
	argument string
	path     string // "" of the program's own
}

// Find finds the scenario named, or reads the file.
func Find(ctx context.Context, name string) (labNetwork, error) {
	if ext := filepath.Ext(name); ext == ".yaml" || ext == ".yml" {
		return readLab(ctx, name)
	}
	if s, ok := lab.Named(name); ok {
		return labNetwork{Built: &s, argument: name}, nil
	}
	s, ok, err := scenario.Named(name)
	if err != nil {
		return labNetwork{}, err
	}
	if !ok {
		return labNetwork{}, unknownLab(name)
	}
	text, err := scenario.Source(name + ".yaml")
	if err != nil {
		return labNetwork{}, err
	}
	return labNetwork{file: &s, text: text, argument: name}, nil
}

func readLab(ctx context.Context, name string) (labNetwork, error) {
	path, err := filepath.Abs(name)
	if err != nil {
		return labNetwork{}, fmt.Errorf("find %s: %w", name, err)
	}
	text, err := console.ReadNamed(ctx, "read scenario", name, console.MostFabric)
	if err != nil {
		return labNetwork{}, err
	}
	s, err := scenario.Parse(name, text)
	if err != nil {
		return labNetwork{}, err
	}
	return labNetwork{file: &s, text: text, argument: path, path: path}, nil
}

func unknownLab(name string) error {
	var names []string
	for _, s := range lab.Scenarios() {
		names = append(names, s.Name)
	}
	files, err := scenario.Builtin()
	for _, s := range files {
		names = append(names, s.Name)
	}
	return errors.Join(console.BadUsage("unknown scenario "+name, "the scenarios are "+strings.Join(names, ", ")+"; a fabric file's name ends in .yaml"), err)
}

// place is the user's word on where the lab stands, and where there is none the
// scenario's.
func (n labNetwork) place(asked Place) Place {
	if n.file == nil {
		return asked
	}
	asked.needs, asked.wants = n.file.Needs(), n.file.Wants()
	if asked.backEnd == string(lab.Auto) && asked.kernel == "" {
		asked.backEnd, asked.kernel = n.file.BackEnd, n.file.Kernel
	}
	return asked
}

// files are what a lab kernel must be given to see the network.
func (n labNetwork) files() []string {
	if n.path == "" {
		return nil
	}
	return []string{n.path}
}

// name is the scenario's.
func (n labNetwork) name() string {
	if n.file == nil {
		return n.Built.Name
	}
	return n.file.Name
}

// Blueprint is what the lab builds.
func (n labNetwork) Blueprint() lab.Blueprint {
	if n.file == nil {
		return lab.Blueprint{Topology: &n.Built.Net}
	}
	return lab.Blueprint{File: &lab.File{Name: n.argument, Text: string(n.text)}}
}

// scenarioOf is how a scenario is run.
type scenarioOf struct {
	whatIf string
	window time.Duration // of every measurement; zero is the scenario's
	full   bool          // the scenario's windows are those that take their time
	out    string        // file for the rows; "" none
	part   part          // of the scenario that is run; zero is all
}

// of is the scenario as it is run.
func (how scenarioOf) of(s scenario.Scenario) scenario.Scenario {
	if how.full {
		s = s.InFull()
	}
	if how.window > 0 {
		s = s.Windowed(how.window)
	}
	if how.part.of > 1 {
		s = s.Parts(how.part.of)[how.part.number-1]
	}
	return s
}

// again are the arguments of another run of this program that runs a scenario so.
func (how scenarioOf) again(con *console.Console) []string {
	args := append([]string{"lab", "run"}, FlagsAgain(con)...)
	if how.window > 0 {
		args = append(args, "--duration", how.window.String())
	}
	if how.full {
		args = append(args, "--full")
	}
	if how.whatIf != "" {
		args = append(args, "--what-if", how.whatIf)
	}
	if how.part.of > 1 {
		args = append(args, "--part", how.part.String())
	}
	return args
}

// scenarioDocument is what `lab run --json` prints of a file's scenario.
type scenarioDocument struct {
	Scenario string                   `json:"scenario"`
	BackEnd  lab.BackEnd              `json:"back_end"`
	Kernel   string                   `json:"kernel"`
	Scale    float64                  `json:"scale"`
	Slow     float64                  `json:"slow,omitempty"`
	Tools    map[scenario.Tool]string `json:"tools"`
	Rows     []scenario.Row           `json:"rows"`
	Findings []record.Finding         `json:"findings"`
	Notes    []string                 `json:"notes"`
	LeftOut  []scenario.LeftOut       `json:"left_out,omitempty"`
}

// runScenario runs a scenario of a file. What was measured is printed also when
// the run ends early.
func runScenario(ctx context.Context, con *console.Console, s scenario.Scenario, choice lab.Choice, how scenarioOf) error {
	s = how.of(s)
	p := progress.New(con)
	p.Stage("build %s (%s: %s; %s)", s.Name, choice.BackEnd, choice.Why, scenario.ScaleText(s.Scale, s.Slow))
	if err := removeJournal(); err != nil { // a killed run's
		return err
	}
	result, err := scenariorun.Run(ctx, scenariorun.Config{
		Scenario: s, WhatIf: how.whatIf, Version: con.Version, BackEnd: string(choice.BackEnd), BackEndWhy: choice.Why, JournalDir: console.LabJournal,
		Logger: con.Logger(), Tell: func(e scenariorun.Progress) { rowLine(p, e) }, Locking: progress.Locking(con, p, progress.WaitFlag{}, "lab run", s.Name),
	})
	err = errors.Join(withPackage(err), removeJournal())
	if err != nil && len(result.Rows) == 0 {
		return err
	}
	doc := scenarioDocument{s.Name, choice.BackEnd, result.Kernel, s.Scale, s.Slow, result.Tools, listed(result.Rows), listed(result.Findings), listed(result.Notes), result.LeftOut}
	return showScenario(ctx, con, doc, how.out, how.part.of > 1, err)
}

func listed[T any](all []T) []T {
	if all == nil {
		return []T{}
	}
	return all
}

// withPackage says which package a missing program is in.
func withPackage(err error) error {
	if missing := (*scenariorun.MissingError)(nil); errors.As(err, &missing) {
		return console.WithHint(err, "install the package "+missing.Package)
	}
	return err
}

// rowLine prints a step or a row as it comes.
func rowLine(p *progress.Progress, e scenariorun.Progress) {
	switch {
	case e.Tried != nil:
		word := "rolled back"
		if e.Tried.Kept {
			word = "kept"
		}
		line := fmt.Sprintf("        %-8s %s", word, console.OneLine(e.Tried.Change))
		if !e.Tried.Kept && e.Tried.Verdict != "" {
			line += ": " + console.OneLine(e.Tried.Verdict)
		}
		p.Say("%s", line)
		return
	case e.Row == nil:
		p.Stage("%s", e.Step)
		return
	}
	p.Say("%2d/%d %s", e.Done, e.Total, scenario.Line(*e.Row))
}
