package root

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/linerate/linerate/internal/cmd/console"
)

// envLiveCost makes this binary the program.
const envLiveCost = "TEST_EXPLAIN_LIVE"

// TestExplainLiveCost: watching takes less than 2 % of a core, start and end
// of the program included.
func TestExplainLiveCost(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: it takes seconds")
	}
	if os.Getenv(envLiveCost) != "" {
		os.Exit(Run(console.System("test"), []string{"explain", "--live", "--json", "--duration", "5s"}))
	}
	const most = 0.02
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "-test.run", "^TestExplainLiveCost$")
	cmd.Env = append(os.Environ(), envLiveCost+"=1")
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v: %s", err, said.String())
	}
	var doc struct {
		Watched float64 `json:"watched_s"`
	}
	if err := json.Unmarshal(out.Bytes(), &doc); err != nil {
		t.Fatalf("%v: %s", err, out.String())
	}
	cpu := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	t.Logf("%v in %.1f s", cpu, doc.Watched)
	if doc.Watched < 4.9 || cpu.Seconds() > most*doc.Watched {
		t.Errorf("took %v of a core's time in %.1f s, want %v at most", cpu, doc.Watched, time.Duration(most*doc.Watched*float64(time.Second)))
	}
}
