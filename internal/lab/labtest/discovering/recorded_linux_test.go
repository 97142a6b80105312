package discovering

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/cmd/root"
	"github.com/linerate/linerate/internal/host/apply/testjournal"
	"github.com/linerate/linerate/internal/lab/labtest/floor"
)

// TestDiscoverRecorded is TestDiscover of hosts as WireGuard, Docker, Cilium and
// others set them up, by the commands that a user types.
func TestDiscoverRecorded(t *testing.T) {
	y := &tally{has: map[string]int{}, made: map[string]int{}, lacks: map[string]int{}}
	for i, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			s := built(t, k.name, k.links, k.sysctls, append(append([]string{}, base...), k.commands...))
			y.count(s.observe(), s.refused)
			journal, file := testjournal.Dir(t), filepath.Join(t.TempDir(), "fabric.yaml")
			try := func(args ...string) (status int, stdout, stderr string) {
				var out, errs bytes.Buffer
				app := &console.Console{Version: "test", Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs, Getenv: func(string) string { return "" }}
				if slices.Contains([]string{"plan", "apply", "rollback"}, args[0]) {
					args = append(args, "--journal", journal)
				}
				status = root.Run(app, args)
				return status, out.String(), errs.String()
			}
			run := func(args ...string) string {
				t.Helper()
				status, out, errs := try(args...)
				if status != 0 {
					t.Errorf("linerate %s: exit status %d\n%s%s", strings.Join(args, " "), status, out, errs)
				}
				return out + errs
			}
			run("discover", "netns:"+s.name, "-o", file)
			text, err := os.ReadFile(file)
			floor.Must(t, err)
			for _, words := range k.says {
				if !strings.Contains(string(text), words) && len(s.refused) == 0 {
					t.Errorf("the file does not say %q", words)
				}
			}
			for _, more := range [][]string{nil, {"--exact"}} {
				if out := run(append([]string{"plan", file, "--profiles", "none"}, more...)...); !strings.Contains(out, "nothing to change") {
					t.Errorf("plan %v:\n%s", more, out)
				}
			}
			y.hosts++
			if !proving() && (floor.Draw(t)+uint64(i))%4 != 0 {
				return // each has its draw
			}
			f, err := fabric.Parse(file, text)
			floor.Must(t, err)
			s.quiet()
			before := s.dump()
			name := s.userChange(string(text), f, y, func(changed string, exact bool) bool {
				floor.Must(t, os.WriteFile(file, []byte(changed), 0o600))
				args := []string{"apply", file, "--yes", "--json", "--profiles", "none", "--persist", "none"}
				if exact {
					args = append(args, "--exact")
				}
				status, out, errs := try(args...)
				var applied struct {
					Hosts []struct {
						Journal string `json:"journal"`
					} `json:"hosts"`
				}
				switch status {
				case 2:
					return false // such as of a link that another program manages
				case 4:
					return true // a proof did not hold, and the change was rolled back
				}
				if err := json.Unmarshal([]byte(out), &applied); status != 0 || err != nil || len(applied.Hosts) != 1 {
					t.Errorf("linerate %s: exit status %d, %v\n%s%s", strings.Join(args, " "), status, err, out, errs)
					return true
				}
				run("rollback", applied.Hosts[0].Journal, "--host", "netns:"+s.name)
				return true
			})
			s.quiet()
			if lines := differences(before, s.dump()); len(lines) > 0 {
				t.Errorf("%s: after the rollback it is not as it was:\n  %s", name, strings.Join(lines, "\n  "))
			}
			if t.Failed() || testing.Verbose() && os.Getenv("PROVE_SHOW") != "" {
				t.Logf("refused:\n%s\nits file:\n%s", strings.Join(s.refused, "\n"), text)
			}
		})
	}
	t.Logf("%d recorded hosts in a row on kernel %s: discovered, planned, planned exactly, all empty; %d changes applied and put back, dumps equal; they had %s; changes: %s; this kernel refused: %s",
		y.hosts, y.kernel, y.changes, words(y.has), words(y.made), words(y.lacks))
}

// proving reports a proof, which tries everything.
func proving() bool { return os.Getenv(envSeed) != "" }

// userChange makes the first drawn change that a plan of the host takes.
func (s *stand) userChange(text string, f fabric.Fabric, y *tally, make func(text string, exact bool) bool) string {
	s.t.Helper()
	r := rand.New(rand.NewPCG(uint64(setting(envSeed, 1)), uint64(len(s.name))))
	var refused []string
	for _, e := range edits(r, text, f) {
		if e.needs != "" && !s.can(e.needs) {
			continue
		}
		p, _, err := s.plan(e.text, e.exact)
		if err != nil || len(p.Steps) == 0 {
			refused = append(refused, fmt.Sprintf("%s: %v", e.name, err))
			continue
		}
		if !make(e.text, e.exact) {
			continue
		}
		y.changes++
		name, _, _ := strings.Cut(e.name, ":")
		y.made[name]++
		return e.name
	}
	s.t.Logf("not changed: %s", strings.Join(refused, "; "))
	y.unchangeable++
	return "nothing"
}
