package field

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/linerate/linerate/internal/lab/labtest/floor"
	"github.com/linerate/linerate/internal/lab/labtest/tried"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// envKept is a directory where what was measured is kept, for TestFaults of diagnose/trial.
const envKept = "LINERATE_FAULTS_DIR"

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
	Ways       record.Remedy     `json:"remedy_ways"`
	Expected   unit.BitRate      `json:"expected_bps"`
	Decide     record.Decision   `json:"decide"`
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
	// wellShare of what a network carries when it is well: a fault that leaves that
	// much took nothing.
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

// made is a network for a kind, built, with the kind put in.
func made(t *testing.T, seed uint64, k kind) *stand {
	t.Helper()
	s := draw(t, seed, k)
	s.build()
	if k.done != nil {
		s.do(k.done(s))
	}
	return s
}

// fileName is the beginning of an instance's file.
func (k kind) fileName() string { return strings.NewReplacer(" ", "-", "/", "").Replace(k.words()) }

// try makes an instance and judges what is said of it.
func try(t *testing.T, n int, seed uint64, k kind) (verdict string) {
	t.Helper()
	verdict = "broken"
	t.Run(fmt.Sprintf("%03d", n), func(t *testing.T) {
		s := made(t, seed, k)
		file, rec := s.file(), filepath.Join(t.TempDir(), "record.json")
		asked := map[string]string{"--streams": fmt.Sprint(s.flows), "--directions": "forward", "--duration": window}
		said, wrong, _ := linerate(measuring(file, rec, asked)...)
		f := s.explained(rec)
		verdict = judge(k, f, s.payload(), said+wrong)
		probed := ""
		if f.Decide.Probe != "" && verdict != "void" {
			probed = s.probed(k, rec)
		}
		did := tried.Result{}
		if verdict == "right" && len(k.truth) > 0 && slices.Contains(k.truth, f.Cause) {
			did = s.remedied(f, file, asked)
		}
		t.Logf("row: %s: %s; named %s %.0f%% %s; %s%.1f of %.1f Mbit/s, %v each, %v, %d streams%v", k.words(), words(k.truth), f.Cause, 100*f.Confidence, verdict, probed, float64(f.Rate)/1e6, float64(f.Ceiling)/1e6, s.rate, s.delay, s.flows, did)
		if verdict == "WRONG" || verdict == "unknown" || verdict == "broken" {
			t.Logf("said: %s", strings.TrimSpace(f.text()))
			if f.Cause == "" {
				t.Logf("measured: %s", strings.TrimSpace(said+wrong))
			}
		}
		if dir := os.Getenv(envKept); dir != "" && verdict != "void" {
			s.must(keep(dir, fmt.Sprintf("%03d", n), k, rec))
		}
	})
	return verdict
}

// explained is the first finding of a record; the zero one where there is none.
func (s *stand) explained(rec string) finding {
	s.t.Helper()
	var all struct {
		Findings []finding `json:"findings"`
	}
	text, _, status := linerate("explain", rec, "--json")
	if status != 0 {
		return finding{}
	}
	s.must(json.Unmarshal([]byte(text), &all))
	if len(all.Findings) == 0 {
		return finding{}
	}
	return all.Findings[0]
}

// probed makes the measurement that would settle a record's cause, and says what is
// named then.
func (s *stand) probed(k kind, rec string) string {
	s.t.Helper()
	settled := filepath.Join(s.t.TempDir(), "settled.json")
	said, wrong, status := linerate("explain", rec, "--probe", "--yes", "-o", settled)
	if status != 0 {
		s.t.Logf("probe: status %d: %s%s", status, said, wrong)
		return ""
	}
	f := s.explained(settled)
	verdict := judge(k, f, s.payload(), said+wrong)
	if verdict == "WRONG" {
		s.t.Logf("said after the probe: %s", strings.TrimSpace(f.text()))
	}
	return fmt.Sprintf("probed %s %.0f%% %s; ", f.Cause, 100*f.Confidence, verdict)
}

// keep writes an instance down as TestFaults reads it; what was not measured is left out.
func keep(dir, name string, k kind, rec string) error {
	var kept struct {
		Setup  string         `json:"setup"`
		Truth  []record.Cause `json:"truth"`
		Says   string         `json:"says,omitempty"`
		Record record.Record  `json:"record"`
	}
	text, err := os.ReadFile(rec)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err = errors.Join(err, json.Unmarshal(text, &kept.Record)); err != nil || len(kept.Record.Trials) == 0 {
		return err
	}
	kept.Setup, kept.Truth, kept.Says = k.words(), k.truth, k.says
	if len(k.truth) == 0 {
		kept.Truth = causes(record.LineRate)
	}
	if text, err = json.Marshal(kept); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, k.fileName()+"-"+name+".json"), text, 0o644)
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

// payload is what the network carries when nothing is wrong, about.
func (s *stand) payload() unit.BitRate {
	links := max(s.links, 1)
	if s.links == 0 && (s.shape == "two" || s.shape == "bond" || s.shape == "xor" || s.shape == "ecmp") {
		links = 2
	}
	return unit.BitRate(links) * s.rate * unit.BitRate(s.mtu-52) / unit.BitRate(s.mtu+14)
}

// judge holds what is said first against the truth.
func judge(k kind, f finding, healthy unit.BitRate, measured string) string {
	if f.Cause == "" {
		if k.unmeasured != "" && regexp.MustCompile(k.unmeasured).MatchString(measured) {
			return "right"
		}
		return "broken"
	}
	well := f.Rate >= healthy*wellShare
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
	if os.Getenv("PROVE_RUN") == "" && os.Getenv("PROVE_KIND") == "" {
		floor.Turn(t, floor.Explaining)
	}
	over(t, try)
}

// over tries the kinds that are asked for.
func over(t *testing.T, try func(t *testing.T, n int, seed uint64, k kind) string) {
	t.Helper()
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
		all = slices.Concat(faults(), odd(), odd())
		part := int(2*(run-1) + half)
		for n := part * len(all) / parts; n < (part+1)*len(all)/parts; n++ {
			counts[try(t, n, seed*1000+uint64(n), all[n])]++
		}
	default:
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
	parts      = 2 * 17 // as many as the proof's runs are: all of the list is drawn, however long it grows
	sampleTime = 15 * time.Second
)
