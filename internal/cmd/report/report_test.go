package report

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/linerate/linerate/internal/evidence/resultfile"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/report"
)

// TestOtherProgramsFiles: a file that iperf3 wrote under a limit of its own is reported
// with the cause that `explain` names.
func TestOtherProgramsFiles(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "evidence", "resultfile", "testdata", "iperf3-forward.json"))
	if err != nil {
		t.Fatal(err)
	}
	read, err := resultfile.Read(text)
	if err != nil {
		t.Fatal(err)
	}
	r := judged(read)
	if f := r.Trials[0].Finding; f == nil || f.Cause != record.Application {
		t.Errorf("found %+v", f)
	}
	if said := report.Text(r, 80); strings.Contains(said, "no cause was proven") || !strings.Contains(said, "application") {
		t.Errorf("reported as\n%s", said)
	}
	if read.Trials[0].Finding != nil {
		t.Error("the record that was read is changed")
	}
}
