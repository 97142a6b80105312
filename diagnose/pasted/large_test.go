package pasted

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/linerate/linerate/internal/evidence/paste"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
)

// TestLarge: the time for a text grows with its length, and not by its hosts times its runs.
func TestLarge(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: it takes seconds")
	}
	text := largeText(t)
	start := time.Now()
	Judge(paste.Parse([]piece.Text{{Bytes: text}}))
	if took := time.Since(start); took > time.Minute {
		t.Errorf("%d kB took %v", len(text)>>10, took)
	} else {
		t.Logf("%d kB took %v", len(text)>>10, took)
	}
}

// BenchmarkLarge answers the same.
func BenchmarkLarge(b *testing.B) {
	text := largeText(b)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		Judge(paste.Parse([]piece.Text{{Bytes: text}}))
	}
}

// largeText is 10 MB that are nothing but outputs: all of our own questions, again and
// again.
func largeText(b testing.TB) []byte {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		b.Fatal(files, err)
	}
	var all bytes.Buffer
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			b.Fatal(err)
		}
		all.Write(text)
		all.WriteByte('\n')
	}
	return bytes.Repeat(all.Bytes(), 10<<20/all.Len()+1)[:10<<20]
}
