package readback

import (
	"sort"
	"strings"
	"unicode"

	"github.com/linerate/linerate/fabric/yamldoc"
)

// place is where in a user's file something was read.
type place struct {
	file         string
	line, column int
}

// fileText is a file's text by lines, and where each word of it stands.
type fileText struct {
	lines []string // in lower case
	words map[string][]place
}

// textOf splits a file once, however often it is asked.
func (f *Host) textOf(file, text string) *fileText {
	if known := f.texts[file]; known != nil {
		return known
	}
	t := &fileText{strings.Split(text, "\n"), map[string][]place{}}
	for i, line := range t.lines {
		line = strings.ToLower(line)
		t.lines[i] = line
		for at := 0; at < len(line); {
			n := strings.IndexFunc(line[at:], func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(`"'=,;()[]{}`, r) })
			if n < 0 {
				n = len(line) - at
			}
			if word := line[at : at+n]; n > 0 {
				t.words[word] = append(t.words[word], place{file, i + 1, len([]rune(line[:at])) + 1})
			}
			at += n + 1
		}
	}
	f.texts[file] = t
	return t
}

// mostSearched is how many lines are searched for a value that is no word of them.
const mostSearched = 300

// find is the first of the lines from first to last where a value stands word for word;
// false none.
func (t *fileText) find(file, value string, first, last int) (place, bool) {
	value = strings.ToLower(value)
	at := t.words[value]
	if i := sort.Search(len(at), func(i int) bool { return at[i].line >= first }); i < len(at) && at[i].line <= last {
		for i+1 < len(at) && at[i+1].line == at[i].line {
			i++ // the last of the line: a key may be the same word
		}
		return at[i], true
	}
	for i := first; i <= min(last, first+mostSearched); i++ {
		if at := strings.LastIndex(t.lines[i-1], value); at >= 0 {
			return place{file, i, len([]rune(t.lines[i-1][:at])) + 1}, true
		}
	}
	return place{}, false
}

// Mark says of all that was added since the last call where it was read: in the
// lines from first to last of a file. A value that is written there word for word is
// placed at it, all else at the first line.
func (f *Host) Mark(file, text string, first, last int) {
	t := f.textOf(file, text)
	first, last = max(first, 1), min(last, len(t.lines))
	where := func(n *yamldoc.Node) place {
		if n.Kind == yamldoc.ScalarNode && n.Text != "" {
			if at, ok := t.find(file, n.Text, first, last); ok {
				return at
			}
		}
		return place{file, first, 1}
	}
	for _, n := range f.touched {
		f.mark(n, where)
	}
	// What the caller still holds of the last one may get more.
	f.touched = f.touched[max(len(f.touched)-1, 0):]
}

// PlaceAt says of what is beside the network where it was read.
func (f *Host) PlaceAt(n *yamldoc.Node, file string, line int) {
	f.mark(n, func(*yamldoc.Node) place { return place{file, line, 1} })
}

// touch notes a node whose parts Mark looks at.
func (f *Host) touch(n *yamldoc.Node) *yamldoc.Node {
	if len(f.touched) == 0 || f.touched[len(f.touched)-1] != n {
		f.touched = append(f.touched, n)
	}
	return n
}

// MarkRead says of all that was added since the last call that it was read in a
// YAML file, at the places that its nodes have: a mapping or list that begins below its key at the
// key.
func (f *Host) MarkRead(file string, n *yamldoc.Node) {
	f.markKeys(file, n)
	f.mark(n, func(n *yamldoc.Node) place { return place{file, max(n.Line, 1), max(n.Column, 1)} })
}

func (f *Host) markKeys(file string, n *yamldoc.Node) {
	for _, p := range n.Pairs {
		if _, marked := f.places[p.Value]; !marked && p.Line > 0 && p.Value.Kind != yamldoc.ScalarNode && p.Value.Line != p.Line {
			f.places[p.Value] = place{file, p.Line, max(p.Column, 1)}
		}
		f.markKeys(file, p.Value)
	}
	for _, item := range n.Items {
		f.markKeys(file, item)
	}
}

func (f *Host) mark(n *yamldoc.Node, where func(*yamldoc.Node) place) {
	if _, marked := f.places[n]; !marked {
		f.places[n] = where(n)
	}
	for _, p := range n.Pairs {
		f.mark(p.Value, where)
	}
	for i := len(n.Items) - 1; i >= 0; i-- { // lists grow at their end
		if _, marked := f.places[n.Items[i]]; marked {
			break
		}
		f.mark(n.Items[i], where)
	}
}
