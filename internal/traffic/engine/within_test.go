package engine

import (
	"errors"
	"fmt"
	"slices"
	"syscall"
	"testing"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/agent/agentapi"
)

func TestOnPort(t *testing.T) {
	broken := errors.New("no socket")
	for _, c := range []struct {
		name   string
		want   int
		within flow.PortRange
		taken  []int
		fails  error
		port   int
		err    error
	}{
		{"first", 0, flow.PortRange{First: 5201, Last: 5203}, nil, nil, 5201, nil},
		{"next free", 0, flow.PortRange{First: 5201, Last: 5203}, []int{5201, 5202}, nil, 5203, nil},
		{"wanted", 5203, flow.PortRange{First: 5201, Last: 5203}, nil, nil, 5203, nil},
		{"wanted and taken", 5203, flow.PortRange{First: 5201, Last: 5203}, []int{5203}, nil, 5201, nil},
		{"wanted outside", 80, flow.PortRange{First: 5201, Last: 5203}, nil, nil, 5201, nil},
		{"all taken", 5202, flow.PortRange{First: 5201, Last: 5202}, []int{5201, 5202}, nil, 0, agentapi.ErrPortTaken},
		{"the only one taken", 0, flow.PortRange{First: 5201, Last: 5201}, []int{5201}, nil, 0, agentapi.ErrPortTaken},
		{"the last port there is", 0, flow.PortRange{First: 65535, Last: 65535}, nil, nil, 65535, nil},
		{"no port", 0, flow.PortRange{}, nil, nil, 0, errAny},
		{"another error", 0, flow.PortRange{First: 5201, Last: 5203}, nil, broken, 0, broken},
	} {
		req := agentapi.SinkRequest{Port: c.want, Within: &c.within}
		err := checkWithin(req.Within)
		got := 0
		if err == nil {
			got, err = onPort(req, func(p int) (int, error) {
				if slices.Contains(c.taken, p) {
					return 0, fmt.Errorf("bind: %w", syscall.EADDRINUSE)
				}
				return p, c.fails
			})
		}
		if err != nil {
			got = 0
		}
		switch {
		case c.err == errAny && err != nil:
		case !errors.Is(err, c.err) || got != c.port:
			t.Errorf("%s: port %d, %v; want %d, %v", c.name, got, err, c.port, c.err)
		}
	}
}

var errAny = errors.New("any")

func TestCheckWithin(t *testing.T) {
	for _, bad := range []flow.PortRange{{}, {First: 0, Last: 9}, {First: 9, Last: 5}} {
		if checkWithin(&bad) == nil {
			t.Errorf("%v is accepted", bad)
		}
	}
	if err := checkWithin(&flow.PortRange{First: 5201, Last: 5201}); err != nil {
		t.Error(err)
	}
}
