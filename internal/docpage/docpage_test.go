package docpage

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

const page = `# A page

    $ linerate predict \
        f.yaml --streams 1
    a -> b
      1  9.41

    done

Words, ` + "`$ linerate no`" + ` and

    linerate plan f.yaml      # why
    ctl# linerate serve | cat
    $ cat x
    $ ls

` + "```" + `
linerate tune "f.yaml" > out
` + "```" + `
`

func TestSamples(t *testing.T) {
	want := []Sample{
		{"linerate predict f.yaml --streams 1", []string{"a -> b", "  1  9.41", "", "done"}, 4, 8},
		{"cat x", nil, 14, 14},
		{"ls", nil, 15, 15},
	}
	if diff := cmp.Diff(want, Samples(page)); diff != "" {
		t.Error(diff)
	}
}

func TestCommands(t *testing.T) {
	want := [][]string{{"predict", "f.yaml", "--streams", "1"}, {"plan", "f.yaml"}, {"serve"}, {"tune", "f.yaml"}}
	if diff := cmp.Diff(want, Commands(page)); diff != "" {
		t.Error(diff)
	}
}

// TestFill: what is filled in is read again, and the rest of the page stays.
func TestFill(t *testing.T) {
	outputs := [][]string{{"new"}, {"x", "", "y"}, nil}
	filled := Fill(page, outputs)
	for i, s := range Samples(filled) {
		if diff := cmp.Diff(outputs[i], s.Output); diff != "" {
			t.Errorf("%s: %s", s.Command, diff)
		}
	}
	var before [][]string
	for _, s := range Samples(page) {
		before = append(before, s.Output)
	}
	if diff := cmp.Diff(page, Fill(filled, before)); diff != "" {
		t.Error(diff)
	}
}

func TestAlike(t *testing.T) {
	for name, c := range map[string]struct {
		page, printed []string
		want          bool
	}{
		"numbers":       {[]string{"  1/12 forward  240 Mbit/s  48.3 %"}, []string{"1/2  forward 9.4 Mbit/s -3 %"}, true},
		"bars":          {[]string{"eth0 [##########] 1"}, []string{"eth0 [#.........] 22"}, true},
		"entries":       {[]string{"20261123T193821.173178Z-1cf4f5 (confirmed):"}, []string{"20270101T000000.5Z-abcdef (confirmed):"}, true},
		"a whole share": {[]string{"forward  495 Mbit/s  99.7 %  line-rate"}, []string{"forward  497 Mbit/s  all of it  line-rate"}, true},
		"words":         {[]string{"single-link"}, []string{"line-rate"}, false},
		"units":         {[]string{"1 Mbit/s"}, []string{"1 Gbit/s"}, false},
		"too much":      {[]string{"a"}, []string{"a", "b"}, false},
		"too little":    {[]string{"a", "b"}, []string{"a"}, false},
		"left out":      {[]string{"a", "...", "d"}, []string{"a", "b", "c", "d"}, true},
		"none left out": {[]string{"a", "...", "d"}, []string{"a", "d"}, true},
		"wrong end":     {[]string{"a", "...", "d"}, []string{"a", "b", "e"}, false},
	} {
		if got := Alike(c.page, c.printed); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
