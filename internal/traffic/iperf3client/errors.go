package iperf3client

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/traffic/socket"
)

// Errors of a client. Each is wrapped with what was tried.
var (
	// ErrBusy is a server that runs another client's test.
	ErrBusy = fmt.Errorf("%w: the server runs another client's test, or does not serve this address", agentapi.ErrBusy)
	// ErrRefused is a host that answers that nobody listens on the port.
	ErrRefused = agentapi.ErrRefused
	// ErrSilent is a host, or a filter before it, that does not answer at all.
	ErrSilent = agentapi.ErrSilent
	// ErrBlocked is a filter or a router that says that it lets nothing through.
	ErrBlocked = agentapi.ErrBlocked
	// ErrDenied is a server that wants a token or other credentials.
	ErrDenied = fmt.Errorf("%w: the server did not accept the token (its clock and this host's may be ten minutes apart), or wants credentials", fs.ErrPermission)
	// ErrCredentials is a server that ends before there is a stream, as one does
	// that wants a user and a password: iperf3 says so by no number of its own.
	ErrCredentials = fmt.Errorf("%w: the server ended before any stream, as one does that wants a user and a password (iperf3 -s --authorized-users-path); linerate sends none", fs.ErrPermission)
	// ErrProtocol is a server that does not keep to the protocol.
	ErrProtocol = errors.New("not an iperf3 server, or a broken one")
	// ErrRequest is a request that asks for nothing sensible.
	ErrRequest = errors.New("bad test request")
	// ErrStalled is a server that stopped answering in the middle of a test.
	ErrStalled = errors.New("the server stopped answering")
	// ErrFellBack is a server that speaks TCP where MPTCP was asked for, or a
	// middlebox in between: iperf3 has it since 3.19.
	ErrFellBack = fmt.Errorf("%w (iperf3 has MPTCP since 3.19, linerate listen always)", socket.ErrFellBack)
	// ErrEnded is a server that ended the test before the client did.
	ErrEnded = errors.New("the server ended the test")
)
