package iperf3client

import (
	"strings"
	"testing"
)

func TestShownName(t *testing.T) {
	long := strings.Repeat("x", mostName)
	for name, want := range map[string]string{"cubic": "cubic", "": "", long: long, long + "x": "", "a b": "", "bbr\x1b[2J": "", "b\u00e9": ""} {
		if got := shownName(name); got != want {
			t.Errorf("%q is shown as %q, want %q", name, got, want)
		}
	}
}
