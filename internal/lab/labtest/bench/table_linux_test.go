package bench

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/linerate/linerate/internal/lab/labtest/floor"
)

// setting is one line of the comparison's frame.
type setting struct{ mtu, streams int }

func (s setting) String() string { return fmt.Sprintf("%d/%d", s.mtu, s.streams) }

var settings = [...]setting{{1500, 1}, {1500, 2}, {1500, 8}, {9000, 1}, {9000, 2}, {9000, 8}}

// measured is one line of the file that keeps measurements.
type measured struct {
	Setting string  `json:"mtu_streams"`
	Round   int     `json:"round"`
	Tool    string  `json:"tool"`
	Outcome outcome `json:"outcome"`
}

// series are one contender's measurements in one setting, by round.
type series map[int]outcome

// results are all measurements.
type results map[setting]map[string]series

func (r results) add(at setting, tool string, round int, o outcome) {
	if r[at] == nil {
		r[at] = map[string]series{}
	}
	if r[at][tool] == nil {
		r[at][tool] = series{}
	}
	r[at][tool][round] = o
}

// next is the round that a new one is.
func (r results) next() int {
	last := 0
	for _, tools := range r {
		for _, s := range tools {
			for round := range s {
				last = max(last, round)
			}
		}
	}
	return last + 1
}

// others begins what another test measures (overssh, TestFirstAnswer).
const others = "## First answer over ssh"

// TestBench compares every contender in every setting, in rounds: one round is
// each of them once, so that what disturbs the machine disturbs all.
// BENCH_ROUNDS says how many rounds, BENCH_FILE where the table goes,
// BENCH_DATA a file of measurements to go on with, BENCH_ONLY and BENCH_AT
// (patterns) which contenders and which settings, as MTU/STREAMS.
func TestBench(t *testing.T) {
	rounds, err := strconv.Atoi(os.Getenv("BENCH_ROUNDS"))
	if err != nil || rounds < 0 {
		t.Skip("takes half an hour: make bench")
	}
	all, chosen := measureRounds(t, rounds)
	text := document(all, chosen)
	if file := os.Getenv("BENCH_FILE"); file != "" {
		before, err := os.ReadFile(file)
		floor.Must(t, err)
		if at := strings.Index(string(before), "\n"+others); at >= 0 { // what this test does not measure
			text += string(before[at:])
		}
		floor.Must(t, os.WriteFile(file, []byte(text), 0o644))
		return
	}
	t.Log("\n" + text)
}

// measureRounds measures the contenders and settings that the environment chooses.
func measureRounds(t *testing.T, rounds int) (results, []contender) {
	t.Helper()
	chosen := slices.Clone(contenders)
	chosen = slices.DeleteFunc(chosen, func(c contender) bool { return !wanted("BENCH_ONLY", c.name) })
	if m := missing(chosen); len(m) > 0 {
		t.Fatalf("not installed: %s: make deps-bench", strings.Join(m, ", "))
	}
	on, mtu := cable(t)
	on.length = 2 * time.Second
	on.pinned = os.Getenv("BENCH_PINNED") != ""
	all, keep := kept(t)
	for range rounds {
		round, size := all.next(), 0
		for _, at := range settings {
			if !wanted("BENCH_AT", at.String()) {
				continue
			}
			if at.mtu != size {
				size = at.mtu
				mtu(size)
			}
			for i := range chosen {
				c := chosen[(i+round)%len(chosen)] // nobody is always first
				if c.udp() && at != settings[0] {
					continue
				}
				o, err := c.measure(on, at.streams)
				if err != nil {
					t.Logf("%s, MTU and streams %v, round %d: %v", c.name, at, round, err)
					continue
				}
				all.add(at, c.name, round, o)
				keep(measured{at.String(), round, c.name, o})
			}
		}
	}
	for _, at := range settings {
		for _, c := range chosen {
			if s := all[at][c.name]; len(s) > 0 {
				t.Logf("%v: %-20s %s", at, c.name, summary(c, s))
			}
		}
	}
	return all, chosen
}

// wanted reports whether a pattern in the environment lets something through.
func wanted(variable, what string) bool {
	ok, err := regexp.MatchString(os.Getenv(variable), what)
	return ok && err == nil
}

// kept reads the measurements of BENCH_DATA, and returns what adds to them.
func kept(t *testing.T) (results, func(measured)) {
	t.Helper()
	all, name := results{}, os.Getenv("BENCH_DATA")
	if name == "" {
		return all, func(measured) {}
	}
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644)
	floor.Must(t, err)
	t.Cleanup(func() { f.Close() })
	for lines := json.NewDecoder(f); ; {
		var m measured
		if err := lines.Decode(&m); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("read %s: %v", name, err)
		}
		for _, at := range settings {
			if at.String() == m.Setting {
				all.add(at, m.Tool, m.Round, m.Outcome)
			}
		}
	}
	return all, func(m measured) { floor.Must(t, json.NewEncoder(f).Encode(m)) }
}

func (c contender) udp() bool { return c.kind == datagramsSingle || c.kind == datagramsJoined }

// values are what a contender's rounds gave.
func (s series) values(of func(outcome) float64) []float64 {
	var out []float64
	for _, o := range s {
		out = append(out, of(o))
	}
	return out
}

// ratios are a's values over b's, round by round.
func ratios(a, b series, of func(outcome) float64) []float64 {
	var out []float64
	for round, x := range a {
		if y, ok := b[round]; ok && of(y) > 0 {
			out = append(out, of(x)/of(y))
		}
	}
	return out
}

// quantile is the value below which that share of the values lies, between
// two of them by proportion; zero of none.
func quantile(values []float64, share float64) float64 {
	if len(values) == 0 {
		return 0
	}
	v := slices.Sorted(slices.Values(values))
	at := share * float64(len(v)-1)
	low := int(at)
	if low+1 >= len(v) {
		return v[low]
	}
	return v[low] + (at-float64(low))*(v[low+1]-v[low])
}

func spread(values []float64, format string) string {
	return fmt.Sprintf(format+" ("+format+" to "+format+")", quantile(values, 0.5), quantile(values, 0.25), quantile(values, 0.75))
}

func (c contender) rate() (func(outcome) float64, string) {
	if c.udp() {
		return outcome.packets, "%.3f"
	}
	return outcome.gigabits, "%.1f"
}

func summary(c contender, s series) string {
	rate, format := c.rate()
	return spread(s.values(rate), format) + ", CPU s/GB " + spread(s.values(outcome.cost), "%.3f")
}

// best is the peer of a kind with the best median, "" for none.
func best(chosen []contender, of map[string]series, among func(contender) bool, value func(outcome) float64, less bool) string {
	name, top := "", 0.0
	for _, c := range chosen {
		if c.our || !among(c) || len(of[c.name].values(value)) == 0 {
			continue
		}
		m := quantile(of[c.name].values(value), 0.5)
		if name == "" || less && m < top || !less && m > top {
			name, top = c.name, m
		}
	}
	return name
}

func version(name string, args ...string) string {
	text, _ := exec.Command(name, args...).CombinedOutput()
	line, _, _ := strings.Cut(strings.TrimSpace(string(text)), "\n")
	return strings.TrimSpace(line)
}
