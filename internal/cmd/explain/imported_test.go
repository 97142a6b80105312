package explain

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	diagnosetrial "github.com/linerate/linerate/diagnose/trial"
	"github.com/linerate/linerate/internal/evidence/resultfile"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/record"
)

// TestForeign: files as iperf3 wrote them. Each was told its rate (-b), so that
// is what is to be said; what is missing is said too.
func TestForeign(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "..", "evidence", "resultfile", "testdata", "iperf3-*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no files: %v", err)
	}
	judged := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		r, err := resultfile.Read(text)
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		for _, trial := range r.Trials {
			judged++
			f := diagnosetrial.Judge(predict.Fabric{}, trial)
			want := record.Application
			if trial.UDP != nil {
				want = record.Pacing
			}
			if trial.RateLimit > 0 && f.Cause != want || len(f.Missing) == 0 {
				t.Errorf("%s: %s (%s), missing %v", file, f.Cause, f.Summary, f.Missing)
			}
		}
	}
	if judged < len(files)/2 {
		t.Errorf("%d trials in %d files", judged, len(files))
	}
}

// TestUnobserved: what iperf3 alone says of a path, and how sure one may be.
func TestUnobserved(t *testing.T) {
	file := filepath.Join("..", "..", "evidence", "resultfile", "testdata", "iperf3-forward.json")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	r, err := resultfile.Read(text)
	if err != nil {
		t.Fatal(err)
	}
	base := r.Trials[0]
	base.RateLimit, base.CPU = 0, nil
	for _, c := range []struct {
		name   string
		change func(*record.Trial, *record.Lane)
		cause  record.Cause
		most   float64
	}{
		{"a window over the round trip", func(_ *record.Trial, l *record.Lane) {
			l.TCP.SndWnd, l.TCP.RTTMS, l.TCP.MeanRTTMS, l.TCP.MinRTTMS = 250000, 10, 10, 9.9
		}, record.ReceiveWindow, 0.7},
		{"many repetitions", func(_ *record.Trial, l *record.Lane) {
			l.Retransmits, l.TCP.RTTMS, l.TCP.MeanRTTMS, l.TCP.MinRTTMS, l.TCP.SndMSS = 400, 10, 10, 9.8, 1448
		}, record.Congestion, 0.7},
		{"a thread that is busy", func(r *record.Trial, _ *record.Lane) {
			r.CPU = []record.CPUUse{{Host: r.From, BusiestThread: 0.98}}
		}, record.SenderCPU, 0.9},
		{"what a gigabit link carries", func(r *record.Trial, l *record.Lane) {
			l.Goodput, r.Goodput = 941e6, 941e6
		}, record.LineRate, 0.7},
		{"nothing that tells", func(_ *record.Trial, l *record.Lane) { l.TCP.SndWnd, l.Retransmits = 0, 0 }, record.Unknown, 0.1},
	} {
		trial := base
		trial.Lanes = slices.Clone(base.Lanes)
		c.change(&trial, &trial.Lanes[0])
		f := diagnosetrial.Judge(predict.Fabric{}, trial)
		if f.Cause != c.cause || f.Confidence > c.most || len(f.Missing) == 0 || f.Decide.Probe == "" && f.Confidence < 0.75 {
			t.Errorf("%s: %s %.2f (%s), decide %q", c.name, f.Cause, f.Confidence, f.Summary, f.Decide.Probe)
		}
	}
}
