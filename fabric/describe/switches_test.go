package describe

import (
	"net/netip"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/netstate"
)

// TestSwitchesReadBack: what is written of switches reads back as them.
func TestSwitchesReadBack(t *testing.T) {
	for _, name := range []string{"../testdata/good/switches.yaml", "../../docs/examples/leaf-spine.yaml"} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		f, err := fabric.Parse(name, text)
		if err != nil {
			t.Fatal(err)
		}
		var hosts []netstate.Host
		for _, h := range f.Hosts {
			state, err := f.State(h.Name)
			if err != nil {
				t.Fatal(err)
			}
			hosts = append(hosts, state)
		}
		written := Write(hosts, f.Paths, nil, f.Measure)
		again, err := fabric.Parse("written", written)
		if err != nil {
			t.Fatalf("%v\n%s", err, written)
		}
		if diff := cmp.Diff(f.Topology.Switches, again.Topology.Switches, cmp.Comparer(func(a, b netip.Addr) bool { return a == b })); diff != "" {
			t.Errorf("%s (-want +got):\n%s\n%s", name, diff, written)
		}
	}
}
