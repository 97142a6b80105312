package probes

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/cmd/root"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// TestExplainProbe: the command reaches the hosts of a record that says little,
// measures, names what binds, and keeps the probes in the record; hosts and
// network are left as they were.
func TestExplainProbe(t *testing.T) {
	s := newStand(t, 1)
	s.shaped()
	s.set(s.far, map[string]string{"ipv4/tcp_rmem": "4096 65536 65536"})
	old := record.Record{
		Schema: record.Schema, Fabric: record.Fabric{File: "probes.yaml", Text: s.text}, Latency: []record.Latency{},
		Trials: []record.Trial{{
			From: "near", To: "far", Direction: flow.Forward, Streams: 1, Protocol: "tcp", Tool: "linerate", Ports: "chosen", Window: 2,
			Goodput: 10 * unit.Mbps, Ceiling: 149 * unit.Mbps, Lanes: []record.Lane{{Way: flow.Forward, Goodput: 10 * unit.Mbps}},
			Links: []record.LinkUse{}, CPU: []record.CPUUse{}, Notes: []string{},
		}},
	}
	dir := t.TempDir()
	file, kept := filepath.Join(dir, "record.json"), filepath.Join(dir, "probed.json")
	write(t, file, old)
	var out, errs bytes.Buffer
	app := &console.Console{Version: "test", Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs, Getenv: os.Getenv}
	if status := root.Run(app, []string{"explain", file, "--probe", "--yes", "-o", kept}); status != 0 {
		t.Fatalf("exit %d: %s%s", status, out.String(), errs.String())
	}
	t.Logf("%s%s", errs.String(), out.String())
	if !strings.Contains(out.String(), string(record.ReceiveWindow)) || !strings.Contains(errs.String(), "with both hosts observed") {
		t.Errorf("not found by what was measured: %s%s", errs.String(), out.String())
	}
	var r record.Record
	text, err := os.ReadFile(kept)
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	if err != nil || len(r.Trials) != 2 || len(r.ProbesOf(r.Trials[0])) != 1 || r.Trials[0].Finding == nil || r.Trials[0].Finding.Cause != record.ReceiveWindow {
		t.Fatalf("record of %d trials, %v: %+v", len(r.Trials), err, r.Trials)
	}
	// The record tells the same by itself.
	out.Reset()
	if status := root.Run(app, []string{"explain", kept}); status != 0 || !strings.Contains(out.String(), string(record.ReceiveWindow)) {
		t.Errorf("exit %d: %s", status, out.String())
	}
}

func write(t *testing.T, file string, v any) {
	t.Helper()
	b, err := json.Marshal(v)
	if err == nil {
		err = os.WriteFile(file, b, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}
