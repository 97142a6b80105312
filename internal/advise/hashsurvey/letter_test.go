package hashsurvey

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/steer/recognise"
)

var update = flag.Bool("update", false, "write the expected letters")

// letters are reports whose letter is in testdata.
func letters() map[string]Report {
	guess := func(policy string, sure float64) recognise.Guess {
		return recognise.Guess{Policy: policy, Confidence: sure}
	}
	partner := &netstate.Aggregator{ID: 1, Ports: 2, ActorKey: 21, PartnerKey: 32768, PartnerMAC: flow.MAC{0, 0x1c, 0x73, 0xaa, 0xbb, 0xcc}}
	alpha := Trunk{Host: "alpha", Bond: "bond1", Mode: "802.3ad", Policy: "layer3+4", MTU: 9000, LACP: partner, Ports: []TrunkPort{
		{Link: "ens2f0", MAC: flow.MAC{2, 0, 0, 0, 0, 1}, Usable: true, Aggregator: 1, Up: true},
		{Link: "ens2f1", MAC: flow.MAC{2, 0, 0, 0, 0, 2}, Usable: true, Aggregator: 1, Up: true},
	}}
	beta := Trunk{Host: "beta", Bond: "bond0", Mode: "802.3ad", Policy: "layer2+3", MTU: 1500, LACP: partner, Ports: []TrunkPort{
		{Link: "eth0", MAC: flow.MAC{2, 0, 0, 0, 1, 1}, Usable: true, Aggregator: 1, Up: true},
		{Link: "eth1", MAC: flow.MAC{2, 0, 0, 0, 1, 2}, Usable: true, Aggregator: 1, Up: true},
		{Link: "eth2", MAC: flow.MAC{2, 0, 0, 0, 1, 3}, Aggregator: 2, Up: true},
		{Link: "eth3", MAC: flow.MAC{2, 0, 0, 0, 1, 4}},
	}}
	sides := []SideReport{
		{Side: NearOut, Host: "alpha", Links: []string{"ens2f0", "ens2f1"}, Seen: []int{3, 3}},
		{Side: FarIn, Host: "beta", Links: []string{"eth0", "eth1"}, Seen: []int{6, 0}, Unreached: []string{"eth1"}, PortsHelp: 0.03,
			Guesses: []recognise.Guess{guess("layer2+3", 0.61), guess("unpublished:src-dst-ip", 0.3), guess("one-link", 0.05)}},
		{Side: FarOut, Host: "beta", Links: []string{"eth0", "eth1"}, Seen: []int{6, 0}, Unreached: []string{"eth1"},
			Ignored: "layer2+3 hashes MAC and IP addresses, not ports"},
		{Side: NearIn, Host: "alpha", Links: []string{"ens2f0", "ens2f1"}, Seen: []int{2, 4}, PortsHelp: 0.97, Guesses: []recognise.Guess{guess("layer3+4", 0.96)}},
	}
	bad := Report{A: "alpha", B: "beta", Probes: 6, Sides: sides, Trunks: []Trunk{alpha, beta}, Neighbors: []HostNeighbor{
		{Host: "alpha", Neighbor: netstate.Neighbor{Link: "ens2f0", SystemName: "leaf1", Port: "Ethernet1/7", PortDescription: "alpha a", MaxFrame: 1518, Aggregation: &netstate.PortAggregation{Capable: true, Active: true, ID: 107}}},
		{Host: "beta", Neighbor: netstate.Neighbor{Link: "eth2", Chassis: "00:1c:73:00:00:01", Port: "Ethernet1/9", Aggregation: &netstate.PortAggregation{Capable: true}}},
	}}
	said := bad
	said.Neighbors = []HostNeighbor{
		{Host: "beta", Neighbor: netstate.Neighbor{Link: "eth0", SystemName: "leaf2", Port: "1/1/7", SystemText: "Aruba JL635A  GL.10.08.1010"}},
		{Host: "alpha", Neighbor: netstate.Neighbor{Link: "ens2f0", SystemName: "leaf1", Port: "Ethernet1/7", SystemText: "Arista Networks EOS version 4.28.3M running on an Arista Networks DCS-7050SX3-48YC8"}},
		{Host: "alpha", Neighbor: netstate.Neighbor{Link: "ens2f1", SystemName: "leaf1", Port: "Ethernet8", SystemText: "Arista Networks EOS version 4.28.3M running on an Arista Networks DCS-7050SX3-48YC8"}},
	}
	silent := alpha
	silent.LACP, silent.Fast = &netstate.Aggregator{}, true
	said.Sides = append(slices.Clone(sides[:3]), sides[1])
	said.Sides[3].Host, said.Trunks = "alpha", []Trunk{silent, beta}
	good := Report{A: "alpha", B: "gamma", Probes: 4, Trunks: []Trunk{beta}, Sides: sides[3:]}
	good.Trunks[0].Host, good.Trunks[0].Ports = "gamma", beta.Ports[:2]
	return map[string]Report{"bad": bad, "said": said, "good": good, "nothing": {A: "a", B: "b", Trunks: []Trunk{{Host: "a", Bond: "bond0", Mode: "802.3ad", MTU: 1500, LACP: &netstate.Aggregator{}}, {Host: "b", MTU: 9000}}}}
}

func TestLetter(t *testing.T) {
	for name, report := range letters() {
		t.Run(name, func(t *testing.T) {
			got := report.Letter()
			file := filepath.Join("testdata", "letter-"+name+".txt")
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Error(diff)
			}
			for _, line := range strings.Split(got, "\n") {
				if len([]rune(line)) > letterWidth && !strings.HasPrefix(line, "    ") { // what is typed stays a line
					t.Errorf("%d columns: %s", len([]rune(line)), line)
				}
			}
		})
	}
}

func TestSideWords(t *testing.T) {
	seen := make(map[string]bool)
	for _, s := range Sides() {
		if seen[s.String()] || strings.HasPrefix(s.String(), "unknown") {
			t.Errorf("side %d is called %s", int(s), s)
		}
		seen[s.String()] = true
	}
	if sideCount.String() != "unknown-4" {
		t.Errorf("%s", sideCount)
	}
}
