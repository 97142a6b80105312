package piece

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
)

// TestAutomaton: it answers as the expression does, of words and ends, of case and of
// repetitions, and of lines that it has seen and has not. Where states grow out of hand
// it leaves all to the expression.
func TestAutomaton(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 4))
	for _, c := range []struct {
		expression string
		least      int // in a hundred lines that it answers
	}{
		{`\bab\b`, 99}, {`^\s*a(?:b|$)`, 99}, {`a$|^b`, 99}, {`(?m)^a$`, 99}, {`(?i)ks|K`, 99}, {`(?i)[k-s]{2}\d`, 99},
		{`\Ba\B`, 99}, {`a.b`, 99}, {`(?s)a.b`, 99}, {`[^ab\n]{3}`, 99}, {``, 99}, {`a{0}`, 99}, {`[^.;]{2,5}ab?`, 99},
		{`\b(?:a|b)[^.;]{0,12}\b1\b`, 0}, {`[ab]a.{14}[b1]`, 0},
	} {
		re, a, sure := regexp.MustCompile(c.expression), &automaton{expression: c.expression}, 0
		a.read.Store(worthwhile)
		const lines = 5000
		for range lines {
			var line strings.Builder
			for range random.IntN(40) {
				line.WriteByte("abAB kKsS1.;\n_"[random.IntN(14)])
			}
			match, ok := a.answer(line.String())
			if ok {
				sure++
			}
			if want := re.MatchString(line.String()); ok && match != want {
				t.Fatalf("%s on %q: %v, the expression %v", c.expression, line.String(), match, want)
			}
		}
		if sure < lines*c.least/100 {
			t.Errorf("%s: answers %d of %d lines", c.expression, sure, lines)
		}
		if len(a.states) > mostStates {
			t.Errorf("%s: %d states", c.expression, len(a.states))
		}
		if match, ok := a.answer("1\u212a"); ok && match != re.MatchString("1\u212a") {
			t.Errorf("%s: answers %v of what is not ASCII", c.expression, match)
		}
	}
	little := &automaton{expression: `a`}
	if _, ok := little.answer("a"); ok || little.prog != nil {
		t.Error("one is made for a single line")
	}
}

// TestAutomataSpare: of a long paste's lines hardly any is run over in vain.
func TestAutomataSpare(t *testing.T) {
	p := Compile(`^\s*(?:\[ *(?:\d+|SUM|ID)\]|\d+ bytes from|[\w.-]+:\s+flags=)`)
	vain := 0
	for range 10_000 {
		if p.may("   a line that nobody owns, of no word that tells") {
			vain++
		}
	}
	if vain > 100 {
		t.Errorf("%d of 10,000 lines are run over", vain)
	}
}
