package render

import (
	"context"
	"errors"
	"strings"

	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/render"
	"github.com/linerate/linerate/render/switchside"
)

// renderSwitch writes a switch's channels to other switches.
func (f *opts) renderSwitch(ctx context.Context, con *console.Console, args []string) error {
	file, err := console.ReadFabric(ctx, args[0])
	if err != nil {
		return err
	}
	if file.Topology == nil {
		return console.BadUsage("render --switch: "+args[0]+" describes no switch", "write switches: with their ports and channels")
	}
	s, ok := file.Topology.Switch(f.switchName)
	if !ok {
		var names []string
		for _, s := range file.Topology.Switches {
			names = append(names, s.Name)
		}
		return console.BadUsage("render --switch: the file has no switch "+f.switchName, console.OrMeant(f.switchName, names, "", "it has "+strings.Join(names, ", ")))
	}
	if f.to == "" {
		f.to = s.System
	}
	if !render.Format(f.to).Switch() {
		var words []string
		for _, format := range render.Switches() {
			words = append(words, string(format))
		}
		return console.BadUsage("render --switch: want --to, the system of switch "+s.Name, "--to is one of "+strings.Join(words, ", "))
	}
	if f.stdout && f.out != "" {
		return console.BadUsage("render: --stdout and -o are two places for the same", "")
	}
	out, err := switchside.Trunks(render.Format(f.to), file.Topology, s.Name)
	if errors.Is(err, render.ErrEmpty) {
		return console.BadUsage("render --switch: "+s.Name+" has no channel to another switch", "declare it under switches."+s.Name+".channels, with members that lead to another switch")
	}
	if err != nil {
		return err
	}
	for i := range out.Warnings {
		out.Warnings[i].Format = render.Format(f.to)
	}
	if f.strict && len(out.Warnings) > 0 {
		PrintWarnings(con, out.Warnings)
		return errors.New("render --switch: something is to be known of these lines, and --strict was given: nothing is written")
	}
	return f.put(ctx, con, out, nil, nil)
}
