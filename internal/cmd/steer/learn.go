package steer

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/fabric/describe"
	"github.com/linerate/linerate/fabric/yamldoc"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/agent/fleet"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/cmd/progress"
	"github.com/linerate/linerate/internal/run/probe"
	"github.com/linerate/linerate/steer/affine"
	"github.com/linerate/linerate/unit"
)

const learnHelp = `With --learn it finds the switch's exact hash instead, for connections either
way. A CRC or an XOR over 2, 4 or 8 links is fixed by about 20 connections;
32 more check it. Any other hash is refused, with the reason, and the set is
looked for as without --learn. --fabric FILE -o NEW writes what was learned
into the path of the file: predict, measure and tune then choose ports by it,
and so does steer pick --learned NEW.
`

// checkLearn refuses flags that --learn gives no meaning.
func (f *probeFlags) checkLearn() error {
	switch {
	case f.out.Path == "":
		return nil
	case !f.learn:
		return console.BadUsage("steer probe: -o is for what --learn finds", "add --learn, or leave out -o")
	case f.fabric == "":
		return console.BadUsage("steer probe: -o writes the file that --fabric names", "add --fabric FILE")
	}
	return f.out.Check("steer probe -o", console.FabricFile)
}

// shownLearn is the document of `linerate steer probe --learn --json`.
type shownLearn struct {
	A       string              `json:"a"`
	B       string              `json:"b"`
	Learned []flow.LearnedHash  `json:"learned"`
	Refused []probe.LearnedSide `json:"refused"`
	// Unsteady are flows that were seen on two links, though the hash was learned.
	Unsteady []affine.Unsteady `json:"unsteady,omitempty"`
	Probes   int               `json:"probes_count"`
	Sent     unit.Bytes        `json:"sent_bytes"`
	Notes    []string          `json:"notes,omitempty"`
	File     string            `json:"file,omitempty"`
	// Survey is the set that was found where something was refused.
	Survey *shownProbe `json:"survey,omitempty"`
}

// steerLearn learns the hash towards both hosts, for connections either way.
func steerLearn(ctx context.Context, con *console.Console, p *progress.Progress, flags probeFlags, cfg probe.Config, file fabric.Fabric, hosts []*fleet.Host) error {
	shown := shownLearn{A: cfg.A.Host.Name, B: cfg.B.Host.Name, Learned: []flow.LearnedHash{}, Refused: []probe.LearnedSide{}}
	there, back := cfg, cfg
	if flags.sport == "" {
		there.Ports = probe.LearnPorts(cfg.Dport)
	}
	back.A, back.B, back.Ports, back.Avoid, back.Lanes = cfg.B, cfg.A, there.Ports, heldPorts(ctx, hosts[1]), nil
	for _, l := range cfg.Lanes {
		back.Lanes = append(back.Lanes, l.Reverse())
	}
	p.Say("%s", strings.TrimRight(console.Wrapped("        ", fmt.Sprintf("about %d connections each way to port %d, at most %v down each; nothing is changed", affine.Checks+20, there.Dport, there.Size), con.Width()), "\n"))
	var failed error
	for i, way := range []probe.Config{there, back} {
		from, to := way.A.Host.Name, way.B.Host.Name
		p.Stage("learn from connections of %s to %s", from, to)
		way.Progress = func(l probe.Look) { p.Say("%s", lookLine(l)) }
		report, err := probe.Learn(ctx, way)
		shown.Probes, shown.Sent = shown.Probes+report.Probes, shown.Sent+report.Sent
		for _, note := range report.Notes {
			shown.Notes = append(shown.Notes, from+" to "+to+": "+note)
		}
		for _, side := range report.Sides {
			if side.Hash == nil {
				shown.Refused = append(shown.Refused, side)
				continue
			}
			side.Hash.Date = time.Now().UTC().Format(time.DateOnly)
			shown.Learned = append(shown.Learned, *side.Hash)
			shown.Unsteady = append(shown.Unsteady, side.Unsteady...)
		}
		switch {
		case err == nil:
		case ctx.Err() != nil && len(shown.Learned) > 0:
			failed = err // what was learned is worth showing
		case ctx.Err() != nil || i == 0:
			if errors.Is(err, probe.ErrPortUse) {
				err = console.WithHint(err, "name the port that the application will use, or a free one, with --dport")
			}
			return err
		default: // a firewall against the answers leaves what was learned
			shown.Notes = append(shown.Notes, "nothing was learned from connections of "+from+" to "+to+": "+err.Error())
		}
	}
	if err := keepLearned(context.WithoutCancel(ctx), flags, file, &shown); err != nil {
		return errors.Join(failed, err)
	}
	if failed != nil {
		if !con.JSON {
			printLearned(con, shown)
		}
		return failed
	}
	var survey error
	if len(shown.Refused) > 0 {
		if !con.JSON {
			printLearned(con, shown)
		}
		cfg.Progress = func(l probe.Look) { p.Say("%s", lookLine(l)) }
		report, err := probe.Run(ctx, cfg)
		if survey = err; err == nil {
			shown.Survey = &shownProbe{report, report.Letter()}
		}
		if err == nil && !con.JSON {
			return printProbe(con, report)
		}
	}
	switch {
	case survey != nil:
		return survey
	case con.JSON:
		return learnDocument.Print(con, shown)
	}
	printLearned(con, shown)
	return nil
}

