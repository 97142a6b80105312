package unit

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestParseBitRate(t *testing.T) {
	for _, c := range []struct {
		in   string
		want BitRate
		bad  bool
	}{
		{"25G", 25e9, false}, {"500M", 500e6, false}, {"2.5G", 2.5e9, false}, {"1T", 1e12, false},
		{"9600K", 9.6e6, false}, {"1g", 1e9, false}, {"0", 0, false},
		{"100", 0, true}, {"", 0, true}, {"G", 0, true}, {"-1G", 0, true}, {"1Gi", 0, true}, {"NaNG", 0, true}, {"10GB", 0, true},
		{"1000T", 1e15, false}, {"1001T", 0, true}, {"1e308T", 0, true},
	} {
		got, err := ParseBitRate(c.in)
		if (err != nil) != c.bad || got != c.want {
			t.Errorf("ParseBitRate(%q) = %v, %v; want %v, bad %v", c.in, got, err, c.want, c.bad)
		}
	}
}

func TestBitRateText(t *testing.T) {
	for _, c := range []struct {
		in   BitRate
		want string
	}{{496.3e6, "496 Mbit/s"}, {9.9004e9, "9.90 Gbit/s"}, {25e9, "25.0 Gbit/s"}, {0, "0 bit/s"}, {1500, "1.50 kbit/s"}} {
		if got := c.in.String(); got != c.want {
			t.Errorf("String(%v) = %q, want %q", float64(c.in), got, c.want)
		}
	}
}

func TestBitRateRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := BitRate(rapid.Int64Range(0, 4e12).Draw(t, "bps"))
		text, _ := want.MarshalText()
		var got BitRate
		if err := got.UnmarshalText(text); err != nil || got-want > 1 || want-got > 1 {
			t.Fatalf("text %s: got %v, %v; want %v", text, float64(got), err, float64(want))
		}
		js, _ := json.Marshal(want)
		if err := json.Unmarshal(js, &got); err != nil || got != want {
			t.Fatalf("json %s: got %v, %v", js, float64(got), err)
		}
	})
}

func TestParseBytes(t *testing.T) {
	for _, c := range []struct {
		in   string
		want Bytes
		bad  bool
	}{{"8Mi", 8 << 20, false}, {"8M", 8e6, false}, {"6291456", 6291456, false}, {"256Ki", 256 << 10, false}, {"x", 0, true}, {"-1", 0, true}, {"1Ti", 0, true}} {
		got, err := ParseBytes(c.in)
		if (err != nil) != c.bad || got != c.want {
			t.Errorf("ParseBytes(%q) = %v, %v; want %v", c.in, got, err, c.want)
		}
	}
	if got := Bytes(6291456).String(); got != "6 MiB" {
		t.Errorf("String = %q", got)
	}
}

func TestParseDuration(t *testing.T) {
	for _, c := range []struct {
		in   string
		want time.Duration
		bad  bool
	}{{"8.9ms", 8900 * time.Microsecond, false}, {"30s", 30 * time.Second, false}, {"250us", 250 * time.Microsecond, false}, {"9", 0, true}, {"-1s", 0, true}, {"fast", 0, true}} {
		got, err := ParseDuration(c.in)
		if (err != nil) != c.bad || got != c.want {
			t.Errorf("ParseDuration(%q) = %v, %v; want %v", c.in, got, err, c.want)
		}
	}
}

func TestRuns(t *testing.T) {
	for want, numbers := range map[string][]int{"": nil, "8": {8, 8}, "0-3,8": {3, 8, 0, 2, 1, 2}, "1,3,5-6": {6, 5, 3, 1}} {
		if got := strings.Join(Runs(numbers), ","); got != want {
			t.Errorf("%v: %s, want %s", numbers, got, want)
		}
	}
}

// A number of bytes that no size can be is refused, and not another on each machine.
func TestBytesOutOfRange(t *testing.T) {
	for _, text := range []string{"1e308", "-1e308", "9223372036854775808"} {
		var b Bytes
		if err := b.UnmarshalJSON([]byte(text)); err == nil {
			t.Errorf("%s was read as %d", text, int64(b))
		}
	}
}
