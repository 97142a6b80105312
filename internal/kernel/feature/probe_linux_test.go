package feature

import (
	"compress/gzip"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/linerate/linerate/netstate"
)

// options are the kernel's build options behind the features.
var options = map[Name]string{
	NetNS: "NET_NS", Veth: "VETH", Bridge: "BRIDGE", Bonding: "BONDING", VLAN: "VLAN_8021Q",
	TBF: "NET_SCH_TBF", HTB: "NET_SCH_HTB", Netem: "NET_SCH_NETEM", FQ: "NET_SCH_FQ", MPTCP: "MPTCP",
}

// TestKernelProbe compares the probes with the kernel's own build record, both
// ways, where there is one.
func TestKernelProbe(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("making a network namespace needs root")
	}
	before, err := os.Readlink("/proc/thread-self/ns/net")
	if err != nil {
		t.Fatal(err)
	}
	loaded := modules()
	answers := Probe()
	for name, a := range answers {
		t.Logf("%s: %s: %s", name, a.State, a.Why)
		if a.Why == "" {
			t.Errorf("%s: no evidence", name)
		}
	}
	if len(answers) != len(Names()) {
		t.Errorf("%d answers for %d features", len(answers), len(Names()))
	}
	if after, _ := os.Readlink("/proc/thread-self/ns/net"); after != before {
		t.Errorf("the caller was moved from %s to %s", before, after)
	}
	if after := modules(); !slices.Equal(after, loaded) {
		t.Errorf("probing loaded a module: %v, before %v", after, loaded)
	}
	checkMinimum(t, answers)
	config := kernelConfig(t)
	if config == nil {
		return
	}
	for name, option := range options {
		built := regexp.MustCompile(`(?m)^CONFIG_` + option + `=([ym])$`).FindSubmatch(config)
		switch a := answers[name]; {
		case built == nil && a.State == Yes:
			t.Errorf("%s: yes (%s), and CONFIG_%s is not set", name, a.Why, option)
		case built != nil && built[1][0] == 'y' && a.State != Yes:
			t.Errorf("%s: %s (%s), and CONFIG_%s is built in", name, a.State, a.Why, option)
		}
	}
}

// modules names the loaded modules.
func modules() []string {
	text, _ := os.ReadFile("/proc/modules")
	var names []string
	for line := range strings.Lines(string(text)) {
		name, _, _ := strings.Cut(line, " ")
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// checkMinimum fails when a feature is there on a kernel older than its
// minimum says.
func checkMinimum(t *testing.T, answers map[Name]Answer) {
	t.Helper()
	k := netstate.Kernel{Release: release()}
	if newer, known := k.AtLeast(5, 6); known && !newer && answers[MPTCP].State == Yes {
		t.Errorf("MPTCP on %s, before %s", k.Release, answers[MPTCP].Min)
	}
}

// kernelConfig is the running kernel's build record, nil without one.
func kernelConfig(t *testing.T) []byte {
	f, err := os.Open("/proc/config.gz")
	if err != nil {
		return nil
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