// keepLearned writes what was learned into the fabric file, where one is named.
func keepLearned(ctx context.Context, flags probeFlags, file fabric.Fabric, shown *shownLearn) error {
	switch {
	case flags.out.Path == "":
		return nil
	case len(shown.Learned) == 0:
		shown.Notes = append(shown.Notes, "nothing was learned, and "+flags.out.Path+" is not written")
		return nil
	}
	text, kept, err := describe.WithLearned(file, shown.A, shown.B, shown.Learned)
	if err != nil {
		return console.WithHint(err, "write `- {between: ["+shown.A+", "+shown.B+"]}` under paths")
	}
	if !kept {
		shown.Notes = append(shown.Notes, "the file had to be written anew, without its comments")
	}
	shown.File = flags.out.Path
	return console.WriteFile(ctx, flags.out.Path, []byte(text))
}

func printLearned(con *console.Console, s shownLearn) {
	if len(s.Learned)+len(s.Refused) == 0 {
		fmt.Fprint(con.Stdout, console.Wrapped("", fmt.Sprintf("no switch chooses a link of %s or %s: nothing to learn", s.A, s.B), con.Width()))
		return
	}
	fmt.Fprint(con.Stdout, console.Wrapped("", fmt.Sprintf("%d connections between %s and %s, %v sent", s.Probes, s.A, s.B, s.Sent), con.Width()))
	for _, l := range s.Learned {
		rule := affine.Rule{LearnedHash: l}
		text := fmt.Sprintf("learned from %d connections, %d more were where they had to be; ports %v reach %d of %d links", l.Observed, l.Checked, l.Ports, rule.Reached(), len(l.Links))
		fmt.Fprint(con.Stdout, console.Wrapped("switch to "+l.To+", by "+fieldWords(l.Field)+": ", text, con.Width()))
	}
	for _, r := range s.Refused {
		fmt.Fprint(con.Stdout, console.Wrapped("switch to "+r.To+": ", "not learned: "+r.Why, con.Width()))
	}
	for _, u := range s.Unsteady {
		fmt.Fprint(con.Stdout, console.Wrapped("note: ", fmt.Sprintf("the connection from port %d to %d was seen on %s and then on %s: one of the two was misread", u.Flow.Sport, u.Flow.Dport, u.First, u.Then), con.Width()))
	}
	for _, note := range s.Notes {
		fmt.Fprint(con.Stdout, console.Wrapped("note: ", console.OneLine(note), con.Width()))
	}
	switch {
	case s.File != "":
		fmt.Fprint(con.Stdout, console.Wrapped("", s.File+" is written, with what was learned", con.Width()))
	case len(s.Learned) > 0:
		fmt.Fprintf(con.Stdout, "\nunder the path between %s and %s in a fabric file:\n    learned:\n", s.A, s.B)
		for _, l := range s.Learned {
			fmt.Fprintln(con.Stdout, "      - "+yamldoc.OneLine(describe.Learned([]flow.LearnedHash{l}).Items[0]))
		}
	}
}

// fieldWords are whose port it is: a connection's first, or its answers'.
func fieldWords(field string) string {
	if field == flow.LearnedDport {
		return "the destination ports of answers"
	}
	return "source ports"
}
