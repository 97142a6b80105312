package scenariorun

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"time"

	"github.com/linerate/linerate/internal/lab/scenario"
	"github.com/linerate/linerate/internal/run/campaign"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// pingEvery is the time between two packets, the least that ping allows to
// everybody being 2 ms, and the articles' being this.
const pingEvery = 100 * time.Millisecond

// ping measures the round trip with ping.
func (r *run) ping(ctx context.Context, c *campaign.Campaign, step string, m scenario.Measurement) error {
	lanes, err := predict.Lanes(c.State(), m.From, m.To, "")
	if err != nil {
		return err
	}
	if r.result.Tools[m.Tool], err = version(ctx, m.Tool); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, time.Duration(m.Count)*pingEvery+slack)
	defer cancel()
	src, dst := lanes[0].Src.String(), lanes[0].Dst.String()
	var average float64
	// The first packet waits for the neighbour to be found.
	for _, count := range []int{1, m.Count} {
		p, err := start(ctx, m.From, "ping", "-n", "-q", "-i", fmt.Sprint(pingEvery.Seconds()), "-c", strconv.Itoa(count), "-I", src, dst)
		if err != nil {
			return err
		}
		err = p.wait(ctx)
		p.end()
		if err != nil {
			return err
		}
		if average, err = pingAverage(p.stdout.String()); err != nil {
			return err
		}
	}
	r.keep(c, step, m, 0, scenario.Row{MeasuredRTT: average / r.now.Slow, PublishedRTT: unit.Milliseconds(m.RTT)}, record.Trial{})
	return nil
}

// pingAverage reads ping's last line: "rtt min/avg/max/mdev = ..." of iputils,
// "round-trip min/avg/max = ..." of others.
func pingAverage(text string) (ms float64, err error) {
	found := regexp.MustCompile(`min/avg/max\S* = [0-9.]+/([0-9.]+)/`).FindStringSubmatch(text)
	if found == nil {
		return 0, fmt.Errorf("read ping's answer: no averages in %q", text)
	}
	return strconv.ParseFloat(found[1], 64)
}
