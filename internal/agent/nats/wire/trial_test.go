package wire

import (
	"errors"
	"runtime"
	"strings"
	"testing"
)

// What two bytes of a text become is hundreds of memory, whatever they are.
func TestCheckValues(t *testing.T) {
	list := func(n int, one string) []byte { return []byte("[" + strings.Repeat(one+",", n) + one + "]") }
	for _, c := range []struct {
		name string
		text []byte
		want error
	}{
		{"objects", list(mostOpened, "{}"), ErrParts},
		{"lists", list(mostOpened, "[]"), ErrParts},
		{"lists in each other", []byte(strings.Repeat("[", mostOpened+1)), ErrParts},
		{"numbers", list(mostValues+1, "1"), ErrParts},
		{"the routes of a router", list(65536, `{"a":{"b":[1,2,3]}}`), nil},
		{"many numbers", list(mostValues, "1"), nil},
	} {
		if err := CheckValues(c.text); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
}

// A trial is anybody's text who may measure: a rate that no link carries would stand
// beside those that were measured.
func TestParseTrial(t *testing.T) {
	for name, text := range map[string]string{
		"empty objects":         `{"lanes":[` + strings.Repeat("{},", mostOpened) + `{}]}`,
		"a rate of no link":     `{"goodput_bps":1e308}`,
		"a lane of no link":     `{"lanes":[{"tcp":{"pacing_bps":1e308}}]}`,
		"a time of no test":     `{"window_s":1e308}`,
		"less than nothing":     `{"goodput_bps":-1}`,
		"bytes of no link":      `{"lanes":[{"rcvbuf_bytes":1e308}]}`,
		"a number out of range": `{"goodput_bps":1e999}`,
		"no JSON":               `{`,
	} {
		before := allocated()
		if _, err := ParseTrial([]byte(text)); !errors.Is(err, ErrParts) {
			t.Errorf("%s: %v, want ErrParts", name, err)
		}
		if took := allocated() - before; took > 4<<20 {
			t.Errorf("%s: to refuse %d bytes took %d", name, len(text), took)
		}
	}
	got, err := ParseTrial([]byte(`{"from":"a\nb","goodput_bps":1e9,"unread_bps":-1e6,"lanes":[{},{}]}`))
	if err != nil || got.From != "a b" || got.Goodput != 1e9 || len(got.Lanes) != 2 {
		t.Errorf("%+v, %v", got, err)
	}
}

// allocated are the bytes that this process has ever allocated.
func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

// What opens is counted outside of texts.
func TestOpened(t *testing.T) {
	for text, want := range map[string]int{`{"a":[1,{"b":"[{\"["}]}`: 3, `"{[`: 0, `"\\"[`: 1, ``: 0, `[[[`: 3} {
		if n := opened([]byte(text)); n != want {
			t.Errorf("%s opens %d, want %d", text, n, want)
		}
	}
}
