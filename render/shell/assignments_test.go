package shell

import (
	"testing"
)

// FuzzUpdateShell: a file of any text is changed in place so that a second time
// changes nothing.
func FuzzUpdateShell(f *testing.F) {
	f.Add("A=b # c\nIPADDR='1'\n")
	f.Add("A=\"\n")
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 4000 {
			return
		}
		pairs := []Pair{{"DEVICE", "eth0"}, {"IPADDR", "10.0.0.2"}, {"ETHTOOL_OPTS", "-K ${DEVICE} gro on"}}
		gone := func(key string) bool { return key == "NETMASK" }
		first := Update(text, pairs, gone)
		if again := Update(first, pairs, gone); again != first {
			t.Fatalf("%q\nthen %q", first, again)
		}
	})
}
