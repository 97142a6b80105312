package predict

import (
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// unset are the fields of a Traffic that are zero.
func unset(t Traffic) (names []string) {
	v := reflect.ValueOf(t)
	for i := range v.NumField() {
		if v.Type().Field(i).IsExported() && v.Field(i).IsZero() {
			names = append(names, v.Type().Field(i).Name)
		}
	}
	return names
}

// Code 4.2, 4.9: all that a trial says of its traffic is in it. What it does not
// say stands here: a field that is added has to be thought of.
func TestTrafficOfTrial(t *testing.T) {
	trial := record.Trial{From: "a", To: "b", Direction: flow.Both, Streams: 4, Protocol: "udp", Ports: PortsKernel, Congest: "bbr",
		Lanes: []record.Lane{{Asked: &record.Socket{RcvBuf: 1 << 20, Pacing: 5 * unit.Mbps}}}}
	got := TrafficOfTrial(trial)
	if names := strings.Join(unset(got), " "); names != "Lanes LoadedRTT Window ChosenOnly" {
		t.Errorf("not taken over: %s", names)
	}
	if got.Pace != 5*unit.Mbps || got.Streams != 4 || got.Congestion != "bbr" {
		t.Errorf("%+v", got)
	}
	trial.RateLimit, trial.Ceiling = 8*unit.Mbps, 100*unit.Mbps
	if got := TrafficOfTrial(trial); got.Pace != 2*unit.Mbps {
		t.Errorf("8 Mbit/s of 4 streams: %v each", got.Pace)
	}
	trial.RateLimit, trial.Lanes = trial.Ceiling, nil // what UDP offers unasked
	if got := TrafficOfTrial(trial); got.Pace != 0 {
		t.Errorf("what was offered by prediction holds %v", got.Pace)
	}
}

// Nobody builds a Traffic by hand: Between, TrafficOf, TrafficOfTrial and
// measure.Spec's Traffic do.
func TestNoTrafficByHand(t *testing.T) {
	literal := regexp.MustCompile(`\bpredict\.Traffic\{[^}]`)
	seen := 0
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		seen++
		text, err := os.ReadFile(path)
		for _, m := range literal.FindAllIndex(text, -1) {
			t.Errorf("%s:%d: a predict.Traffic made by hand", path, 1+strings.Count(string(text[:m[0]]), "\n"))
		}
		return err
	})
	if err != nil || seen < 500 {
		t.Errorf("%d files looked at, %v", seen, err)
	}
}
