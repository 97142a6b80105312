package campaign

import (
	"testing"

	"github.com/linerate/linerate/unit"
)

func TestAsGiven(t *testing.T) {
	for _, c := range []struct{ given, want string }{
		{"100M", "100 MB"}, {"1.5G", "1.5 GB"}, {"20G", "20 GB"}, {"20Gi", "20 GiB"}, {"100Mi", "100 MiB"}, {"512", "512 B"}, {"2500K", "2.5 MB"}, {"1.25G", "1.25 GB"},
	} {
		b, err := unit.ParseBytes(c.given)
		if err != nil {
			t.Fatal(err)
		}
		if got := asGiven(b); got != c.want {
			t.Errorf("%s: %q, want %q", c.given, got, c.want)
		}
	}
}
