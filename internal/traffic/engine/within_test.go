package engine

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"syscall"
	"testing"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/agent/agentapi"
)

func TestOpenWithin(t *testing.T) {
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
		open := make(map[int]bool)
		got, err := openWithin(c.want, c.within, func(p int) (int, error) {
			if c.fails != nil {
				return 0, c.fails
			}
			if slices.Contains(c.taken, p) {
				p = 40000 // as listen does
			}
			open[p] = true
			return p, nil
		}, func(p int) int { return p }, func(p int) { delete(open, p) })
		switch {
		case c.err == errAny && err != nil:
		case !errors.Is(err, c.err) || got != c.port:
			t.Errorf("%s: port %d, %v; want %d, %v", c.name, got, err, c.port, c.err)
		case err == nil && len(open) != 1 || err != nil && len(open) != 0:
			t.Errorf("%s: left open: %v", c.name, open)
		}
	}
}

var errAny = errors.New("any")

func TestConnectBarred(t *testing.T) {
	for _, c := range []struct {
		err  error
		want error // nil is none of them
	}{
		{syscall.ECONNREFUSED, agentapi.ErrRefused},
		{syscall.ETIMEDOUT, agentapi.ErrSilent},
		{fmt.Errorf("dial: %w", os.ErrDeadlineExceeded), agentapi.ErrSilent},
		{syscall.EHOSTUNREACH, agentapi.ErrBlocked},
		{syscall.ENETUNREACH, agentapi.ErrBlocked},
		{syscall.EACCES, agentapi.ErrBlocked},
		{syscall.EINVAL, agentapi.ErrBlocked},
		{syscall.EADDRNOTAVAIL, agentapi.ErrPortTaken},
		{syscall.EADDRINUSE, agentapi.ErrPortTaken},
		{syscall.ENOMEM, nil},
	} {
		got := connectTaken(c.err)
		for _, class := range []error{agentapi.ErrRefused, agentapi.ErrSilent, agentapi.ErrBlocked, agentapi.ErrPortTaken} {
			if errors.Is(got, class) != (class == c.want) {
				t.Errorf("%v: %v; is %v: %v", c.err, got, class, errors.Is(got, class))
			}
		}
		if errors.Is(got, fs.ErrPermission) {
			t.Errorf("%v passes for a lack of privilege", c.err)
		}
	}
}

func TestCheckWithin(t *testing.T) {
	for _, bad := range []flow.PortRange{{}, {First: 0, Last: 9}, {First: 9, Last: 5}} {
		if checkWithin(bad) == nil {
			t.Errorf("%v is accepted", bad)
		}
	}
	if err := checkWithin(flow.PortRange{First: 5201, Last: 5201}); err != nil {
		t.Error(err)
	}
}
