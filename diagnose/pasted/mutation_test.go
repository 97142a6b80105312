package pasted

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/linerate/linerate/internal/evidence/paste"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
)

// TestCorpusMutations: public and own questions, mutated at random: lines taken out,
// repeated, moved, cut, mixed with another question's and with garbage. Nothing
// panics, and where lines were only taken out no other cause is named with
// confidence. LINERATE_MUTATIONS is how many (some hundreds otherwise).
func TestCorpusMutations(t *testing.T) {
	n, _ := strconv.Atoi(os.Getenv("LINERATE_MUTATIONS"))
	if n == 0 {
		n = 600
	}
	draw := rand.New(rand.NewPCG(28, 1))
	type question struct {
		truth
		lines []string
	}
	var all []question
	for _, dir := range []string{"testdata", corpus} {
		if _, err := os.Stat(filepath.Join(dir, "truth.jsonl")); err != nil {
			continue // the public ones lie beside the project
		}
		for _, q := range truths(t, dir) {
			text, err := os.ReadFile(filepath.Join(dir, q.File))
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, question{q, strings.SplitAfter(string(text), "\n")})
		}
	}
	wrong, removed := 0, 0
	for range n {
		q := all[draw.IntN(len(all))]
		lines, less := slices.Clone(q.lines), true
		for range 1 + draw.IntN(4) {
			at, upTo := draw.IntN(len(lines)+1), 0
			upTo = min(at+1+draw.IntN(12), len(lines))
			switch draw.IntN(8) {
			case 0, 1, 2:
				lines = slices.Delete(lines, at, upTo)
			case 3:
				lines, less = slices.Insert(lines, at, lines[at:upTo]...), false
			case 4:
				piece := slices.Clone(lines[at:upTo])
				lines = slices.Delete(lines, at, upTo)
				lines, less = slices.Insert(lines, draw.IntN(len(lines)+1), piece...), false
			case 5:
				if at < len(lines) && len(lines[at]) > 0 {
					b := []byte(lines[at])
					b[draw.IntN(len(b))] = byte(draw.IntN(256))
					lines[at], less = string(b), false
				}
			case 6:
				other := all[draw.IntN(len(all))].lines
				from := draw.IntN(len(other) + 1)
				lines, less = slices.Insert(lines, at, other[from:min(from+12, len(other))]...), false
			case 7:
				if at < len(lines) && len(lines[at]) > 0 {
					lines[at], less = lines[at][:draw.IntN(len(lines[at]))], false
				}
			}
		}
		f := Judge(paste.Parse([]piece.Text{{Name: q.File, Bytes: []byte(strings.Join(lines, ""))}})).Findings[0]
		if !less {
			continue
		}
		removed++
		if cause := string(f.Cause); f.Confidence > 0.8 && cause != q.Cause && !slices.Contains(q.AlsoRight, cause) {
			wrong++
			t.Logf("%s with lines taken out: %s %.2f, truth %s: %.120s", q.File, cause, f.Confidence, q.Cause, f.Summary)
		}
	}
	t.Logf("%d mutated texts, no panic; of %d with lines taken out %d named another cause with confidence", n, removed, wrong)
	if wrong*200 > removed {
		t.Errorf("%d of %d are more than 0.5 %%", wrong, removed)
	}
}
