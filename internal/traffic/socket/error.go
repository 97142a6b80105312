package socket

import (
	"errors"
	"fmt"
	"syscall"

	"github.com/linerate/linerate/internal/agent/agentapi"
)

// ErrFellBack is a peer, or something on the way, that does not speak MPTCP.
var ErrFellBack = errors.New("asked for MPTCP, and the connection fell back to TCP")

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

// Class is what an error of connect(2) means to a person: agentapi.ErrRefused,
// ErrSilent or ErrBlocked; nil is none of them.
func Class(err error) error {
	for _, b := range barred {
		if errors.Is(err, b.errno) {
			return b.class
		}
	}
	var limit interface{ Timeout() bool }
	if errors.As(err, &limit) && limit.Timeout() {
		return agentapi.ErrSilent
	}
	return nil
}

// Barred marks an error of connect(2) with its class. The error number stays in
// the text only: EACCES means no lack of privilege here.
func Barred(err error) error {
	if class := Class(err); class != nil {
		return fmt.Errorf("%w (%v)", class, err)
	}
	return err
}

// BindError marks an error of bind(2) that another port would cure with
// agentapi.ErrPortTaken: a socket holds it.
func BindError(err error) error {
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("%w (%w)", err, agentapi.ErrPortTaken)
	}
	return err
}

// ConnectError is BindError for connect(2), where EADDRNOTAVAIL says that the
// very flow exists or is in time-wait; of bind(2) it says that the address is
// not the host's. Other errors are Barred.
func ConnectError(err error) error {
	if errors.Is(err, syscall.EADDRNOTAVAIL) {
		return fmt.Errorf("%w (%w)", err, agentapi.ErrPortTaken)
	}
	if errors.Is(err, syscall.EADDRINUSE) {
		return BindError(err)
	}
	return Barred(err)
}
