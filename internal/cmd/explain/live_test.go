package explain

import (
	"encoding/json"
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"

	diagnoselive "github.com/linerate/linerate/diagnose/live"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/evidence/livetraffic"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/unit"
)

// watchedHost is a file server on a slow afternoon: a backup whose two
// connections share one link of a bond, an NFS mount whose server's buffer is
// small, a program that is paced, one of another user's that writes little,
// and a restore that is read too slowly.
func watchedHost() livetraffic.Watched {
	port := &netstate.BondPort{Bond: "bond0", Active: true, MIIUp: true}
	link := func(name string, index int) netstate.Link {
		return netstate.Link{Name: name, Index: index, MTU: 9000, Up: true, Carrier: true, Speed: 10 * unit.Gbps, Driver: "ixgbe", Port: port, Master: "bond0"}
	}
	h := netstate.Host{Name: "rbx", Kernel: netstate.Kernel{OS: "linux", Release: "6.1.0"}, Links: []netstate.Link{
		link("ens2f0", 2), link("ens2f1", 3),
		{Name: "bond0", Index: 4, Kind: "bond", MTU: 9000, Up: true, Carrier: true, Bond: &netstate.Bond{Mode: netstate.BalanceXOR, HashPolicy: netstate.Layer34, Ports: []string{"ens2f0", "ens2f1"}}},
	}}
	base := livetraffic.Flow{
		Tuple: flow.Tuple{Proto: flow.TCP, Src: netip.MustParseAddr("10.0.0.1")}, Span: 5 * time.Second,
		Way: livetraffic.Way{Link: "bond0"}, Congestion: "cubic",
		Out: livetraffic.Sending{Clock: true, Busy: 1, NotSent: 300 * unit.KiB, Windows: true, Window: 6 * unit.MiB, MostWindow: 6 * unit.MiB,
			RTT: 1200 * time.Microsecond, MinRTT: 300 * time.Microsecond, MSS: 8948},
	}
	add := func(w *livetraffic.Watched, dst string, sport, dport uint16, change func(*livetraffic.Flow)) {
		f := base
		f.Dst, f.Sport, f.Dport = netip.MustParseAddr(dst), sport, dport
		change(&f)
		w.Flows = append(w.Flows, f)
	}
	w := livetraffic.Watched{Host: h, Span: 5 * time.Second, Rest: livetraffic.Rest{Connections: 12, Rate: 3 * unit.Mbps, Idle: 48, Inside: 6},
		Links: []livetraffic.Link{
			{Name: "ens2f0", Tx: 9.93 * unit.Gbps, TxPackets: 137600, Rx: 120 * unit.Mbps, RxPackets: 30000, TxDrops: 912},
			{Name: "ens2f1", Tx: 1.42 * unit.Gbps, TxPackets: 20000, Rx: 420 * unit.Mbps, RxPackets: 6000},
		},
		Unseen: []string{"the programs of 1 of the connections: another user's; root sees them"},
	}
	for _, sport := range []uint16{40001, 40000} {
		add(&w, "10.0.0.2", sport, 873, func(f *livetraffic.Flow) {
			f.Sent, f.Program = 4.9*unit.Gbps, livetraffic.Program{PID: 812, Name: "rsync", Threads: 1, Ran: 0.52}
		})
	}
	add(&w, "10.0.0.7", 40004, 2049, func(f *livetraffic.Flow) {
		f.Sent, f.Program = 900*unit.Mbps, livetraffic.Program{Kernel: "NFS mount /data of 10.0.0.7"}
		f.Out.RwndLimited, f.Out.Window, f.Out.MostWindow, f.Out.RTT = 0.94, 256*unit.KiB, 256*unit.KiB, 2300*time.Microsecond
	})
	add(&w, "10.0.0.9", 443, 51000, func(f *livetraffic.Flow) {
		f.Sent, f.Program, f.Out.MaxPacing = 390*unit.Mbps, livetraffic.Program{PID: 77, Name: "nginx", Threads: 4, Ran: 0.1}, 400*unit.Mbps
	})
	add(&w, "10.0.0.8", 40010, 9000, func(f *livetraffic.Flow) {
		f.Received, f.Program = 300*unit.Mbps, livetraffic.Program{PID: 4100, Name: "restore", Threads: 3, Ran: 0.08}
		f.In = livetraffic.Reading{Unread: 3 * unit.MiB, Full: 1, Buffer: 6 * unit.MiB, RTT: time.Millisecond}
	})
	add(&w, "10.0.0.5", 40012, 5000, func(f *livetraffic.Flow) {
		f.Sent, f.Program, f.Out.Busy = 20*unit.Mbps, livetraffic.Program{UID: 1001, Hidden: true}, 0.2
	})
	return w
}

// TestLiveText keeps what people read; it fits a terminal.
func TestLiveText(t *testing.T) {
	w := watchedHost()
	got := liveText(w, diagnoselive.Judge(w), 80)
	for line := range strings.Lines(got) {
		if len([]rune(strings.TrimRight(line, "\n"))) > 80 {
			t.Errorf("wider than 80 columns: %s", line)
		}
	}
	const golden = "testdata/live.golden"
	if os.Getenv("UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

// TestLiveTextNarrow: it fits a narrow terminal too.
func TestLiveTextNarrow(t *testing.T) {
	w := watchedHost()
	w.Links[0].Name, w.Host.Links[0].Name, w.Host.Links[2].Bond.Ports[0] = "enp193s0f0np0", "enp193s0f0np0", "enp193s0f0np0"
	for line := range strings.Lines(liveText(w, diagnoselive.Judge(w), 60)) {
		if len([]rune(strings.TrimRight(line, "\n"))) > 60 {
			t.Errorf("wider than 60 columns: %s", line)
		}
	}
}

// TestLiveJSON: scripts for explain --json find the same keys.
func TestLiveJSON(t *testing.T) {
	w := watchedHost()
	b, err := json.Marshal(liveDocumentOf("rbx", w.Span, w.Rest.Connections, w.Unseen, diagnoselive.Judge(w)))
	if err != nil {
		t.Fatal(err)
	}
	var doc map[string]json.RawMessage
	if err := json.Unmarshal(b, &doc); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"host", "watched_s", "flows", "links", "unseen", "findings"} {
		if _, ok := doc[key]; !ok {
			t.Errorf("no %s in %s", key, b)
		}
	}
	var findings []map[string]json.RawMessage
	if err := json.Unmarshal(doc["findings"], &findings); err != nil || len(findings) != 5 {
		t.Fatalf("%d findings, %v: %s", len(findings), err, doc["findings"])
	}
	for _, key := range []string{"from", "to", "direction", "streams", "cause", "confidence_ratio", "rate_bps", "ceiling_bps", "evidence", "remedy", "expected_bps"} {
		for _, f := range findings {
			if _, ok := f[key]; !ok {
				t.Errorf("no %s in %v", key, f)
			}
		}
	}
	var flows []struct {
		Finding  json.RawMessage   `json:"finding"`
		Findings []json.RawMessage `json:"findings"`
		Links    []string          `json:"links"`
	}
	if err := json.Unmarshal(doc["flows"], &flows); err != nil || len(flows[0].Findings) != 1 || flows[0].Finding != nil || len(flows[0].Links) == 0 {
		t.Errorf("%v: %s", err, doc["flows"])
	}
}
