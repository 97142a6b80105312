package lab

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/lab"
	"github.com/linerate/linerate/internal/lab/scenario"
)

func TestLabsBeside(t *testing.T) {
	mine, err := lab.Cores()
	if err != nil || len(mine) == 0 {
		t.Fatal(mine, err)
	}
	for asked, want := range map[int]int{0: min(mostLabs, len(mine)), 1: 1, len(mine): len(mine)} {
		if got, err := labsBeside(asked); err != nil || got != want {
			t.Errorf("%d asked: %d, %v, want %d", asked, got, err, want)
		}
	}
	for _, asked := range []int{-1, len(mine) + 1} {
		if got, err := labsBeside(asked); err == nil {
			t.Errorf("%d asked: %d", asked, got)
		}
	}
}

// The scenario that takes longest begins first; what stands on the running kernel
// is run alone.
func TestSideBySide(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: it takes seconds")
	}
	named, err := scenario.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	place := Place{backEnd: string(lab.Auto)}
	beside, alone := sideBySide((&console.Console{}), named, place, 2)
	if len(beside)+len(alone) != len(named) {
		t.Fatalf("%v and %v of %d", beside, alone, len(named))
	}
	for k, i := range beside[1:] {
		if named[i].Length() > named[beside[k]].Length() {
			t.Errorf("%s before %s", named[beside[k]].Name, named[i].Name)
		}
	}
	if len(beside) > 0 && named[beside[0]].Name != "ovh-vrack" {
		t.Errorf("%s first", named[beside[0]].Name)
	}
	if one, rest := sideBySide((&console.Console{}), named, place, 1); len(one) > 0 || len(rest) != len(named) {
		t.Errorf("with one lane %v stand beside each other", one)
	}
}

// What two say at once comes in whole lines, each with its name.
func TestPrefixed(t *testing.T) {
	var out bytes.Buffer
	var mu sync.Mutex
	var both sync.WaitGroup
	for _, name := range []string{"a", "b"} {
		both.Go(func() {
			p := &prefixed{to: &out, mu: &mu, prefix: name + ": "}
			for i := range 100 {
				fmt.Fprintf(p, "line %d", i)
				fmt.Fprint(p, " of ", name, "\nrest")
				fmt.Fprint(p, "\n")
			}
		})
	}
	both.Wait()
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	if len(lines) != 400 {
		t.Errorf("%d lines", len(lines))
	}
	for _, line := range lines {
		if name, rest, _ := strings.Cut(line, ": "); rest != "rest" && !strings.HasSuffix(rest, " of "+name) {
			t.Errorf("%q", line)
		}
	}
}
