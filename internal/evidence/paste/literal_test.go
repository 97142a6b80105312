package paste

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
)

// literal reads a Python literal behind a name and "=": dicts, lists, tuples, sets,
// texts, numbers, True, False and None. Others' expectations are written so.
func literal(s string) (any, error) {
	_, s, ok := strings.Cut(s, "=")
	if !ok {
		return nil, errors.New("no assignment")
	}
	p := &literalReader{s: s}
	return p.value(0)
}

type literalReader struct {
	s  string
	at int
}

func (p *literalReader) skip() {
	for p.at < len(p.s) {
		switch c := p.s[p.at]; {
		case c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\\':
			p.at++
		case c == '#':
			for p.at < len(p.s) && p.s[p.at] != '\n' {
				p.at++
			}
		default:
			return
		}
	}
}

func (p *literalReader) take(c byte) bool {
	if p.skip(); p.at < len(p.s) && p.s[p.at] == c {
		p.at++
		return true
	}
	return false
}

func (p *literalReader) value(depth int) (any, error) {
	p.skip()
	if depth > 40 || p.at >= len(p.s) {
		return nil, fmt.Errorf("nothing at %d", p.at)
	}
	switch c := p.s[p.at]; c {
	case '{':
		return p.dict(depth)
	case '[', '(':
		p.at++
		end := map[byte]byte{'[': ']', '(': ')'}[c]
		out := []any{}
		for !p.take(end) {
			v, err := p.value(depth + 1)
			if err != nil {
				return nil, err
			}
			out = append(out, v)
			p.take(',')
		}
		return out, nil
	case '"', '\'':
		text := ""
		for p.skip(); p.at < len(p.s) && (p.s[p.at] == '"' || p.s[p.at] == '\''); p.skip() {
			text += p.text()
		}
		return text, nil
	}
	from := p.at
	for p.at < len(p.s) && !strings.ContainsRune(",:]})\r\n #", rune(p.s[p.at])) {
		p.at++
	}
	word := p.s[from:p.at]
	switch word {
	case "True", "False":
		return word == "True", nil
	case "None":
		return nil, nil
	}
	if f, err := strconv.ParseFloat(word, 64); err == nil {
		return strconv.FormatFloat(f, 'f', -1, 64), nil
	}
	return nil, fmt.Errorf("%q at %d is no literal", word, from)
}

func (p *literalReader) dict(depth int) (any, error) {
	p.at++
	out := make(map[string]any)
	for !p.take('}') {
		k, err := p.value(depth + 1)
		if err != nil {
			return nil, err
		}
		if !p.take(':') {
			if !p.take(',') && p.at >= len(p.s) {
				return nil, errors.New("a dict without an end")
			}
			continue
		}
		v, err := p.value(depth + 1)
		if err != nil {
			return nil, err
		}
		out[fmt.Sprint(k)] = v
		p.take(',')
	}
	return out, nil
}

func (p *literalReader) text() string {
	quote := p.s[p.at : p.at+1]
	if strings.HasPrefix(p.s[p.at:], quote+quote+quote) {
		quote = quote + quote + quote
	}
	p.at += len(quote)
	var out strings.Builder
	for p.at < len(p.s) && !strings.HasPrefix(p.s[p.at:], quote) {
		if p.s[p.at] == '\\' && p.at+1 < len(p.s) {
			p.at++
		}
		out.WriteByte(p.s[p.at])
		p.at++
	}
	p.at = min(p.at+len(quote), len(p.s))
	return out.String()
}

func TestLiteral(t *testing.T) {
	got, err := literal("expected_output = {\n 'a': {1: [\"x\", True, None], },  # note\n \"b\": 'it\\'s' 'more', 'c': (2, 3.5),\n}\n")
	if err != nil {
		t.Fatal(err)
	}
	if s := fmt.Sprint(got); s != "map[a:map[1:[x true <nil>]] b:it'smore c:[2 3.5]]" {
		t.Error(s)
	}
	for _, bad := range []string{"", "x", "a = {", "a = {'b'", "a = ["} {
		if _, err := literal(bad); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}
