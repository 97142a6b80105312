package resultfile

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/linerate/linerate/unit"
)

// TestAsFound: documents as people have them: what Windows PowerShell, old releases
// and a killed server make of them. The rates are iperf's own, of the receiver.
func TestAsFound(t *testing.T) {
	for name, want := range map[string]struct {
		streams int
		mbps    float64
		limit   float64 // of -b, in Mbit/s of all streams; 0 none
	}{
		"iperf2-udp-report.csv":  {1, 320.693, 0}, // the server's row in the client's place
		"iperf3-7-receiver.json": {1, 97.8, 100},  // the receiver's seconds are the sender's; -b stands elsewhere
		"iperf3-nan.json":        {4, 251.9, 0},
		"iperf3-trailing.json":   {4, 251.9, 0},
		"iperf3-truncated.json":  {4, 251.9, 0}, // three of four streams' ends are gone
		"iperf3-utf16.json":      {4, 251.9, 0},
		"iperf3-short.json":      {1, 0.449, 0},
	} {
		r := read(t, "asfound/"+name)
		if len(r.Trials) != 1 {
			t.Errorf("%s: %d trials", name, len(r.Trials))
			continue
		}
		trial := r.Trials[0]
		if got := float64(trial.Goodput) / 1e6; trial.Streams != want.streams || math.Abs(got-want.mbps) > 0.005*want.mbps {
			t.Errorf("%s: %d streams, %.3f Mbit/s; want %d, %.3f", name, trial.Streams, got, want.streams, want.mbps)
		}
		if want.limit > 0 && trial.RateLimit != unit.BitRate(want.limit)*unit.Mbps {
			t.Errorf("%s: offered %v", name, trial.RateLimit)
		}
	}
	if u := read(t, "asfound/iperf2-udp-report.csv").Trials[0]; u.Protocol != "udp" || u.UDP == nil || u.UDP.Lost != 539 || u.UDP.Sent != 267740 {
		t.Errorf("the server's report: %+v", u.UDP)
	}
	if dual := read(t, "asfound/iperf2-udp-dual.csv"); len(dual.Trials) != 2 || dual.Trials[0].Streams != 1 || dual.Trials[1].Streams != 1 {
		t.Errorf("both ways: %+v", dual.Trials)
	}
	notes := strings.Join(read(t, "asfound/iperf3-trailing.json").Trials[0].Notes, "\n")
	if !strings.Contains(notes, "what follows the document") {
		t.Errorf("what was left out is not said: %s", notes)
	}
}

// TestArrays: a list of documents, as a loop over hosts collects them, is as many
// tests, and cut off as many as are there.
func TestArrays(t *testing.T) {
	one, err := os.ReadFile(filepath.Join("testdata", "iperf3-forward.json"))
	if err != nil {
		t.Fatal(err)
	}
	list := append(append([]byte("[\n"), bytes.Join([][]byte{one, one, one}, []byte(",\n"))...), "\n]\n"...)
	for _, tail := range []int{0, 3, 40} {
		r, err := Read(list[:len(list)-tail])
		if err != nil || len(r.Trials) != 3 {
			t.Errorf("without the last %d bytes: %d trials, %v", tail, len(r.Trials), err)
		}
	}
	if _, err := Read([]byte(`["intervals", {"start": 5}]`)); err == nil {
		t.Error("a list of something else is taken")
	}
}
