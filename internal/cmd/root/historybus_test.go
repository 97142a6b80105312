//go:build !aix

package root

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/agent/nats/results"
	"github.com/linerate/linerate/internal/agent/nats/testcluster"
	"github.com/linerate/linerate/internal/agent/nats/wire"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/record"
)

// A run with a head that says what cannot be, whoever put it there, keeps nobody
// else's out of a history.
func TestHistoryAddBadRunOnNATS(t *testing.T) {
	r := testcluster.Start(t, nil)
	eve := r.As(t, "eve", wire.Measure)
	rec := record.Record{
		Schema: record.Schema, ID: "20260301T101500.000Z", Started: time.Date(2026, 3, 1, 10, 15, 0, 0, time.UTC),
		Trials: []record.Trial{{From: "a", To: "b", Direction: flow.Forward, Streams: 1, Protocol: "tcp", Ports: "chosen"}},
	}
	for _, name := range []string{"bad", "dateless", "good"} {
		keeper, err := results.Keeper(testcluster.Connect(t, eve), name, nil)
		if err != nil {
			t.Fatal(err)
		}
		one := rec
		if name == "dateless" {
			one.Started = time.Time{}
		}
		if err := keeper.Keep(t.Context(), one); err != nil {
			t.Fatal(err)
		}
	}
	creds, err := r.Authority.Store()
	if err != nil {
		t.Fatal(err)
	}
	server, err := nats.Connect(r.URL, nats.RootCAs(r.CA()), nats.UserCredentialBytes(creds))
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	head := `{"parts_count":1125899906842624,"size_bytes":1,"version":"0123456789ab","sha256":"` + strings.Repeat("a", 64) + `"}`
	if _, err := server.Request("linerate.v2.kept.eve.bad.head", []byte(head), 2*time.Second); err != nil {
		t.Fatal(err)
	}
	args := []string{"history", "add", "nats:all", "--store", filepath.Join(t.TempDir(), "h.db"), "--nats", r.URL, "--creds", eve.Creds, "--nats-ca", r.CA()}
	got := run(t, "", args...)
	if got.status != console.ExitFailed || !strings.Contains(got.stdout, "nats:eve/good: ") || strings.Contains(got.stdout, "bad") || !strings.Contains(got.stderr, "2 runs on NATS cannot be read") || !strings.Contains(got.stderr, "left out: nats:eve/dateless") {
		t.Errorf("%+v", got)
	}
	shown := run(t, "", "history", "--json", "--store", args[4])
	var doc struct{ Runs []json.RawMessage }
	if err := json.Unmarshal([]byte(shown.stdout), &doc); err != nil || len(doc.Runs) != 1 {
		t.Errorf("%v: %+v", err, shown)
	}
}
