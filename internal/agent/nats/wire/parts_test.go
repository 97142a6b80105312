package wire

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

func TestParts(t *testing.T) {
	for _, n := range []int{0, 1, 9, 10, 11, 95} {
		whole := bytes.Repeat([]byte("0123456789"), 10)[:n]
		var w Assembly
		var got []byte
		done := false
		parts := Split(whole, 10)
		for i := range parts { // backwards, each twice
			p := parts[len(parts)-1-i]
			h := p.Headers()
			read, err := ParsePart(func(k string) string { return h[k] }, p.Body, 1000)
			if err != nil {
				t.Fatal(err)
			}
			if _, early, err := w.Add(read); i < len(parts)-1 && (early || err != nil) {
				t.Fatalf("part %d of %d: %v, %v", i, len(parts), early, err)
			}
			if got, done, err = w.Add(read); err != nil {
				t.Fatal(err)
			}
		}
		if !done || !bytes.Equal(got, whole) {
			t.Errorf("%d bytes: %v, %q", n, done, got)
		}
	}
}

func TestPartsRefuse(t *testing.T) {
	p := Split([]byte("0123456789abcdef"), 10)
	get := func(p Part) func(string) string {
		h := p.Headers()
		return func(k string) string { return h[k] }
	}
	for name, c := range map[string]struct {
		p    Part
		most int
	}{
		"too long":        {p[0], 15},
		"part 0":          {Part{Number: 0, Of: 1, Size: 1, Sum: p[0].Sum}, 100},
		"part 3 of 2":     {Part{Number: 3, Of: 2, Size: 1, Sum: p[0].Sum}, 100},
		"a million parts": {Part{Number: 1, Of: 1000000, Size: 1, Sum: p[0].Sum}, 100},
		"no sum":          {Part{Number: 1, Of: 1, Size: 1}, 100},
		"less than said":  {Part{Number: 1, Of: 1, Size: 1, Sum: p[0].Sum, Body: []byte("12")}, 100},
		"negative":        {Part{Number: 1, Of: 1, Size: -1, Sum: p[0].Sum}, 100},
	} {
		if _, err := ParsePart(get(c.p), c.p.Body, c.most); !errors.Is(err, ErrParts) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := ParsePart(func(string) string { return "" }, nil, 100); !errors.Is(err, ErrParts) {
		t.Errorf("no headers: %v", err)
	}
	forged := p[1]
	forged.Body = []byte("ABCDEF")
	var w Assembly
	_, _, _ = w.Add(p[0])
	if _, _, err := w.Add(forged); !errors.Is(err, ErrParts) {
		t.Errorf("a part of something else: %v", err)
	}
	other := Split([]byte("another whole thing"), 10)
	var v Assembly
	_, _, _ = v.Add(p[0])
	if _, _, err := v.Add(other[1]); !errors.Is(err, ErrParts) {
		t.Errorf("parts of two wholes: %v", err)
	}
}

func FuzzParts(f *testing.F) {
	f.Add("1/2", "12", strings.Repeat("a", 64), []byte("x"))
	f.Fuzz(func(t *testing.T, part, size, sum string, body []byte) {
		h := map[string]string{HeaderPart: part, HeaderSize: size, HeaderSum: sum}
		p, err := ParsePart(func(k string) string { return h[k] }, body, 1<<20)
		if err != nil {
			return
		}
		var w Assembly
		whole, done, err := w.Add(p)
		if done && (err != nil || !bytes.Equal(whole, body)) {
			t.Errorf("%q, %v", whole, err)
		}
	})
}
