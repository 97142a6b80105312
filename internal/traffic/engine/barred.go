package engine

import (
	"errors"
	"fmt"
	"syscall"

	"github.com/linerate/linerate/internal/agent/agentapi"
)

// barred are the errors of connect(2) that say how a connection was kept from
// being made: local routes and ICMP answers both arrive as one of them
// (icmp_err_convert, net/ipv4/icmp.c; icmpv6_err_convert, net/ipv6/icmp.c;
// fib_props, net/ipv4/fib_semantics.c; EPERM is a local filter's).
var barred = [...]struct {
	errno syscall.Errno
	class error
}{
	{syscall.ECONNREFUSED, agentapi.ErrRefused},
	{syscall.ETIMEDOUT, agentapi.ErrSilent},
	{syscall.EHOSTUNREACH, agentapi.ErrBlocked},
	{syscall.ENETUNREACH, agentapi.ErrBlocked},
	{syscall.EHOSTDOWN, agentapi.ErrBlocked},
	{syscall.EACCES, agentapi.ErrBlocked},
	{syscall.EPERM, agentapi.ErrBlocked},
	{syscall.EINVAL, agentapi.ErrBlocked}, // a blackhole route of this host
	{syscall.ENOPROTOOPT, agentapi.ErrBlocked},
}

// connectBarred marks an error of connect(2) with its class. The error number
// stays in the text only: EACCES means no lack of privilege here.
func connectBarred(err error) error {
	for _, b := range barred {
		if errors.Is(err, b.errno) {
			return fmt.Errorf("%w (%v)", b.class, err)
		}
	}
	return silent(err)
}

// silent marks a time limit that ran out.
func silent(err error) error {
	var limit interface{ Timeout() bool }
	if errors.As(err, &limit) && limit.Timeout() {
		return fmt.Errorf("%w (%v)", agentapi.ErrSilent, err)
	}
	return err
}
