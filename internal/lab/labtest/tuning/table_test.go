package tuning

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"
)

const (
	document   = "../../../../docs/tuning-compared.md"
	tableStart = "<!-- from docs/proofs/tune.txt -->\n"
	tableEnd   = "<!-- end -->\n"
)

// table is a proof as people read it: shares of the ceiling.
func table(rows []row, spreads []spread) string {
	var b strings.Builder
	b.WriteString("| scenario | ceiling, Mbit/s | as found | article | tuned | ESnet | grid's best | linerate | windows | traffic |\n|---|---|---|---|---|---|---|---|---|---|\n")
	for _, r := range rows {
		share := func(v float64) string {
			if v == 0 {
				return "-"
			}
			return fmt.Sprintf("%.3f", v/r.ceiling)
		}
		fmt.Fprintf(&b, "| %s | %.1f | %s | %s | %s | %s | %s | **%s** | %d | %.0f s |\n",
			r.scenario, r.ceiling, share(r.found), share(r.article), share(r.profile), share(r.research), share(r.again), share(r.linerate), r.windows, r.traffic)
	}
	if _, lacking := verdict(rows, spreads); len(lacking) > 0 {
		b.WriteString("\n**Short of what is asked:**\n\n")
		for _, l := range lacking {
			fmt.Fprintf(&b, "- %s\n", l)
		}
	}
	b.WriteString("\nWhat tune did in each, and the grid's best point: [the proof](proofs/tune.txt).\n\n| links | direction | sum, Mbit/s | chosen ports | at worst | the kernel's ports | at worst |\n|---|---|---|---|---|---|---|\n")
	for _, s := range spreads {
		fmt.Fprintf(&b, "| %d | %s | %.1f | **%.3f** | %.3f | %.3f | %.3f |\n", s.links, s.direction, s.ceiling, s.chosen/s.ceiling, s.worst/s.ceiling, s.kernel/s.ceiling, s.kernelWorst/s.ceiling)
	}
	return b.String()
}

// replaced is the document with another table.
func replaced(text, table string) (string, error) {
	before, rest, ok := strings.Cut(text, tableStart)
	_, after, closed := strings.Cut(rest, tableEnd)
	if !ok || !closed {
		return "", errors.New("the document has no place for the table")
	}
	return before + tableStart + "\n" + table + "\n" + tableEnd + after, nil
}

// TestTable: the document says what the kept proof shows; with PROVE_TABLE it
// is written.
func TestTable(t *testing.T) {
	text, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	want := "No proof is kept yet: `make prove-tune` makes one.\n"
	proof, err := os.ReadFile("../../../../docs/proofs/tune.txt")
	if err == nil {
		want = table(readProof(string(proof)))
	} else if !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	now, err := replaced(string(text), want)
	if err != nil {
		t.Fatal(err)
	}
	if os.Getenv("PROVE_TABLE") != "" {
		if err := os.WriteFile(document, []byte(now), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if now != string(text) {
		t.Errorf("%s is not what the proof shows: PROVE_TABLE=1 go test -run TestTable writes it", document)
	}
}
