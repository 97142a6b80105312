package scenariorun

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/linerate/linerate/diagnose/trial"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/evidence/resultfile"
	"github.com/linerate/linerate/internal/kernel/procfs"
	"github.com/linerate/linerate/internal/lab/scenario"
	"github.com/linerate/linerate/internal/run/campaign"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

const (
	// omitted is what iperf3 leaves out at the beginning, slow start, and omittedOfShort that
	// of a window no longer than it.
	omitted        = 2 * time.Second
	omittedOfShort = time.Second
	// iperf3Port is iperf3's own (iperf3(1), -p).
	iperf3Port = "5201"
	// usualBlock: smaller writes cost a lab's one processor a quarter of a rate.
	usualBlock = unit.MiB
	// slack is what starting and ending two programs takes at the most.
	slack = 30 * time.Second
)

// iperf3 measures with iperf3 at both ends, as its users run it.
func (r *run) iperf3(ctx context.Context, c *campaign.Campaign, step string, m scenario.Measurement) error {
	lanes, err := predict.Lanes(c.State(), m.From, m.To, "")
	if err != nil {
		return err
	}
	if r.result.Tools[m.Tool], err = version(ctx, m.Tool); err != nil {
		return err
	}
	for i, streams := range m.Streams {
		t, shares, err := runIPerf3(ctx, m, lanes[0], streams)
		if err != nil {
			return err
		}
		sent := predict.Between(m.From, m.To, m.Direction, streams)
		sent.Ports, sent.SocketBuffer, sent.Lanes = predict.PortsKernel, m.Buffer, lanes[:1]
		p, err := predict.Predict(c.State(), sent)
		if err != nil {
			return err
		}
		t.Predicted, t.Ceiling, t.Limit = p.Rate, p.Ceiling, p.Limit
		finding := trial.Judge(c.State(), t)
		t.Finding = &finding
		row := rowOf(t)
		if row.CPU = shares; shares != nil && i == 0 {
			shares.Published = m.CPU
		}
		r.keep(c, step, m, i, row, t)
	}
	return nil
}

// runIPerf3 is one run: a server for it alone, and a client. The receiver's
// count is what it says, with the share of the machine's processors that was
// busy meanwhile.
func runIPerf3(ctx context.Context, m scenario.Measurement, lane flow.Lane, streams int) (record.Trial, *scenario.CPUShares, error) {
	ctx, cancel := context.WithTimeout(ctx, omitted+m.Duration+slack)
	defer cancel()
	server, err := start(ctx, m.To, "iperf3", "-s", "-1", "--forceflush", "-p", iperf3Port, "-B", lane.Dst.String())
	if err != nil {
		return record.Trial{}, nil, err
	}
	defer server.end()
	if err := server.says(ctx, "Server listening"); err != nil {
		return record.Trial{}, nil, err
	}
	before, err := procfs.Stat()
	if err != nil {
		return record.Trial{}, nil, err
	}
	client, err := start(ctx, m.From, "iperf3", iperf3Words(m, lane, streams)...)
	if err != nil {
		return record.Trial{}, nil, err
	}
	defer client.end()
	if err := client.wait(ctx); err != nil {
		return record.Trial{}, nil, err
	}
	after, err := procfs.Stat()
	if err != nil {
		return record.Trial{}, nil, err
	}
	return iperf3Trial(client.stdout.Bytes(), m, streams, busiest(before, after))
}

// iperf3Words are a client's arguments.
func iperf3Words(m scenario.Measurement, lane flow.Lane, streams int) []string {
	words := []string{"-c", lane.Dst.String(), "-B", lane.Src.String(), "-p", iperf3Port, "-J", "-P", strconv.Itoa(streams),
		"-t", seconds(m.Duration), "-O", seconds(omittedOf(m.Duration)), "-l", strconv.FormatInt(int64(blockOf(m)), 10)}
	if m.Buffer > 0 {
		words = append(words, "-w", strconv.FormatInt(int64(m.Buffer), 10))
	}
	if m.NoDelay {
		words = append(words, "-N")
	}
	return append(words, map[flow.Direction][]string{flow.Reverse: {"-R"}, flow.Both: {"--bidir"}}[m.Direction]...)
}

// omittedOf is what is left out before a window.
func omittedOf(window time.Duration) time.Duration {
	if window <= omitted {
		return omittedOfShort
	}
	return omitted
}

// blockOf is what a program writes at a time.
func blockOf(m scenario.Measurement) unit.Bytes { return cmp.Or(m.Block, usualBlock) }

// seconds are whole ones, at least one: iperf3 takes no others.
func seconds(d time.Duration) string {
	return strconv.Itoa(max(1, int(d.Round(time.Second)/time.Second)))
}

// iperf3Trial reads what a client reported, with what it took of a processor.
func iperf3Trial(text []byte, m scenario.Measurement, streams int, busy float64) (record.Trial, *scenario.CPUShares, error) {
	read, err := resultfile.Read(text)
	if err != nil {
		return record.Trial{}, nil, err
	}
	if len(read.Failures) > 0 {
		return record.Trial{}, nil, errors.New(read.Failures[0].Error)
	}
	if len(read.Trials) != 1 {
		return record.Trial{}, nil, fmt.Errorf("iperf3 reported %d tests, want one", len(read.Trials))
	}
	t := read.Trials[0]
	shares := sharesOf(t)
	t.From, t.To, t.Direction, t.Streams = m.From, m.To, m.Direction, streams
	// Both ends are on the machine's processors.
	t.CPU = append(t.CPU, record.CPUUse{Host: m.From, Cores: 1, Busiest: busy})
	return t, shares, nil
}

// sharesOf are what iperf3 says that it took of one thread at each end, of a trial as
// it was read; nil where both ends send.
func sharesOf(t record.Trial) *scenario.CPUShares {
	if t.Direction == flow.Both {
		return nil
	}
	var out scenario.CPUShares
	for _, c := range t.CPU {
		if (c.Host == t.To) == (t.Direction == flow.Reverse) {
			out.Sender += c.Busy
		} else {
			out.Receiver += c.Busy
		}
	}
	return &out
}

// busiest is the share of its time that the busiest processor was busy.
func busiest(before, after []procfs.CPUTime) (most float64) {
	for _, b := range before {
		for _, a := range after {
			if total := a.Total - b.Total; a.CPU == b.CPU && total > 0 {
				most = max(most, (a.Busy-b.Busy)/total)
			}
		}
	}
	return most
}
