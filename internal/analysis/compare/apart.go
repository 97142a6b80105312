package compare

import (
	"fmt"
	"slices"
	"strings"
)

// keyed are what a Key is made of, in words.
var keyed = [...]struct {
	name  string
	value func(Key) string
}{
	{"hosts", func(k Key) string { return k.From + " to " + k.To }},
	{"direction", func(k Key) string { return string(k.Direction) }},
	{"stream count", func(k Key) string { return fmt.Sprint(k.Streams) }},
	{"protocol", func(k Key) string { return k.Protocol }},
	{"setting", func(k Key) string { return k.Variant }},
	{"phase", func(k Key) string { return string(k.Phase) }},
}

// Apart names what keeps two sides apart that have nothing in common: "stream
// count: 1, 2 before, 4 after". Where no one thing does it is empty: each is on
// both sides, but never together.
func Apart(all []Unmatched) []string {
	var out []string
	for _, part := range keyed {
		sides := make(map[string][]string)
		for _, u := range all {
			word := part.value(u.Key)
			if word == "" {
				word = "none"
			}
			if !slices.Contains(sides[u.Side], word) {
				sides[u.Side] = append(sides[u.Side], word)
			}
		}
		before, after := sides["before"], sides["after"]
		shared := slices.ContainsFunc(before, func(w string) bool { return slices.Contains(after, w) })
		if len(before) == 0 || len(after) == 0 || shared {
			continue
		}
		out = append(out, fmt.Sprintf("%s: %s before, %s after", part.name, strings.Join(before, ", "), strings.Join(after, ", ")))
	}
	return out
}
