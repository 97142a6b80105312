package nfs

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/linerate/linerate/internal/host/apply/testjournal"
	"github.com/linerate/linerate/internal/lab/labtest/floor"
	"github.com/linerate/linerate/internal/lab/scenario"
	"github.com/linerate/linerate/internal/lab/scenariorun"
)

// TestRehearsed runs the scenario's transfers as users do: NFS 4.2 keeps two mounts
// on one connection and one link, max_connect and the chosen ports use both, every
// checksum is right, and nothing is left mounted.
func TestRehearsed(t *testing.T) {
	floor.Turn(t, floor.Rehearsing)
	loadModules(t, "nfsd", "nfsv4")
	s, _, err := scenario.Named("nfs-lacp")
	floor.Must(t, err)
	s.Steps = slices.DeleteFunc(s.Steps, func(step scenario.Step) bool { return step.Measure[0].Tool != scenario.NFS })
	result, err := scenariorun.Run(t.Context(), scenariorun.Config{Scenario: s, Version: "test", BackEnd: "test", JournalDir: testjournal.Dir(t)})
	floor.Must(t, err)
	connections := []int{1, 1, 2, 2}
	if len(result.Rows) != len(connections) {
		t.Fatalf("%d rows, want %d", len(result.Rows), len(connections))
	}
	one := result.Rows[0].Measured
	for i, r := range result.Rows {
		t.Log(scenario.Line(r))
		if r.Streams != connections[i] {
			t.Errorf("%s: %d connections, want %d", r.Step, r.Streams, connections[i])
		}
		ratio := float64(r.Measured / one)
		if want := float64(connections[i]); ratio < 0.9*want || ratio > 1.1*want {
			t.Errorf("%s: %.2f times one link, want %.0f", r.Step, ratio, want)
		}
		if r.Measured > r.Ceiling*1.01 {
			t.Errorf("%s: %v over a ceiling of %v", r.Step, r.Measured, r.Ceiling)
		}
	}
	if v := result.Rows[2].Verdict; v != scenario.Reproduced {
		t.Errorf("the published ratio is %s", v)
	}
	for _, n := range result.Notes {
		t.Error(n)
	}
	mounts, err := os.ReadFile("/proc/mounts")
	floor.Must(t, err)
	for _, what := range []string{" nfs4 ", " nfsd ", "linerate-"} {
		if strings.Contains(string(mounts), what) {
			t.Errorf("%s is mounted still:\n%s", what, mounts)
		}
	}
}
