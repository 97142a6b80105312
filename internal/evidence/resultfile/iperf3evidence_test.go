package resultfile

import (
	"math"
	"os"
	"testing"

	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// TestIPerf3Evidence: what the captured files say that tells causes apart.
func TestIPerf3Evidence(t *testing.T) {
	for file, want := range map[string]struct {
		limit   unit.BitRate
		thread  float64 // of the writer's host
		samples int
	}{
		"iperf3-forward.json":  {200e6, 0.0423, 2},
		"iperf3-parallel.json": {600e6, 0.0524, 2}, // three streams, a second omitted
		"iperf3-bidir.json":    {400e6, 0.0493, 2}, // two streams each way
	} {
		text, err := os.ReadFile("testdata/" + file)
		if err != nil {
			t.Fatal(err)
		}
		var out record.Record
		if err := readDocuments(text, &out); err != nil || len(out.Trials) != 1 {
			t.Fatalf("%s: %d trials, %v", file, len(out.Trials), err)
		}
		got := out.Trials[0]
		if got.RateLimit != want.limit || len(got.CPU) != 2 || math.Abs(got.CPU[0].BusiestThread-want.thread) > 1e-3 {
			t.Errorf("%s: limit %v, processors %+v; want %v and a thread of %v", file, got.RateLimit, got.CPU, want.limit, want.thread)
		}
		tcp := got.Lanes[0].TCP
		if tcp.Samples != want.samples || tcp.MeanRTTMS < tcp.MinRTTMS || tcp.HighestRTTMS < tcp.MeanRTTMS || tcp.MinRTTMS <= 0 || tcp.MeanCwnd <= 0 || tcp.MaxPacing != 0 {
			t.Errorf("%s: %+v", file, tcp)
		}
	}
}

// TestBusiestThread: one thread did all before 3.16, one a stream since.
func TestBusiestThread(t *testing.T) {
	for _, c := range []struct {
		version string
		streams int
		want    float64
	}{
		{"iperf 3.12", 4, 0.8}, {"iperf 3.15-mt1", 4, 0.8}, {"iperf 3.16", 1, 0.8}, {"iperf 3.16", 4, 0}, {"iperf 3.21+", 2, 0}, {"iperf 4.0", 2, 0}, {"", 2, 0}, {"iperf x.y", 2, 0}, {"", 1, 0.8},
	} {
		var d document
		d.Start.Version = c.version
		d.Start.Connected = make([]connected, c.streams)
		if got := d.busiestThread(0.8); got != c.want {
			t.Errorf("%q, %d streams: %v, want %v", c.version, c.streams, got, c.want)
		}
	}
	var d document
	d.Start.Version, d.Start.Connected = "iperf 3.9", make([]connected, 1)
	if got := d.busiestThread(1.3); got != 1 {
		t.Errorf("more than a core: %v", got)
	}
}

// TestLimits: what no test can have asked for is no limit.
func TestLimits(t *testing.T) {
	var d document
	for _, v := range []float64{-1, 0, math.NaN(), math.Inf(1), 1e30} {
		d.Start.Test.Bitrate, d.Start.Test.FQRate = v, v
		if d.rateLimit() != 0 || d.pacing() != 0 || milliseconds(v) != 0 {
			t.Errorf("%v: limit %v, pacing %v", v, d.rateLimit(), d.pacing())
		}
	}
	d.Start.Test.FQRate = 3e9
	if d.pacing() != 3*unit.Gbps {
		t.Errorf("pacing %v", d.pacing())
	}
}
