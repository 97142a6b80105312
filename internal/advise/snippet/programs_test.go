package snippet

import (
	"slices"
	"strings"
	"testing"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/advise/workload"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/steer"
)

// TestEveryWorkload: what nobody can choose is said to be luck, what addresses
// choose is exact where the program takes several, and every row is a word.
func TestEveryWorkload(t *testing.T) {
	two := []flow.Lane{lane("10.0.0.1", "10.0.0.9"), lane("10.0.0.2", "10.0.0.9")}
	for _, w := range workload.Programs() {
		var program Program
		for _, word := range append([]string{w.Name}, w.Aliases...) {
			if err := program.UnmarshalText([]byte(word)); err != nil || program.String() != w.Name {
				t.Errorf("%s reads as %s: %v", word, program, err)
			}
		}
		if slices.Contains(programWords[:], w.Name) {
			continue // with a snippet and tests of its own
		}
		_, several := w.Knob()
		byPorts := steer.PickRequest{Near: steer.Declared(netstate.Layer34, 2), Lanes: two[:1], Streams: 2}
		p, how, err := For(program, byPorts)
		if err != nil || how.Sender == nil {
			t.Errorf("%s: %+v, %v", w.Name, how, err)
			continue
		}
		notes := strings.Join(how.Notes, "\n")
		if several && (how.Exact || p.Even || len(p.Streams) != 2 || !strings.Contains(notes, "left to chance") || !strings.Contains(notes, w.More)) {
			t.Errorf("%s by ports: exact %t, %d streams, notes %q", w.Name, how.Exact, len(p.Streams), notes)
		}
		if !several && (len(p.Streams) != 1 || !strings.Contains(notes, "no option for more")) {
			t.Errorf("%s by ports: %d streams, notes %q", w.Name, len(p.Streams), notes)
		}
		if p.Streams[0].Dport != w.Port() {
			t.Errorf("%s: port %d, not its own %d", w.Name, p.Streams[0].Dport, w.Port())
		}
		byAddress := steer.PickRequest{Near: steer.Declared(netstate.Layer23, 2), Lanes: two, Streams: 2, SrcMAC: mac(t, "02:00:00:00:01:11"), DstMAC: mac(t, "02:00:00:00:02:22")}
		if p, how, err = For(program, byAddress); err != nil {
			t.Errorf("%s by addresses: %v", w.Name, err)
			continue
		}
		notes = strings.Join(how.Notes, "\n")
		if takes := w.Spread != "" && several; how.Exact != (takes || !several) || p.Even != (takes || !several) {
			t.Errorf("%s by addresses: exact %t, even %t on %v; it takes several: %q", w.Name, how.Exact, p.Even, p.PerLink, w.Spread)
		}
		if w.Spread == "" && !strings.Contains(notes, "the first pair alone") {
			t.Errorf("%s by addresses: notes %q", w.Name, notes)
		}
	}
}

// TestWorkloadCommands: as many connections as were picked, on the addresses that
// were.
func TestWorkloadCommands(t *testing.T) {
	one := []flow.Lane{lane("10.0.0.1", "10.0.0.2")}
	for word, want := range map[string]string{
		"nvme": "nvme connect -t tcp -a 10.0.0.2 -s 4420 -w 10.0.0.1 --nr-io-queues=4 -n NQN", "mscp": "mscp -n 4 SOURCE USER@10.0.0.2:PATH",
		"scp": "scp -o BindAddress=10.0.0.1 FILES USER@10.0.0.2:PATH &", "drbd": "",
		"cifs": "mount -t cifs -o multichannel,max_channels=4 //10.0.0.2/SHARE /MOUNTPOINT", "iscsi": "iscsiadm -m discovery -t sendtargets -p 10.0.0.2",
		"qemu": "virsh migrate --live --parallel --parallel-connections 4 GUEST qemu+ssh://10.0.0.2/system tcp://10.0.0.2", "ceph": "",
	} {
		var program Program
		if err := program.UnmarshalText([]byte(word)); err != nil {
			t.Fatal(err)
		}
		_, how, err := For(program, steer.PickRequest{Near: steer.Declared(netstate.Layer34, 2), Lanes: one, Streams: 4})
		got := ""
		if len(how.Sender) > 0 {
			got = how.Sender[0]
		}
		if err != nil || got != want {
			t.Errorf("%s: %q, %v; want %q", word, got, err, want)
		}
	}
	var aria2 Program
	if err := aria2.UnmarshalText([]byte("aria2")); err != nil {
		t.Fatal(err)
	}
	if _, _, err := For(aria2, steer.PickRequest{Near: steer.Declared(netstate.Layer34, 2), Lanes: one, Streams: 17}); err == nil {
		t.Error("aria2 has at most 16 connections to a server, and 17 were picked")
	}
	if _, _, err := For(aria2, steer.PickRequest{Near: steer.Declared(netstate.Layer34, 2), Lanes: one, Streams: 2, Proto: flow.UDP}); err == nil {
		t.Error("aria2 over UDP was picked")
	}
}
