package texts

import (
	"cmp"
	"context"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/evidence/paste/archive"
	"github.com/linerate/linerate/internal/evidence/paste/hoststate"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/internal/host/observe"
	"github.com/linerate/linerate/netstate"
)

// States are the hosts that the files and those of the flags tell of, and the paths
// between them. An archive of `inspect --capture`, and a copy of /proc and /sys, are
// read as such; the rest as text. A text in which nothing is known is bad usage.
func (f Flags) States(ctx context.Context, con *console.Console, command string, files []string) ([]netstate.Host, []fabric.Path, error) {
	sources, err := f.sources(files)
	if err != nil {
		return nil, nil, err
	}
	var all []piece.Text
	var hosts []netstate.Host
	for _, s := range sources {
		g, err := s.read(ctx, con)
		if err != nil {
			return nil, nil, err
		}
		if g.capture {
			h, err := observe.Observe(ctx, observe.Config{Root: s.file, Logger: con.Logger()})
			if ctx.Err() != nil {
				return nil, nil, ctx.Err()
			}
			if err == nil && len(h.Links) > 0 {
				h.Name = cmp.Or(s.host, h.Name, archive.NameOf(s.file), "host")
				hosts = append(hosts, h)
				continue
			}
		}
		all = append(all, g.texts...)
	}
	if len(all) == 0 {
		return hosts, fabric.PathsBetween(hosts), nil
	}
	c, err := Case(con, command, distinct(all))
	if err != nil {
		return nil, nil, err
	}
	told, paths := hoststate.Hosts(c)
	if len(hosts) == 0 {
		return told, paths, nil
	}
	hosts = append(hosts, told...)
	between := fabric.PathsBetween(hosts)
	for i, p := range between {
		for _, measured := range paths {
			if p.From == measured.From && p.To == measured.To {
				between[i].RTT = measured.RTT
			}
		}
	}
	return hosts, between, nil
}
