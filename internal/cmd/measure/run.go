package measure

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/analysis/compare"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/cmd/progress"
	"github.com/linerate/linerate/internal/run/campaign"
	"github.com/linerate/linerate/internal/run/measure"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/report"
)

// RunFlags say how a run goes: where its record is kept, whether it goes on
// with another, and whether it waits for hosts that are in use.
type RunFlags struct {
	out, resume string
	force       bool // write over what -o names, whatever it contains
	wait        progress.WaitFlag
	args        []string // of the command, for whoever meets our lock
	device      string   // that the senders are bound to; "" none
	unkept      bool     // the record could not be written
	store       string   // the word of --store
	stored      console.Keeper
	// What is measured at a time, and what is compared.
	paths  pathFlags
	sweeps sweepFlags
	// Targets that an iperf3 server speaks for.
	listener  listenerFlags
	listeners map[string]measure.Listener
	// missing are hosts named directly that were not reached.
	Missing console.Missing
	bus     busRun
}

func (r *RunFlags) add(c *cobra.Command) {
	console.AddPath(c.Flags(), &r.out, "output", "o", "write the record to this file (JSON), after every trial")
	_ = c.MarkFlagFilename("output", "json")
	c.Flags().BoolVar(&r.force, "force", false, "replace a file that is there, whatever it contains")
	c.Flags().StringVar(&r.resume, "resume", "", "go on with the interrupted run in this record; without -o it is kept there;\nnats:RUN is one that was kept on NATS")
	console.AddStoreFlag(c, &r.store)
	r.wait.Add(c)
	r.paths.add(c)
	r.sweeps.add(c)
	r.listener.add(c)
}

// keptIn is the file that the record is written to; "" is none.
func (r *RunFlags) keptIn() string {
	if r.out == "" && !strings.HasPrefix(r.resume, console.OnNATS) {
		return r.resume
	}
	return r.out
}

// previous is the record to go on with; nil begins anew. A file that holds an
// interrupted run of the same matrix is not overwritten unasked.
func (r *RunFlags) previous(ctx context.Context, f fabric.Fabric, m campaign.Matrix) (*record.Record, error) {
	if r.resume == "" || strings.HasPrefix(r.resume, console.OnNATS) {
		return nil, r.spare(ctx, f, m)
	}
	old, err := console.ReadRecord(ctx, r.resume)
	if err != nil {
		return nil, err
	}
	if err := m.Resumable(old, f); err != nil {
		return nil, console.BadUsage("--resume "+r.resume+": "+err.Error(), "give the same fabric and flags as then, or measure anew with -o FILE")
	}
	return &old, nil
}

// spare refuses to overwrite an interrupted run of the same matrix.
func (r *RunFlags) spare(ctx context.Context, f fabric.Fabric, m campaign.Matrix) error {
	if r.out == "" || r.force {
		return nil
	}
	if info, err := os.Stat(r.out); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	old, err := console.ReadRecord(ctx, r.out)
	if err != nil || !old.Interrupted() || m.Resumable(old, f) != nil {
		return nil // whatever it is, it is not what this run could go on with
	}
	return console.BadUsage(fmt.Sprintf("measure: %s holds an interrupted run of this matrix, %d of %d trials", r.out, len(old.Trials), old.Asked.Trials),
		"--resume "+r.out+" goes on with it; remove the file to measure anew")
}

// keep writes the record as it grows; nil where it is kept in memory alone, as
// for a pipe or a device, which takes one document.
func (r *RunFlags) keep() func(record.Record) error {
	file := r.keptIn()
	if file == "" || console.IsStream(file) {
		return nil
	}
	return func(rec record.Record) error { return r.write(context.Background(), rec) } // also after an interrupt
}

// write writes the record where it is kept.
func (r *RunFlags) write(ctx context.Context, rec record.Record) error {
	err := console.WriteJSON(ctx, r.keptIn(), rec)
	r.unkept = err != nil
	return err
}

// sayResumed says what is there already, and what is not as it was.
func sayResumed(p *progress.Progress, old record.Record, c *campaign.Campaign) {
	p.Say("        %d of %d trials are there already", len(old.Trials), old.Asked.Trials)
	var now record.Environment
	now.BackEnd = old.Environment.BackEnd
	for _, h := range c.State().Hosts {
		now.Hosts = append(now.Hosts, h)
	}
	for _, d := range compare.Environments(old.Environment, now) {
		p.Say("        %s %s: %s when the run was interrupted, %s now", d.Host, d.What, d.Before, d.After)
	}
}

