package procfs

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestKernelDamage: the running kernel counts what arrives damaged by these names.
func TestKernelDamage(t *testing.T) {
	text, err := os.ReadFile(snmpFile)
	if err != nil {
		t.Fatal(err)
	}
	groups, err := ParseNetstat(text)
	if err != nil {
		t.Fatal(err)
	}
	for _, group := range []string{"Tcp", "Udp"} {
		if _, ok := groups[group]["InCsumErrors"]; !ok {
			t.Errorf("%s has no InCsumErrors", group)
		}
	}
	d, err := OpenDamage()
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if got, err := d.Read(); err != nil || got == nil {
		t.Errorf("%v, %v", got, err)
	}
}

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
