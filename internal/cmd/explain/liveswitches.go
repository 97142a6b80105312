package explain

import (
	"context"
	"net/netip"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	diagnoselive "github.com/linerate/linerate/diagnose/live"
	"github.com/linerate/linerate/diagnose/trial/onswitch"
	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/cmd/progress"
	"github.com/linerate/linerate/internal/evidence/livetraffic"
	"github.com/linerate/linerate/internal/evidence/switchcount"
	"github.com/linerate/linerate/internal/switchwatch"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict/declared"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/report"
	"github.com/linerate/linerate/unit"
)

// liveSwitches are the switches of a fabric file, watched beside a host.
type liveSwitches struct {
	file  fabric.Fabric
	hosts map[string]netstate.Host
	watch *switchwatch.Watch
	began time.Time
}

// watchLive reaches the switches of a file and begins to read them; nil where none is named.
func watchLive(ctx context.Context, con *console.Console, p *progress.Progress, path string) (*liveSwitches, error) {
	if path == "" {
		return nil, nil
	}
	file, err := console.ReadFabric(ctx, path)
	if err != nil {
		return nil, err
	}
	state, _ := declared.State(file) // where it lacks the hosts' networks, nothing says which way a flow takes
	speed := func(host, link string) unit.BitRate {
		l, _ := state.Hosts[host].Link(link)
		return l.Speed
	}
	s := &liveSwitches{file: file, hosts: state.Hosts, watch: switchwatch.Open(ctx, file.Topology, speed, *con.Switches(file), p.Note)}
	if s.watch == nil {
		return nil, console.BadUsage("explain --live --fabric: "+path+" has no switch that says how it is reached", "write reach: snmp://HOST, gnmi://HOST or ssh://USER@HOST under switches")
	}
	s.watch.Begin(ctx)
	s.began = time.Now()
	return s, nil
}

// over is what the switches counted since they were begun with.
func (s *liveSwitches) over(ctx context.Context) []record.SwitchUse {
	if s == nil {
		return nil
	}
	defer s.watch.Close()
	return s.watch.Over(ctx, switchcount.Span{Start: s.began, Open: s.began, Close: time.Now()})
}

// named is the file's host with an address; "" none.
func (s *liveSwitches) named(addrs ...netip.Addr) string {
	for name, h := range s.hosts {
		if slices.ContainsFunc(addrs, func(a netip.Addr) bool { _, ok := h.LinkWith(a); return ok }) {
			return name
		}
	}
	return ""
}

// evidence puts beside each finding what the switches on the flow's way counted: what each
// member of a channel sent, and where frames were lost.
func (s *liveSwitches) evidence(w livetraffic.Watched, uses []record.SwitchUse, flows []diagnoselive.Flow) {
	if s == nil {
		return
	}
	var own []netip.Addr
	for _, l := range w.Host.Links {
		for _, a := range l.Addresses {
			own = append(own, a.Addr())
		}
	}
	for i := range flows {
		f := &flows[i]
		from, to := s.named(own...), s.named(f.Peer)
		if !f.Sends {
			from, to = to, from
		}
		if from == "" || to == "" || from == to {
			continue
		}
		trial := record.Trial{From: from, To: to, Switches: uses}
		for _, g := range onswitch.Towards(trial, from, to, f.Rate) {
			if len(g.Members) > 1 {
				f.Finding.Evidence = append(f.Finding.Evidence, g.Evidence()...)
			}
		}
		for _, lost := range onswitch.Losses(trial, from, to) {
			f.Finding.Evidence = append(f.Finding.Evidence, lost.Evidence())
		}
	}
}

// liveSwitchText is what the switches counted, a port each, with what was not read.
func liveSwitchText(uses []record.SwitchUse, width int) string {
	if len(uses) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("\n")
	w := tabwriter.NewWriter(&b, 0, 8, 2, ' ', 0)
	for _, row := range report.SwitchPorts(uses) {
		_, _ = w.Write([]byte(strings.Join(row, "\t") + "\n"))
	}
	_ = w.Flush()
	for _, u := range uses {
		for _, note := range u.Notes {
			b.WriteString(console.Wrapped("  - ", "switch "+u.Switch+": "+note, width))
		}
	}
	return b.String()
}
