package steer

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/steer/flowfile"
)

func TestShowJSON(t *testing.T) {
	frames, err := flowfile.Parse([]byte("sport,src,dst,dport\n40000,192.168.10.1,192.168.10.2,5201\n40002,192.168.10.1,192.168.10.2,5201\n1,192.168.10.1,,2\n"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := json.Marshal(Show(Declared(netstate.Layer34, 2), frames))
	if err != nil {
		t.Fatal(err)
	}
	want := `{"policy":"layer3+4","links":2,"flows":[` +
		`{"proto":"tcp","src":"192.168.10.1","dst":"192.168.10.2","sport":40000,"dport":5201,"hash":690160461,"link":1,"known":true},` +
		`{"proto":"tcp","src":"192.168.10.1","dst":"192.168.10.2","sport":40002,"dport":5201,"hash":690160204,"link":0,"known":true},` +
		`{"proto":"tcp","src":"192.168.10.1","dst":"","sport":1,"dport":2,"hash":null,"link":null,"known":false,"why":"layer3+4 hashes both IP addresses, and one is not given"}],"per_link":[1,1]}`
	if d := cmp.Diff(want, string(got)); d != "" {
		t.Errorf("document (-want +got):\n%s", d)
	}
	empty, err := json.Marshal(Show(Bundle{}, nil))
	if err != nil || string(empty) != `{"policy":"layer2","links":0,"flows":[],"per_link":[]}` {
		t.Errorf("nothing to show: %s, %v", empty, err)
	}
}

// A row without a port that the policy reads has no link, and one with all has
// the link of its flow.
func TestShowSaysWhichPortIsMissing(t *testing.T) {
	frames, err := flowfile.Parse([]byte("proto,src,dst,sport,dport\ntcp,10.0.0.1,10.0.0.2,,5201\ntcp,10.0.0.1,10.0.0.2,40000,\nudp,10.0.0.1,10.0.0.2,0,5201\n89,10.0.0.1,10.0.0.2,,\n"))
	if err != nil {
		t.Fatal(err)
	}
	shown := Show(Declared(netstate.Layer34, 2), frames)
	for i, want := range []string{"source port", "destination port", "", ""} {
		f := shown.Flows[i]
		if f.Known != (want == "") || (f.Link == nil) == f.Known || !strings.Contains(f.Why, want) {
			t.Errorf("row %d: known %t, link %v, %q; want %q", i+1, f.Known, f.Link, f.Why, want)
		}
	}
	if d := cmp.Diff(2, shown.PerLink[0]+shown.PerLink[1]); d != "" {
		t.Errorf("flows with a link (-want +got):\n%s", d)
	}
}

// A known link's condition reaches programs too.
func TestShowJSONSaysConditions(t *testing.T) {
	early := Declared(netstate.Layer34, 2)
	early.Era = EraHostProto
	got, err := json.Marshal(Show(early, []flow.Frame{frame("10.0.0.1", "10.0.0.2", 40000, 5201)}))
	if err != nil || !strings.Contains(string(got), `"known":true,"why":"not on kernels 5.15.0 to 5.15.17`) {
		t.Errorf("early 5.15: %s, %v", got, err)
	}
}

func TestShowBroadcast(t *testing.T) {
	s := Show(Bundle{Mode: netstate.Broadcast, Ports: []string{"a", "b"}}, make([]flow.Frame, 3))
	if d := cmp.Diff([]int{3, 3}, s.PerLink); d != "" || s.Flows[0].Link != nil || !s.Flows[0].Known {
		t.Errorf("broadcast: %+v (-want +got):\n%s", s.Flows[0], d)
	}
}

// FuzzShow: whatever a file of flows says is shown, by every policy and release.
func FuzzShow(f *testing.F) {
	f.Add([]byte("proto,src,dst,sport,dport,smac,dmac,vlan\ntcp,10.0.0.1,10.0.0.2,40000,5201,02:00:00:00:01:11,02:00:00:00:02:22,100\n"))
	f.Add([]byte("proto,src,dst,icmp_type,icmp_code,icmp_id,spi,fragment,forwarded\nicmp,10.0.0.1,10.0.0.2,3,1,0,,no,yes\n50,10.0.0.1,10.0.0.2,,,,0x1,,\n"))
	f.Add([]byte("src,dst\n::1,::2\n::ffff:10.0.0.1,fe80::1%eth0\n"))
	f.Add([]byte("# c\n\"src\",\"a\nb\"\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		frames, err := flowfile.Parse(data)
		if err != nil {
			return
		}
		for _, policy := range netstate.HashPolicies() {
			for _, era := range Eras() {
				b := Declared(policy, 3)
				b.Era = era
				s := Show(b, frames)
				if len(s.Flows) != len(frames) {
					t.Fatalf("%d flows shown of %d", len(s.Flows), len(frames))
				}
				b.Groups(frames[:min(len(frames), 2)])
			}
		}
	})
}
