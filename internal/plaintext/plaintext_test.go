package plaintext

import (
	"bytes"
	"encoding/json"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

// hostile has each kind of character that a terminal obeys.
const hostile = "a\x1b]0;owned\x07b\x00c\rd\x7fe\u009b31mf\u202eg\u2066h\u200bi\ufeffj\u2028k\xffl"

func TestLine(t *testing.T) {
	if got, want := Line("x\ty\nz"), "x y z"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := Line(hostile), "a?]0;owned?b?c d?e?31mf?g?h?i?j?k?l"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if s := "größe 25 Gbit/s → 日本"; Line(s) != s {
		t.Errorf("%q became %q", s, Line(s))
	}
}

func TestText(t *testing.T) {
	if got, want := Text("x\ty\nz\x1b[2J"), "x\ty\nz?[2J"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestJSON: the document says the same, and nothing in it moves a terminal.
func TestJSON(t *testing.T) {
	in := map[string]string{"name": "a\x1b]0;b\x7fc\u009b\u202e\U000e0041d\ne"}
	text, err := json.MarshalIndent(in, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	got := JSON(text)
	if i := bytes.IndexFunc(got, outsideJSON); i >= 0 {
		t.Errorf("%q at byte %d", got, i)
	}
	var out map[string]string
	if err := json.Unmarshal(got, &out); err != nil || !reflect.DeepEqual(in, out) {
		t.Errorf("%v, %q became %q", err, in, out)
	}
	if same := []byte("{\"a\": \"ü\"}\r\n"); !bytes.Equal(JSON(same), same) {
		t.Error("a harmless document was changed")
	}
}

// TestWriter writes a text in pieces of every length.
func TestWriter(t *testing.T) {
	text := hostile + "größe → \U0001f600\n"
	for size := 1; size < 8; size++ {
		var b strings.Builder
		w := NewWriter(&b)
		for at := 0; at < len(text); at += size {
			piece := text[at:min(at+size, len(text))]
			if n, err := w.Write([]byte(piece)); n != len(piece) || err != nil {
				t.Fatalf("wrote %d of %d: %v", n, len(piece), err)
			}
		}
		if b.String() != Text(text) {
			t.Errorf("in pieces of %d: %q, want %q", size, b.String(), Text(text))
		}
	}
}

func FuzzWriter(f *testing.F) {
	f.Add([]byte(hostile), 3)
	f.Fuzz(func(t *testing.T, text []byte, cut int) {
		var b bytes.Buffer
		w := NewWriter(&b)
		cut = min(max(cut, 0), len(text))
		_, _ = w.Write(text[:cut])
		_, _ = w.Write(text[cut:])
		for _, r := range b.String() {
			if r != '\n' && r != '\t' && !Harmless(r) {
				t.Fatalf("%q has %q", b.String(), r)
			}
		}
		if !utf8.Valid(b.Bytes()) {
			t.Fatalf("%q is no UTF-8", b.String())
		}
	})
}

func TestFields(t *testing.T) {
	type inner struct{ Name string }
	type word string
	type all struct {
		Name    string
		Words   []word
		Inner   *inner
		ByName  map[string][]inner
		Any     any
		Raw     json.RawMessage
		From    netip.Addr
		Port    netip.AddrPort
		private string
	}
	bad := "x\n\x1by"
	v := all{
		Name: bad, Words: []word{word(bad)}, Inner: &inner{bad}, ByName: map[string][]inner{bad: {{bad}}}, Any: map[string]any{bad: []any{bad}},
		Raw: json.RawMessage(bad), From: netip.MustParseAddr("fe80::1%" + bad), Port: netip.AddrPortFrom(netip.MustParseAddr("fe80::1%"+bad), 7), private: bad,
	}
	Fields(&v)
	good := "x \x1by"
	want := all{
		Name: good, Words: []word{word(good)}, Inner: &inner{good}, ByName: map[string][]inner{good: {{good}}}, Any: map[string]any{good: []any{good}},
		Raw: json.RawMessage(bad), From: netip.MustParseAddr("fe80::1%" + good), Port: netip.AddrPortFrom(netip.MustParseAddr("fe80::1%"+good), 7), private: bad,
	}
	if !reflect.DeepEqual(v, want) {
		t.Errorf("got %+v, want %+v", v, want)
	}
}