// conclude keeps and shows what was measured, whether the run came to its end
// or err ended it.
func conclude(ctx context.Context, con *console.Console, r record.Record, run *RunFlags, err error) error {
	file := run.keptIn()
	if stream := file != "" && console.IsStream(file); file != "" && len(r.Trials) > 0 && (err == nil || stream) {
		err = errors.Join(err, run.write(ctx, r))
	}
	if run.unkept {
		file = "" // then it is shown
	}
	if err == nil {
		if err := console.Failures(r); err != nil && len(r.Trials) == 0 {
			return err
		}
		return show(con, r)
	}
	if len(r.Trials) == 0 && len(r.Latency) == 0 {
		return err
	}
	if r.Interrupted() && len(r.Trials) > 0 {
		// Also where progress is silenced: it is what the user has to know.
		line := fmt.Sprintf("%d of %d trials were measured", len(r.Trials), r.Asked.Trials)
		if file != "" {
			line += " and are in " + file
		}
		if from := cmp.Or(file, run.bus.resume()); from != "" && r.Asked.Digest != "" {
			line += "; the same command with --resume " + from + " goes on"
		}
		fmt.Fprint(con.Stderr, console.Wrapped("", line, con.Width()))
	}
	switch {
	case !con.JSON:
		fmt.Fprint(con.Stdout, report.Text(r, con.Width()))
	case file == "":
		err = errors.Join(recordDocument.Print(con, r), err)
	}
	return err
}

// trials checks the routes, measures the latency and then the matrix of an
// open campaign.
func trials(ctx context.Context, con *console.Console, c *campaign.Campaign, p *progress.Progress, m campaign.Matrix, run *RunFlags) error {
	if m.Pairs != nil {
		p.Say("  measure %s", c.Sample(*m.Pairs).Text())
	}
	if err := run.paths.checkRoutes(func() error { return c.CheckRoutes(ctx) }, p); err != nil {
		return err
	}
	if run.sweeps.dryRun {
		return run.sweeps.run(ctx, con, c, m)
	}
	p.Stage("measure latency")
	if err := c.Latency(ctx); err != nil {
		return err
	}
	switch {
	case run.sweeps.any():
		return run.sweeps.run(ctx, con, c, m)
	case run.paths.together:
		return c.Together(ctx, m)
	}
	return c.Run(ctx, m)
}

// early refuses flags that no host makes right, before one is reached.
func (r *RunFlags) early(args []string, given func(string) bool) error {
	if names, _ := splitTargets(args); len(names) == 0 {
		for _, name := range []string{"token-file", "busy-wait"} {
			if given(name) {
				return console.BadUsage("--"+name+": is for a target that listens, and none is named", "name it as HOST or HOST:PORT, or leave the flag out")
			}
		}
	}
	return console.Output{Path: r.out, Force: r.force}.Check("measure -o", console.RecordFile)
}

// ofHosts refuses what the hosts, now that they were seen, do not have.
func (r *RunFlags) ofHosts(c *campaign.Campaign, m campaign.Matrix) error {
	congestions := []string{m.Base.Socket.Congestion}
	flag := "--congestion"
	if r.sweeps.sweep.Setting == "congestion" {
		flag = "--sweep congestion"
		for _, v := range r.sweeps.sweep.Variants {
			congestions = append(congestions, v.Value)
		}
	}
	for _, host := range senders(c, m) {
		for _, name := range congestions {
			if err := checkCongestion(flag, host, name); err != nil {
				return err
			}
		}
		if err := checkDevice(host, m.Base.Socket.Device); err != nil {
			return err
		}
	}
	return nil
}

// senders are the observed hosts that send in some direction of a matrix.
func senders(c *campaign.Campaign, m campaign.Matrix) []netstate.Host {
	var out []netstate.Host
	seen := make(map[string]bool)
	for _, p := range c.State().Paths {
		for _, d := range m.Directions {
			for _, name := range [...]string{p.From, p.To} {
				sends := d == flow.Both || (d == flow.Forward) == (name == p.From)
				host, ok := c.State().Hosts[name]
				if !sends || seen[name] || !ok || !c.Reached(name) {
					continue
				}
				seen[name] = true
				out = append(out, host)
			}
		}
	}
	return out
}

// loadable are the congestion controls of the kernel's tree (net/ipv4/Kconfig,
// Linux 6.18): what is not listed as available may be a module that the kernel
// loads when it is asked for.
var loadable = [...]string{
	"bbr", "bic", "cdg", "cubic", "dctcp", "highspeed", "htcp", "hybla", "illinois", "lp", "nv", "reno", "scalable", "vegas", "veno", "westwood", "yeah",
}

const availableCongestion = "net.ipv4.tcp_available_congestion_control"

func checkCongestion(flag string, host netstate.Host, name string) error {
	have := strings.Fields(host.Sysctls[availableCongestion].Value)
	if name == "" || len(have) == 0 || slices.Contains(have, name) || slices.Contains(loadable[:], name) {
		return nil
	}
	return console.BadUsage(fmt.Sprintf("%s %s: %s knows no such congestion control", flag, name, host.Name), "it has "+strings.Join(have, ", "))
}

func checkDevice(host netstate.Host, name string) error {
	if name == "" || len(host.Links) == 0 {
		return nil
	}
	var have []string
	for _, l := range host.Links {
		if l.Name == name {
			return nil
		}
		have = append(have, l.Name)
	}
	return console.BadUsage(fmt.Sprintf("--device %s: %s has no such link", name, host.Name), "it has "+strings.Join(have, ", "))
}
