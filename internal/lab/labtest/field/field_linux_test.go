package field

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/linerate/linerate/internal/lab/labtest/floor"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// envKept is a directory where records of what was named wrong are kept.
const envKept = "LINERATE_FIELD_DIR"

// kind is one way to go wrong, or to be odd and well.
type kind struct {
	name  string
	shape string
	suit  func(*stand)        // changes what is drawn; nil nothing
	done  func(*stand) string // the lines that put it in
	// truth are the causes that are right; none is a network that is well.
	truth []record.Cause
	// says is a pattern of what is right to say, whatever the cause.
	says string
	// unmeasured is right too: no traffic passes as it should, and measure says so.
	unmeasured string
}

// finding is what explain --json says of one result.
type finding struct {
	Cause      record.Cause      `json:"cause"`
	Confidence float64           `json:"confidence_ratio"`
	Rate       unit.BitRate      `json:"rate_bps"`
	Ceiling    unit.BitRate      `json:"ceiling_bps"`
	Summary    string            `json:"summary"`
	Evidence   []record.Evidence `json:"evidence"`
	Remedy     string            `json:"remedy"`
	Expected   unit.BitRate      `json:"expected_bps"`
}

func (f finding) text() string {
	var b strings.Builder
	fmt.Fprintln(&b, f.Summary, f.Remedy)
	for _, e := range f.Evidence {
		fmt.Fprintln(&b, e.What, e.Value)
	}
	return b.String()
}

const (
	// leastTaken is the part of the ceiling that a fault must take to count.
	leastTaken = 0.15
	// wellShare is what a network that is well reaches.
	wellShare = 0.88
	window    = "3s"
)

// draw is a network for a kind.
func draw(t *testing.T, seed uint64, k kind) *stand {
	s := &stand{t: t, dice: rand.New(rand.NewPCG(seed, 7)), shape: k.shape, mtu: 1500, speeds: map[string]unit.BitRate{}}
	s.rate = pick[unit.BitRate](s, 40, 50, 60, 80) * unit.Mbps
	s.delay = pick[time.Duration](s, 1, 2, 5, 10) * time.Millisecond
	s.flows = pick(s, 2, 4, 4, 8)
	if k.suit != nil {
		k.suit(s)
	}
	return s
}

// try makes an instance and judges what is said of it.
func try(t *testing.T, n int, seed uint64, k kind) (verdict string) {
	t.Helper()
	verdict = "broken"
	t.Run(fmt.Sprintf("%03d", n), func(t *testing.T) {
		s := draw(t, seed, k)
		s.build()
		if k.done != nil {
			s.do(k.done(s))
		}
		file, rec := s.file(), filepath.Join(t.TempDir(), "record.json")
		said, wrong, _ := linerate("measure", file, "-o", rec, "--streams", fmt.Sprint(s.flows), "--directions", "forward", "--duration", window)
		var f finding
		if text, _, status := linerate("explain", rec, "--json"); status == 0 {
			var all struct {
				Findings []finding `json:"findings"`
			}
			s.must(json.Unmarshal([]byte(text), &all))
			if len(all.Findings) > 0 {
				f = all.Findings[0]
			}
		}
		verdict = judge(k, f, said+wrong)
		t.Logf("row: %s: %s; named %s %.0f%% %s; %.1f of %.1f Mbit/s, %v each, %v, %d streams", k.words(), words(k.truth), f.Cause, 100*f.Confidence, verdict, float64(f.Rate)/1e6, float64(f.Ceiling)/1e6, s.rate, s.delay, s.flows)
		if verdict == "WRONG" || verdict == "unknown" || verdict == "broken" {
			t.Logf("said: %s", strings.TrimSpace(f.text()))
			if f.Cause == "" {
				t.Logf("measured: %s", strings.TrimSpace(said+wrong))
			}
			if dir := os.Getenv(envKept); dir != "" {
				if text, err := os.ReadFile(rec); err == nil {
					s.must(os.WriteFile(filepath.Join(dir, strings.ReplaceAll(strings.ReplaceAll(k.words(), " ", "-"), "/", "")+".json"), text, 0o644))
				}
			}
		}
	})
	return verdict
}

func (k kind) words() string { return k.shape + ", " + k.name }

func words(all []record.Cause) string {
	if len(all) == 0 {
		return "well"
	}
	var out []string
	for _, c := range all {
		out = append(out, string(c))
	}
	return strings.Join(out, " or ")
}

// judge holds what is said first against the truth.
func judge(k kind, f finding, measured string) string {
	if f.Cause == "" {
		if k.unmeasured != "" && regexp.MustCompile(k.unmeasured).MatchString(measured) {
			return "right"
		}
		return "broken"
	}
	well := f.Ceiling > 0 && f.Rate >= f.Ceiling*wellShare
	switch {
	case len(k.truth) == 0 && f.Cause == record.LineRate:
		return "right"
	case len(k.truth) == 0 && f.Cause == record.Unknown:
		return "unknown"
	case len(k.truth) == 0:
		return "WRONG"
	case slices.Contains(k.truth, f.Cause), k.says != "" && regexp.MustCompile("(?i)"+k.says).MatchString(f.text()):
		return "right"
	case well && f.Cause == record.LineRate:
		return "void"
	case f.Cause == record.Unknown:
		return "unknown"
	}
	return "WRONG"
}

// TestField is a part of the proof, the PROVE_RUN-th, whose verdict is over all of it,
// see TestProof; PROVE_KIND alone where that is a pattern of kinds' names. Else it is a
// sample.
func TestField(t *testing.T) {
	all := slices.Concat(faults(), odd())
	seed := floor.Number(t, "PROVE_SEED", 1)
	run, half := floor.Number(t, "PROVE_RUN", 0), floor.Number(t, "PROVE_HALF", 0)
	counts := map[string]int{}
	switch only := os.Getenv("PROVE_KIND"); {
	case only != "":
		for n, k := range all {
			if regexp.MustCompile(only).MatchString(k.words()) {
				counts[try(t, n, seed*1000+uint64(n), k)]++
			}
		}
	case run > 0:
		first := int(2*(run-1)+half) * perRun
		for n := first; n < first+perRun && n < rounds*len(all); n++ {
			counts[try(t, n, seed*1000+uint64(n), all[n%len(all)])]++
		}
	default:
		floor.Turn(t, floor.Explaining)
		drawn := floor.Draw(t)
		for begun, n := time.Now(), uint64(0); time.Since(begun) < sampleTime; n++ {
			counts[try(t, int(n), drawn+n, all[(drawn+n*37)%uint64(len(all))])]++
		}
		if counts["WRONG"] > 1 {
			t.Errorf("%d named wrong", counts["WRONG"])
		}
	}
	t.Logf("in a row: %v", counts)
}

const (
	perRun     = 8
	rounds     = 2
	sampleTime = 15 * time.Second
)
