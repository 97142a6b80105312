package flow

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParsePortRanges(t *testing.T) {
	for _, tt := range []struct {
		text string
		want []PortRange
		err  string
	}{
		{"", nil, ""},
		{" \n", nil, ""},
		{"8080", []PortRange{{8080, 8080}}, ""},
		{"8080,9148,30000-30003", []PortRange{{8080, 8080}, {9148, 9148}, {30000, 30003}}, ""},
		{"0-65535", []PortRange{{0, 65535}}, ""},
		{"1, 2", []PortRange{{1, 1}, {2, 2}}, ""},
		{"9-8", nil, "ends before"},
		{"65536", nil, "0 to 65535"},
		{"-1", nil, "0 to 65535"},
		{"1,,2", nil, "0 to 65535"},
		{"1-2-3", nil, "0 to 65535"},
		{"ssh", nil, "0 to 65535"},
	} {
		got, err := ParsePortRanges(tt.text)
		if d := cmp.Diff(tt.want, got); d != "" || (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
			t.Errorf("%q: %v, want %q (-want +got):\n%s", tt.text, err, tt.err, d)
		}
	}
}

func TestPortRange(t *testing.T) {
	for _, tt := range []struct {
		r     PortRange
		text  string
		count int
		in    []uint16
		out   []uint16
	}{
		{PortRange{}, "0", 0, nil, []uint16{0, 1}},
		{PortRange{5, 5}, "5", 1, []uint16{5}, []uint16{4, 6}},
		{PortRange{5, 7}, "5-7", 3, []uint16{5, 6, 7}, []uint16{4, 8}},
		{PortRange{1, 65535}, "1-65535", 65535, []uint16{1, 65535}, []uint16{0}},
	} {
		if tt.r.String() != tt.text || tt.r.Count() != tt.count {
			t.Errorf("%+v: %q of %d, want %q of %d", tt.r, tt.r, tt.r.Count(), tt.text, tt.count)
		}
		for _, p := range tt.in {
			if !tt.r.Contains(p) {
				t.Errorf("%v does not contain %d", tt.r, p)
			}
		}
		for _, p := range tt.out {
			if tt.r.Contains(p) {
				t.Errorf("%v contains %d", tt.r, p)
			}
		}
	}
}

func FuzzParsePortRanges(f *testing.F) {
	f.Add("8080,9148,30000-30003")
	f.Add(" 1 ,2-2")
	f.Fuzz(func(t *testing.T, text string) {
		ranges, err := ParsePortRanges(text)
		if err != nil && ranges != nil {
			t.Fatal("both an error and ranges")
		}
		for _, r := range ranges {
			again, err := ParsePortRange(r.String())
			if r.First > r.Last || err != nil || again != r {
				t.Fatalf("%q: %+v prints as %s, which reads as %+v, %v", text, r, r, again, err)
			}
		}
	})
}
