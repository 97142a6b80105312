package procfs

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestKernelEvidence: the file that stays open says what it would say if it were
// opened anew.
func TestKernelEvidence(t *testing.T) {
	e, err := OpenEvidence()
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if _, err := e.Read(); err != nil {
		t.Fatal(err)
	}
	agreed := false
	for range 20 { // others' traffic may come between two readings
		got, err := e.Read()
		if err != nil {
			t.Fatal(err)
		}
		anew, err := read(netstatFile, ParseEvidence)
		if err != nil {
			t.Fatal(err)
		}
		agreed = agreed || cmp.Equal(got, anew)
	}
	if !agreed {
		t.Error("the file kept open never says what a new one says")
	}
}

func BenchmarkKernelEvidence(b *testing.B) {
	e, err := OpenEvidence()
	if err != nil {
		b.Fatal(err)
	}
	defer e.Close()
	for b.Loop() {
		if _, err := e.Read(); err != nil {
			b.Fatal(err)
		}
	}
}
