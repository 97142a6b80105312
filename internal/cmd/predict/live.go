package predict

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/internal/agent/fleet"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/cmd/discover"
	"github.com/linerate/linerate/internal/cmd/progress"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/predict/declared"
)

// liveFlag asks to look at the fabric's hosts before predicting.
type liveFlag struct{ on bool }

func (l *liveFlag) add(c *cobra.Command) {
	c.Flags().BoolVar(&l.on, "live", false, "observe the hosts that the file says how to reach, and go by what they are; nothing is sent but echoes where a round trip is not in the file")
}

// observed is the file with its hosts as they are, by the contract's rule of
// whose word counts. Hosts without reach stay as declared.
func observed(ctx context.Context, con *console.Console, f fabric.Fabric) (*foresight, error) {
	s := &foresight{name: f.File, text: f.Text, measure: f.Measure, state: predict.Fabric{Hosts: make(map[string]netstate.Host)}}
	reached := make(map[string]*fleet.Host)
	defer func() {
		for _, h := range reached {
			h.Close()
		}
	}()
	p := progress.New(con)
	seen, err := observedHosts(ctx, con, p, f.Hosts)
	for _, o := range seen {
		if o.Host != nil {
			reached[o.Name] = o.Host
		}
	}
	if err != nil {
		return nil, err
	}
	var hosts []netstate.Host
	for i, h := range f.Hosts {
		declared, err := f.State(h.Name)
		if err != nil {
			return nil, err
		}
		s.state.Hosts[h.Name] = declared
		if h.Reach == "" {
			continue
		}
		merged, differences := fabric.Merge(declared, h, seen[i].State)
		s.state.Hosts[h.Name], s.differences = merged, append(s.differences, differences...)
		hosts = append(hosts, merged)
	}
	if len(reached) == 0 {
		return nil, console.BadUsage(f.File+": --live: no host has reach:", "write reach: ssh://root@HOST at each host, or leave --live out")
	}
	if s.state.Paths = f.EffectivePaths(); len(s.state.Paths) == 0 {
		for _, h := range f.Hosts {
			if reached[h.Name] == nil {
				hosts = append(hosts, s.state.Hosts[h.Name])
			}
		}
		s.state.Paths = f.Over(fabric.PathsBetween(hosts))
	}
	if len(s.state.Paths) == 0 {
		return nil, console.BadUsage(f.File+": no path to predict", declared.RemedyFor(declared.ErrNoPath))
	}
	return s, missingTrips(ctx, con, p, s, reached)
}

// observedHosts reaches the hosts of a file that say how and reads them, several at
// a time, in the file's order. The error is the first host's that fails; the hosts
// are the caller's to close all the same.
func observedHosts(ctx context.Context, con *console.Console, p *progress.Progress, hosts []fabric.Host) ([]discover.Observed, error) {
	out := make([]discover.Observed, len(hosts))
	for _, h := range hosts {
		if h.Reach != "" {
			p.Stage("observe %s", h.Name)
		}
	}
	fleet.ForEach(len(hosts), func(i int) {
		if hosts[i].Reach != "" {
			out[i] = discover.ObserveOne(ctx, con, console.Target{Name: hosts[i].Name, Reach: hosts[i].Reach})
		}
	})
	for _, o := range out {
		if o.Err != nil {
			return out, o.Err
		}
	}
	return out, nil
}

// missingTrips measures the round trips that the file leaves out, between
// hosts that were reached.
func missingTrips(ctx context.Context, con *console.Console, p *progress.Progress, s *foresight, reached map[string]*fleet.Host) error {
	var hosts []netstate.Host
	for name := range reached {
		hosts = append(hosts, s.state.Hosts[name])
	}
	for i, path := range s.state.Paths {
		if path.RTT > 0 || reached[path.From] == nil || reached[path.To] == nil {
			continue
		}
		one := []fabric.Path{path}
		if err := discover.RoundTrips(ctx, con, p, hosts, one, reached); err != nil {
			return err
		}
		s.state.Paths[i].RTT = one[0].RTT
	}
	return nil
}
