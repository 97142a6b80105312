package textlayout

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestWrap(t *testing.T) {
	for _, c := range []struct {
		first, indent, text string
		width               int
		want                []string
	}{
		{"why: ", "  ", "größe is in bytes", 12, []string{"why: größe", "  is in", "  bytes"}},
		{"", "", "exactly ten", 11, []string{"exactly ten"}},
		{"", "", "exactly ten", 10, []string{"exactly", "ten"}},
		{"- ", "  ", "averyverylongword it is", 8, []string{"- averyverylongword", "  it is"}},
		{"", "", "two\nlines\tand  blanks", 80, []string{"two lines and blanks"}},
		{"why: ", "", " ", 80, nil},
		{"do: ", "    ", "run `ip link set x mtu 9` there", 26, []string{"do: run", "    `ip link set x mtu 9`", "    there"}},
		{"", "", "run `ip link set x mtu 9`, twice", 22, []string{"run", "`ip link set x mtu 9`,", "twice"}},
		{"", "", "run `ip link set x mtu 9` twice", 16, []string{"run", "`ip link set x mtu 9`", "twice"}},
		{"", "", "a backtick ` alone, and no more", 16, []string{"a backtick `", "alone, and no", "more"}},
		{"", "", "`a` `b` c", 5, []string{"`a`", "`b` c"}},
	} {
		if got := Wrap(c.first, c.indent, c.text, c.width); !slices.Equal(got, c.want) {
			t.Errorf("%q at %d: %q, want %q", c.text, c.width, got, c.want)
		}
	}
	if got := Words("$ ", "  ", []string{"echo", "'a b c'", "d"}, 9); !slices.Equal(got, []string{"$ echo", "  'a b c'", "  d"}) {
		t.Errorf("quoted: %q", got)
	}
}

// What a shell makes of the lines is the command: quotes stay whole.
func TestCommand(t *testing.T) {
	for command, want := range map[string][]string{
		"ip link set bond0 mtu 9000":     {"$ ip link set \\", "    bond0 mtu \\", "    9000"},
		`sh -c 'echo  a; echo b' "c  d"`: {"$ sh -c \\", "    'echo  a; echo b' \\", `    "c  d"`},
	} {
		if got := Command("$ ", "    ", command, 16); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", command, got, want)
		}
	}
}

// No line is wider than asked unless it is one word or one command, and no word is lost.
func FuzzWrap(f *testing.F) {
	f.Add("some words of a text", 9)
	f.Fuzz(func(t *testing.T, text string, width int) {
		lines := Wrap("", "", text, width)
		for _, l := range lines {
			if utf8.RuneCountInString(l) > width && len(quoted(strings.Fields(l))) > 1 {
				t.Errorf("%q is wider than %d", l, width)
			}
		}
		if !slices.Equal(strings.Fields(strings.Join(lines, "\n")), strings.Fields(text)) {
			t.Errorf("%q became %q", text, lines)
		}
	})
}

func TestColumns(t *testing.T) {
	rows := [][]string{{"LINK", "RATE", "CAUSE"}, {"eth0", "9.4", "größe"}, {"bond0.100", "941.2"}, {}}
	want := []string{"LINK        RATE  CAUSE", "eth0         9.4  größe", "bond0.100  941.2", ""}
	if got := Columns(rows, "lr", 0); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := Columns(rows, "lr", 22); got[1] != "eth0        9.4 größe" {
		t.Errorf("narrow: %q", got[1])
	}
	if got := Columns(nil, "", 80); len(got) != 0 {
		t.Errorf("nothing: %q", got)
	}
}
