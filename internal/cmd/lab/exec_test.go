package lab

import (
	"errors"
	"slices"
	"testing"

	"github.com/linerate/linerate/internal/cmd/console"
)

func TestLabCommand(t *testing.T) {
	hosts := []string{"alpha", "beta", "switch"}
	for _, c := range []struct {
		args []string
		dash int
		want labCommand
	}{
		{[]string{"two-links", "ip", "address"}, -1, labCommand{lab: "two-links", command: []string{"ip", "address"}}},
		{[]string{"two-links", "ip"}, 1, labCommand{lab: "two-links", command: []string{"ip"}}},
		{[]string{"two-links", "alpha", "ip"}, 2, labCommand{lab: "two-links", host: "alpha", command: []string{"ip"}}},
		{[]string{"two-links", "alpha"}, -1, labCommand{lab: "two-links", host: "alpha"}},
		{[]string{"two-links", "alpha", "ip"}, -1, labCommand{lab: "two-links", host: "alpha", command: []string{"ip"}}},
		{[]string{"two-links", "alpha"}, 1, labCommand{lab: "two-links", command: []string{"alpha"}}}, // a command of that name
		{[]string{"two-links"}, -1, labCommand{lab: "two-links"}},
		{[]string{"ip"}, 0, labCommand{command: []string{"ip"}}},
		{nil, -1, labCommand{}},
	} {
		got, err := parseCommand(c.args, c.dash)
		if err != nil {
			t.Errorf("%v: %v", c.args, err)
			continue
		}
		got.divide(hosts)
		if got.lab != c.want.lab || got.host != c.want.host || !slices.Equal(got.command, c.want.command) {
			t.Errorf("%v, %d before --: %+v, want %+v", c.args, c.dash, got, c.want)
		}
	}
	for _, c := range []struct {
		args []string
		dash int
	}{{[]string{"a", "b", "c", "ip"}, 3}, {[]string{"a"}, 1}} {
		if _, err := parseCommand(c.args, c.dash); !errors.Is(err, console.ErrUsage) {
			t.Errorf("%v, %d before --: %v, want bad usage", c.args, c.dash, err)
		}
	}
}
