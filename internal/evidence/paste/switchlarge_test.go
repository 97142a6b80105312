package paste

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/internal/evidence/paste/switchfacts"
)

// largeSwitches are texts of many lines that would take a reader long whose
// work grows with the square of them.
func largeSwitches() map[string]string {
	lines := func(n int, format string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format+"\n", i)
		}
		return b.String()
	}
	all := make(map[string]string)
	var each strings.Builder
	for _, tc := range slices.Concat(ciscoStates, otherStates, moreStates, neighbourStates, portStates, freshStates) {
		each.WriteString(tc.text + "\n")
	}
	all["every sample again and again"] = strings.Repeat(each.String(), 1<<20/each.Len()+1)
	all["members of one channel"] = lines(10_000, "interface GigabitEthernet1/0/%d\n channel-group 10 mode active")
	all["members of one row"] = "1      Po1(SU)         LACP      Gi1/0/1(P)\n" + lines(20_000, "                                 Gi1/0/%d(P)")
	all["VLANs of one port"] = "interface Port-channel1\n" + strings.Repeat(lines(2000, " switchport trunk allowed vlan add 1%[1]d"), 3)
	all["neighbours of one port"] = "Port          Neighbor Device ID       Neighbor Port ID    TTL\n---------- ------------------------ ---------------------- ---\n" + lines(20_000, "Et1           host%-20d eth0                   120")
	all["braces"] = strings.Repeat("{\n", 30_000)
	all["tables that never end"] = strings.Repeat("{\n\"PORT\": {\n", 30_000)
	all["names without ports"] = lines(20_000, "hostname sw%d")
	all["VLANs' ports"] = "; J9729A Configuration Editor; Created on release #WB.16.10.0009\n" + lines(3_000, "vlan %d\n   tagged 1-48,A1-A24,Trk1-Trk9\n   untagged B1-B24")
	return all
}

// TestSwitchesLarge: the time for a text grows with its length, and no more.
func TestSwitchesLarge(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: it takes seconds")
	}
	for name, text := range largeSwitches() {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			c := Parse([]piece.Text{{Bytes: []byte(text)}})
			for _, h := range c.Hosts {
				switchfacts.State(h)
			}
			if took := time.Since(start); took > 30*time.Second {
				t.Errorf("%d kB took %v", len(text)>>10, took)
			} else {
				t.Logf("%s: %d kB took %v", name, len(text)>>10, took)
			}
		})
	}
}
