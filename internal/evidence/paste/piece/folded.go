package piece

import (
	"regexp/syntax"
	"strings"
)

// folded are words that are looked for all at once, whatever their case: by the pairs of
// letters that they begin with.
type folded struct {
	words []string // in lower case
	pairs [4096 / 64]uint64
	// odd: a K or an S may be the Kelvin sign or the long s, which fold to them.
	odd bool
}

// mostFolded bounds the words of an expression; of more each pair begins one.
const mostFolded = 400

// foldedOf is nil where the words are not all known, or too many to tell much.
func foldedOf(words []string, ok bool) *folded {
	if !ok || len(words) > mostFolded {
		return nil
	}
	f := &folded{words: words}
	for _, w := range words {
		at := pair(w[0], w[1])
		f.pairs[at/64] |= 1 << (at % 64)
		f.odd = f.odd || strings.ContainsAny(w, "ks")
	}
	return f
}

// pair is the place of two bytes, another one for each two letters.
func pair(a, b byte) uint { return (uint(a)<<5 ^ uint(b)) % 4096 }

// in reports one of the words in a line, or that only the expression can tell.
func (f *folded) in(s string) bool {
	if s == "" {
		return false
	}
	last := small[s[0]]
	for i := 1; i < len(s); i++ {
		c := small[s[i]]
		if at := pair(last, c); f.pairs[at/64]&(1<<(at%64)) != 0 && f.begins(s[i-1:]) {
			return true
		}
		last = c
	}
	return f.odd && (strings.Contains(s, "\u212a") || strings.Contains(s, "\u017f"))
}

// begins reports that a line begins with one of the words.
func (f *folded) begins(s string) bool {
	for _, w := range f.words {
		if len(w) > len(s) {
			continue
		}
		i := 0
		for i < len(w) && small[s[i]] == w[i] {
			i++
		}
		if i == len(w) {
			return true
		}
	}
	return false
}

// small are the bytes, letters in lower case.
var small = func() (all [256]byte) {
	for i := range all {
		all[i] = byte(i)
		if i >= 'A' && i <= 'Z' {
			all[i] += 'a' - 'A'
		}
	}
	return all
}()

// fold is a word of two bytes or more of ASCII whose case does not count.
func fold(re *syntax.Regexp) ([]string, bool) {
	s := strings.ToLower(string(re.Rune))
	if len(s) < 2 || !plain(s) {
		return nil, false
	}
	return []string{s}, true
}
