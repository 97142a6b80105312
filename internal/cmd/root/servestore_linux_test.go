package root

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/linerate/linerate/internal/agent/nats/results"
	"github.com/linerate/linerate/internal/agent/nats/testcluster"
	"github.com/linerate/linerate/internal/agent/nats/wire"
	"github.com/linerate/linerate/record"
)

// A run store beside servers that something else runs keeps what users measure.
func TestServeStore(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: it takes seconds")
	}
	servers := testcluster.StartBare(t)
	files := make(map[string]string)
	for name, of := range map[string]func() ([]byte, error){"service": servers.Authority.Service, "store": servers.Authority.Store} {
		text, err := of()
		if err != nil {
			t.Fatal(err)
		}
		files[name] = filepath.Join(t.TempDir(), name+".creds")
		if err := os.WriteFile(files[name], text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p := startWatched(t, "serve", "store", "--nats", servers.URL, "--nats-ca", servers.CA(), "--creds", files["service"], "--store-creds", files["store"])
	for end := time.Now().Add(20 * time.Second); !strings.Contains(p.errs.String(), "answering for the run store"); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal(p.errs.String())
		}
	}
	conn := testcluster.Connect(t, servers.As(t, "eve", wire.Measure))
	keeper, err := results.Keeper(conn, "run", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := keeper.Keep(t.Context(), record.Record{ID: "run"}); err != nil {
		t.Fatal(err)
	}
	if runs, err := results.List(t.Context(), conn); err != nil || len(runs) != 1 {
		t.Errorf("%v, %v", runs, err)
	}
	if err := p.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := p.Wait(); err != nil {
		t.Errorf("%v\n%s", err, p.errs.String())
	}
}
