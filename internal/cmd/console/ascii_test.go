package console

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

// Where the locale has no UTF-8, text of our own is ASCII, as wide as it was; names and
// documents stay.
func TestASCII(t *testing.T) {
	var out bytes.Buffer
	con := &Console{}
	con.Stdout = newASCII(con, &out)
	const text = "alpha → beta ⇄ gamma · 2 × 10G ≤ 20, 1.5µs …▏▎▍▌▋▊▉█\n"
	fmt.Fprint(con.Stdout, text)
	if utf8.RuneCountInString(text) != out.Len() || strings.ContainsFunc(out.String(), func(r rune) bool { return r > 127 }) {
		t.Errorf("%q is %q", text, out.String())
	}
	out.Reset()
	fmt.Fprint(con.Stdout, "host zürich\n")
	con.JSON = true
	fmt.Fprint(con.Stdout, `{"way":"a → b"}`)
	if out.String() != "host zürich\n{\"way\":\"a → b\"}" {
		t.Errorf("%q", out.String())
	}
}

func TestLocale(t *testing.T) {
	for want, env := range map[bool]map[string]string{true: {"LC_CTYPE": "en_US.UTF-8", "LANG": "C"}, false: {"LC_ALL": "C", "LANG": "en_US.UTF-8"}} {
		if got := utf8Spoken(func(name string) string { return env[name] }); got != want {
			t.Errorf("%v: %v", env, got)
		}
	}
}
