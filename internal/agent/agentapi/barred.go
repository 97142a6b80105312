package agentapi

import "errors"

// Why a connection was not made. A firewall shows as the second or the third,
// a service that does not run as the first.
var (
	// ErrRefused: the host answered that nobody listens (TCP RST), or a
	// firewall answered so in its name.
	ErrRefused = errors.New("refused: the host answers, and nobody listens at that port")
	// ErrSilent: no answer at all in the time a connection may take.
	ErrSilent = errors.New("silent: no answer, as from a firewall that drops")
	// ErrBlocked: something on the way, or this host itself, answered that it
	// does not let the packets through (ICMP or ICMPv6 unreachable,
	// prohibited), or nobody has the address.
	ErrBlocked = errors.New("blocked: the way there is prohibited or unreachable")
)
