package socket

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"testing"

	"github.com/linerate/linerate/internal/agent/agentapi"
)

func TestConnectError(t *testing.T) {
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
		got := ConnectError(c.err)
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
