package lab

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

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
	files, err := scenario.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	var named []labNetwork
	for _, s := range files {
		named = append(named, labNetwork{file: &s})
	}
	place := Place{backEnd: string(lab.Auto)}
	beside, alone := sideBySide(named, place, scenarioOf{}, 2)
	all, long := make(map[int]int), time.Duration(1<<62)
	for _, j := range append(slices.Clone(beside), alone...) {
		all[j.named]++
		if n := j.part.of; n > 1 && files[j.named].Length() < leastSplit || n > 2 {
			t.Errorf("%s in %d parts", files[j.named].Name, n)
		}
	}
	if len(all) != len(named) {
		t.Errorf("%v and %v of %d", beside, alone, len(named))
	}
	for _, j := range beside {
		length := scenarioOf{part: j.part}.of(files[j.named]).Length()
		if length > long {
			t.Errorf("%s behind one that takes %v", files[j.named].Name, long)
		}
		long = length
	}
	if len(beside) > 1 && (files[beside[0].named].Name != "ovh-vrack" || beside[1].named != beside[0].named) {
		t.Errorf("first %v", beside[:2])
	}
	if one, rest := sideBySide(named, place, scenarioOf{}, 1); len(one) > 0 || len(rest) != len(named) {
		t.Errorf("with one lane %v stand beside each other", one)
	}
}

// A part is read as it is written, and nothing else is.
func TestPart(t *testing.T) {
	for text, want := range map[string]part{"1/2": {1, 2}, "3/3": {3, 3}, "0/2": {}, "3/2": {}, "2": {}, "a/b": {}, "1/2x": {}, "1/2/3": {}} {
		var got part
		if err := got.Set(text); (err == nil) != (want.of > 0) || err == nil && (got != want || got.String() != text) {
			t.Errorf("%s: %v, %v", text, got, err)
		}
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
