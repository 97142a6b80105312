package steer

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/evidence/switchanswer"
	"github.com/linerate/linerate/internal/userfile"
	"github.com/linerate/linerate/steer"
)

// askFlags ask a switch for the member that a flow takes: the questions to type
// there, and the answers that came back.
type askFlags struct{ system, channel, answers string }

func (a *askFlags) add(c *cobra.Command) {
	console.WordVar(c, &a.system, "ask", "", "print what to type on a switch that says itself which member a flow takes:\n"+strings.Join(switchanswer.Systems(), ", "))
	c.Flags().StringVar(&a.channel, "channel", "", "channel of the switch that --ask asks, such as Po10")
	c.Flags().StringVar(&a.answers, "switch-answer", "", "file with what a switch answered, with the commands in it; - is standard input")
}

// asked carries out the flags; false where none is given.
func (a *askFlags) asked(ctx context.Context, con *console.Console, flows func() ([]flow.Frame, error)) (bool, error) {
	switch {
	case a.system != "" && a.answers != "":
		return true, console.BadUsage("steer show: --ask and --switch-answer exclude each other", "first ask, then read the answer")
	case a.answers != "":
		return true, a.show(ctx, con)
	case a.system == "" && a.channel != "":
		return true, console.BadUsage("steer show: --channel goes with --ask", "")
	case a.system == "":
		return false, nil
	case !slices.Contains(switchanswer.Systems(), a.system):
		return true, console.BadUsage("--ask: no command is known by which "+a.system+" says the member of a flow", console.OrMeant(a.system, switchanswer.Systems(), "", "`steer probe --learn` learns its hash; these can be asked: "+strings.Join(switchanswer.Systems(), ", ")))
	}
	frames, err := flows()
	if err != nil {
		return true, err
	}
	return true, a.questions(con, frames)
}

// asking is one question of a document.
type asking struct {
	steer.ShownFlow
	// Command is what to type; "" with the reason in Why.
	Command string `json:"command,omitempty"`
}

// questions prints what to type for each flow, each line once.
func (a *askFlags) questions(con *console.Console, frames []flow.Frame) error {
	var all []asking
	var lines []string
	for _, f := range frames {
		command, why := switchanswer.Question(a.system, a.channel, f)
		all = append(all, asking{steer.ShownFlow{Proto: f.Proto, Src: f.Src, Dst: f.Dst, Sport: f.Sport, Dport: f.Dport, Why: why}, command})
		if command == "" {
			return console.BadUsage("--ask: "+why, "")
		}
		if !slices.Contains(lines, command) {
			lines = append(lines, command)
		}
	}
	if con.JSON {
		return askDocument.Print(con, askings{a.system, all})
	}
	for _, line := range lines {
		fmt.Fprintln(con.Stdout, line)
	}
	sayNote(con, "type these on the switch that sends to the host, on the half of a pair that forwards; fill in what is in capitals. Then: linerate steer show --switch-answer FILE")
	return nil
}

// show prints which member each flow takes, as a switch answered.
func (a *askFlags) show(ctx context.Context, con *console.Console) error {
	var text []byte
	var err error
	if a.answers == "-" {
		text, err = userfile.ReadStream(ctx, "standard input", con.Stdin, console.MostFabric)
	} else {
		text, err = userfile.Read(ctx, a.answers, console.MostFabric)
	}
	if err != nil {
		return console.BadFile("read switch answer", err)
	}
	all := switchanswer.Parse(string(text))
	if len(all) == 0 {
		return console.BadUsage("read switch answer: it has no answer of a switch", "`steer show --ask SYSTEM --channel NAME` prints what to type; give the file what the switch printed, commands included")
	}
	on := answered{all: all}
	for _, x := range all {
		if !slices.Contains(on.members, x.Member) {
			on.members = append(on.members, x.Member)
		}
	}
	slices.Sort(on.members)
	frames := make([]flow.Frame, len(all))
	for i, x := range all {
		if x.Frame != nil {
			frames[i] = *x.Frame
		}
	}
	shown := steer.ShowOn(&on, "switch-answer", frames)
	shown.Names = on.members
	if con.JSON {
		return showDocument.Print(con, shown)
	}
	return printFlows(con, fmt.Sprintf("as the switch itself says, over the %d members that it named", len(on.members)), on.members, shown)
}

// answered places flows as a switch said, in the order of its answers.
type answered struct {
	all     []switchanswer.Answer
	members []string
	next    int
}

// Links are the members that were named: a channel may have more.
func (a *answered) Links() []string { return a.members }

// Reach is not asked of what was said of single flows.
func (a *answered) Reach() steer.Reach { return steer.Reach{} }

// Place is the next answer's.
func (a *answered) Place(flow.Frame) steer.Placement {
	x := a.all[a.next]
	a.next++
	p := steer.Placement{Index: slices.Index(a.members, x.Member), Link: x.Member, Known: true}
	if x.Frame == nil {
		p.Why = "some answers have no command above them: which flow they are of the text does not say"
	}
	return p
}
