package agentapi

import (
	"strings"
	"testing"
	"time"
)

func TestHolderText(t *testing.T) {
	now := time.Date(2026, 3, 1, 3, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		holder Holder
		want   string
	}{
		{Holder{}, "locked by another run"},
		{
			Holder{Run: "7", User: "root", Host: "ctl", PID: 4711, What: "measure fabric.yaml", Since: now.Add(-130 * time.Second)},
			"locked by root@ctl, process 4711 (measure fabric.yaml), for 2m10s",
		},
		{Holder{Host: "ctl", PID: 3}, "locked by ctl, process 3"},
		{Holder{User: "eve\x1b[2J\n"}, "locked by eve?[2J?"},
		{Holder{Since: now.Add(time.Hour)}, "locked by another run, for 0s"}, // a clock that was set back
	} {
		if got := c.holder.Text(now); got != c.want {
			t.Errorf("%+v: %q, want %q", c.holder, got, c.want)
		}
	}
	long := Holder{What: strings.Repeat("ü", 5000)}.Clean().What
	if n := len([]rune(long)); n != longestWord+3 {
		t.Errorf("a word of 5000 letters is shown with %d", n)
	}
}
