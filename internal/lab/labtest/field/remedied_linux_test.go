package field

import (
	"maps"
	"os/exec"
	"path/filepath"
	"slices"

	"github.com/linerate/linerate/internal/lab/labtest/tried"
	"github.com/linerate/linerate/record"
)

// measuring is the command line that measures a file with some options.
func measuring(file, rec string, asked map[string]string) []string {
	args := []string{"measure", file, "-o", rec, "--force"}
	for _, name := range slices.Sorted(maps.Keys(asked)) {
		args = append(args, name, asked[name])
	}
	return args
}

// remedied carries out what is printed, with the fault still there, and measures again by
// the program's own command line. The file is what it was: hosts are observed anew.
func (s *stand) remedied(f finding, file string, asked map[string]string) (did tried.Result) {
	s.t.Helper()
	if f.Expected <= 0 {
		return tried.Result{Left: "no rate is promised"}
	}
	asked = maps.Clone(asked)
	lab := tried.Lab{
		Run: func(host, line string) ([]byte, error) {
			return exec.Command("ip", "netns", "exec", s.spaces[host].NS.Name, "sh", "-c", line).CombinedOutput()
		},
		Option: func(name, value string) bool {
			if asked[name] = value; value == "" {
				delete(asked, name)
			}
			return true
		},
		Switch: func(a record.Action) bool {
			if a.Switch != record.HashPorts || s.shape != "bond" && s.shape != "xor" {
				return false
			}
			s.do("m: for i in bo" + a.Host + " ub" + a.Host + "; do [ ! -e /sys/class/net/$i ] || ip link set $i type bond xmit_hash_policy layer3+4; done")
			return true
		},
	}
	s.t.Logf("remedy: %s", f.Remedy)
	left, err := lab.First(f.Ways)
	switch {
	case err != nil:
		return tried.Result{Failed: err.Error()}
	case left != "":
		return tried.Result{Left: left}
	}
	did.Promised = float64(f.Expected) / 1e6
	did.Measure(func() (float64, string) { // the machine has other things to do
		rec := filepath.Join(s.t.TempDir(), "remedied.json")
		said, wrong, _ := linerate(measuring(file, rec, asked)...)
		again := s.explained(rec)
		s.t.Logf("after it: %v of %v: %s: %s%s", again.Rate, f.Expected, again.Cause, again.Summary, map[bool]string{true: said + wrong}[again.Cause == ""])
		return float64(again.Rate) / 1e6, string(again.Cause)
	})
	return did
}
