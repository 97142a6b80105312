package piece

import (
	"regexp"
	"regexp/syntax"
	"strings"
	"sync"
)

// Pattern is a regular expression that looks at a line before it runs: most lines are
// nobody's, and a byte or a word tells. It matches what the expression alone does.
type Pattern struct {
	whole  func() *regexp.Regexp
	glance func() glance
}

// Compile is a pattern, made when it first meets a line that it may match: a thousand of
// them took each start of the program 0.1 s and 19 MiB. It panics then where the expression
// is none.
func Compile(expression string) Pattern {
	return Pattern{
		whole:  sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) }),
		glance: sync.OnceValue(func() glance { return glanceOf(expression) }),
	}
}

// MatchString reports whether the line holds a match.
func (p Pattern) MatchString(s string) bool { return p.may(s) && p.whole().MatchString(s) }

// FindString is the leftmost match; "" none.
func (p Pattern) FindString(s string) string {
	if !p.may(s) {
		return ""
	}
	return p.whole().FindString(s)
}

// FindStringIndex is the place of the leftmost match; nil none.
func (p Pattern) FindStringIndex(s string) []int {
	if !p.may(s) {
		return nil
	}
	return p.whole().FindStringIndex(s)
}

// FindStringSubmatch is the leftmost match with its groups; nil none.
func (p Pattern) FindStringSubmatch(s string) []string {
	if !p.may(s) {
		return nil
	}
	return p.whole().FindStringSubmatch(s)
}

// FindStringSubmatchIndex is the place of that; nil none.
func (p Pattern) FindStringSubmatchIndex(s string) []int {
	if !p.may(s) {
		return nil
	}
	return p.whole().FindStringSubmatchIndex(s)
}

// FindAllString are the matches, at most n; nil none.
func (p Pattern) FindAllString(s string, n int) []string {
	if !p.may(s) {
		return nil
	}
	return p.whole().FindAllString(s, n)
}

// FindAllStringIndex are the places of those; nil none.
func (p Pattern) FindAllStringIndex(s string, n int) [][]int {
	if !p.may(s) {
		return nil
	}
	return p.whole().FindAllStringIndex(s, n)
}

// FindAllStringSubmatch are the matches, at most n, with their groups; nil none.
func (p Pattern) FindAllStringSubmatch(s string, n int) [][]string {
	if !p.may(s) {
		return nil
	}
	return p.whole().FindAllStringSubmatch(s, n)
}

// FindAllStringSubmatchIndex are the places of those; nil none.
func (p Pattern) FindAllStringSubmatchIndex(s string, n int) [][]int {
	if !p.may(s) {
		return nil
	}
	return p.whole().FindAllStringSubmatchIndex(s, n)
}

// ReplaceAllString is the line with its matches replaced.
func (p Pattern) ReplaceAllString(s, with string) string {
	if !p.may(s) {
		return s
	}
	return p.whole().ReplaceAllString(s, with)
}

// glance is what every match has: where the expression is anchored a first byte,
// behind blanks or not, and one of a few beginnings; else one of a few words.
type glance struct {
	first    *[256]bool // nil any
	blanks   bool       // the first byte behind blanks
	prefixes []string   // nil any
	words    []string   // nil any
	folded   *folded    // words whose case does not count; nil any
}

// mostWords is how many words are worth looking for one by one.
const mostWords = 24

func (p Pattern) may(s string) bool {
	g := p.glance()
	if g.first != nil {
		if g.blanks {
			s = strings.TrimLeft(s, " \t\n\f\r")
		}
		if s == "" || !g.first[s[0]] {
			return false
		}
		if g.prefixes != nil {
			return hasAny(s, g.prefixes, strings.HasPrefix)
		}
	}
	return (g.words == nil || hasAny(s, g.words, strings.Contains)) && (g.folded == nil || g.folded.in(s))
}

func hasAny(s string, words []string, has func(s, word string) bool) bool {
	for _, w := range words {
		if has(s, w) {
			return true
		}
	}
	return false
}

func glanceOf(expression string) (g glance) {
	re, err := syntax.Parse(expression, syntax.Perl)
	if err != nil {
		return g
	}
	re = re.Simplify()
	branches := []*syntax.Regexp{re}
	if re.Op == syntax.OpAlternate {
		branches = re.Sub
	}
	anchored := make([]*syntax.Regexp, 0, len(branches))
	for _, b := range branches {
		rest := parts(b)
		if len(rest) == 0 || rest[0].Op != syntax.OpBeginText {
			break
		}
		rest = rest[1:]
		if len(rest) > 0 && rest[0].Op == syntax.OpStar && isBlanks(rest[0].Sub[0]) {
			rest, g.blanks = rest[1:], true
		}
		anchored = append(anchored, &syntax.Regexp{Op: syntax.OpConcat, Sub: rest})
	}
	var first [256]bool
	if len(anchored) < len(branches) || anyEmpty(anchored, &first) || g.blanks && (first[' '] || first['\t'] || first['\n'] || first['\f'] || first['\r']) {
		g.blanks = false // the blanks may be the match's own
		if g.words, _ = few(mandatory(re, exact)); g.words == nil {
			g.folded = foldedOf(mandatory(re, fold))
		}
		return g
	}
	g.first = &first
	if g.prefixes, _ = few(ofEach(anchored, beginnings)); g.prefixes != nil {
		return g
	}
	all := &syntax.Regexp{Op: syntax.OpAlternate, Sub: anchored}
	if g.words, _ = few(mandatory(all, exact)); g.words == nil {
		g.folded = foldedOf(mandatory(all, fold))
	}
	return g
}

