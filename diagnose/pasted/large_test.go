package pasted

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/linerate/linerate/internal/evidence/paste"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
)

// BenchmarkLarge answers a long text.
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
