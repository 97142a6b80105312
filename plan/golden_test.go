package plan_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/plan"
)

var update = flag.Bool("update", false, "write plan.txt of every case anew")

// TestGolden reads testdata/CASE/{observed,desired}.json and compares the plan
// with plan.txt. A new directory is a new case.
func TestGolden(t *testing.T) {
	cases, err := filepath.Glob("testdata/*/observed.json")
	if err != nil || len(cases) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, file := range cases {
		dir := filepath.Dir(file)
		t.Run(filepath.Base(dir), func(t *testing.T) {
			observed, desired := readHost(t, dir, "observed"), readHost(t, dir, "desired")
			p, err := plan.Between(observed, desired)
			got := p.Text(80)
			if err != nil {
				got = "error:\n" + err.Error() + "\n"
			}
			golden := filepath.Join(dir, "plan.txt")
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, readErr := os.ReadFile(golden)
			if readErr != nil {
				t.Fatal(readErr)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("plan (-want +got):\n%s", diff)
			}
			if err == nil {
				checkRoundTrip(t, observed, desired, p)
			}
		})
	}
}

func readHost(t *testing.T, dir, name string) netstate.Host {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var h netstate.Host
	if err := json.Unmarshal(b, &h); err != nil {
		t.Fatal(err)
	}
	return h
}