// few are words that are worth looking for one by one.
func few(words []string, ok bool) ([]string, bool) {
	if !ok || len(words) > mostWords {
		return nil, false
	}
	return words, true
}

// anyEmpty adds the bytes that matches of several can begin with, and reports one that
// may be empty.
func anyEmpty(all []*syntax.Regexp, set *[256]bool) (empty bool) {
	for _, re := range all {
		empty = firstBytes(re, set) || empty
	}
	return empty
}

// parts are what stands in a row.
func parts(re *syntax.Regexp) []*syntax.Regexp {
	switch re.Op {
	case syntax.OpConcat:
		return re.Sub
	case syntax.OpCapture:
		return parts(re.Sub[0])
	}
	return []*syntax.Regexp{re}
}

// isBlanks reports the class \s.
func isBlanks(re *syntax.Regexp) bool {
	return re.Op == syntax.OpCharClass && string(re.Rune) == "\t\n\f\r  "
}

// firstBytes adds the bytes that a match can begin with, and reports that it may be
// empty.
func firstBytes(re *syntax.Regexp, set *[256]bool) (empty bool) {
	all := func() {
		for i := range set {
			set[i] = true
		}
	}
	switch re.Op {
	case syntax.OpLiteral:
		if len(re.Rune) == 0 {
			return true
		}
		r := re.Rune[0]
		switch folds := re.Flags&syntax.FoldCase != 0; {
		case r >= 0x80 || folds && (r == 'k' || r == 'K' || r == 's' || r == 'S'): // the Kelvin sign, the long s
			all()
		default:
			set[byte(r)] = true
			if folds {
				set[byte(strings.ToLower(string(r))[0])], set[byte(strings.ToUpper(string(r))[0])] = true, true
			}
		}
	case syntax.OpCharClass:
		for i := 0; i+1 < len(re.Rune); i += 2 {
			for r := re.Rune[i]; r <= re.Rune[i+1] && r < 0x80; r++ {
				set[byte(r)] = true
			}
			if re.Rune[i+1] >= 0x80 {
				for b := 0x80; b < 256; b++ {
					set[b] = true
				}
			}
		}
	case syntax.OpCapture, syntax.OpPlus:
		return firstBytes(re.Sub[0], set)
	case syntax.OpStar, syntax.OpQuest:
		firstBytes(re.Sub[0], set)
		return true
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			if !firstBytes(sub, set) {
				return false
			}
		}
		return true
	case syntax.OpAlternate:
		return anyEmpty(re.Sub, set)
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		all()
	case syntax.OpNoMatch:
	default: // what takes no byte, and what is not known
		all()
		return true
	}
	return false
}

// beginnings are words of which every match begins with one; false where they are not
// all known, or too short to tell much.
func beginnings(re *syntax.Regexp) ([]string, bool) {
	switch re.Op {
	case syntax.OpLiteral:
		return exact(re)
	case syntax.OpCapture:
		return beginnings(re.Sub[0])
	case syntax.OpConcat:
		if len(re.Sub) == 0 {
			return nil, false
		}
		return beginnings(re.Sub[0])
	case syntax.OpAlternate:
		return ofEach(re.Sub, beginnings)
	}
	return nil, false
}

// mandatory are words of which every match has one somewhere, as literals tell them;
// false where they are not all known.
func mandatory(re *syntax.Regexp, literal func(*syntax.Regexp) ([]string, bool)) ([]string, bool) {
	switch re.Op {
	case syntax.OpLiteral:
		return literal(re)
	case syntax.OpCapture, syntax.OpPlus:
		return mandatory(re.Sub[0], literal)
	case syntax.OpConcat:
		var best []string
		for _, sub := range re.Sub {
			if words, ok := mandatory(sub, literal); ok && (best == nil || shortest(words)*len(best) > shortest(best)*len(words)) {
				best = words
			}
		}
		return best, best != nil
	case syntax.OpAlternate:
		return ofEach(re.Sub, func(sub *syntax.Regexp) ([]string, bool) { return mandatory(sub, literal) })
	}
	return nil, false
}

// exact is a word of two bytes or more whose case counts.
func exact(re *syntax.Regexp) ([]string, bool) {
	s := string(re.Rune)
	if re.Flags&syntax.FoldCase != 0 || len(s) < 2 {
		return nil, false
	}
	return []string{s}, true
}

func ofEach(all []*syntax.Regexp, words func(*syntax.Regexp) ([]string, bool)) (out []string, ok bool) {
	for _, sub := range all {
		w, ok := words(sub)
		if !ok {
			return nil, false
		}
		out = append(out, w...)
	}
	return out, true
}

func shortest(words []string) int {
	least := len(words[0])
	for _, w := range words {
		least = min(least, len(w))
	}
	return least
}
