package agentapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
)

// Code classes an error so that the controller's side can act on it.
type Code string

// The codes there are. CodeFailed is any other error.
const (
	CodePermission  Code = "permission"
	CodeNotExist    Code = "not-exist"
	CodeUnsupported Code = "unsupported"
	CodeCancelled   Code = "cancelled"
	CodeBusy        Code = "busy"
	CodePortTaken   Code = "port-taken"
	CodeRefused     Code = "refused"
	CodeSilent      Code = "silent"
	CodeBlocked     Code = "blocked"
	CodeState       Code = "state"
	CodeHalf        Code = "half"
	CodeGone        Code = "gone"
	CodeFailed      Code = "failed"
)

// ErrBusy is a host that another run holds.
var ErrBusy = errors.New("host is busy")

// ErrState is a change that is past what is asked of it: taken back already, or
// confirmed.
var ErrState = errors.New("not possible in this state")

// ErrHalf is a change that failed and could not be taken back, not all of it.
var ErrHalf = errors.New("not everything could be rolled back")

// ErrGone is a conversation that the agent has ended, or never had.
var ErrGone = errors.New("the agent ended the conversation")

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

// codes is the one table of codes and the sentinels they stand for.
var codes = [...]struct {
	code     Code
	sentinel error
}{
	{CodePermission, fs.ErrPermission},
	{CodeNotExist, fs.ErrNotExist},
	{CodeUnsupported, errors.ErrUnsupported},
	{CodeCancelled, context.Canceled},
	{CodeBusy, ErrBusy},
	{CodePortTaken, ErrPortTaken},
	{CodeRefused, ErrRefused},
	{CodeSilent, ErrSilent},
	{CodeBlocked, ErrBlocked},
	{CodeState, ErrState},
	{CodeHalf, ErrHalf},
	{CodeGone, ErrGone},
}

// Error is a host's error as the wire carries it. errors.Is finds the
// sentinel its code stands for.
type Error struct {
	Code Code   `json:"code"`
	Text string `json:"text"`
}

func (e *Error) Error() string { return e.Text }

// Is reports whether the code stands for target.
func (e *Error) Is(target error) bool {
	for _, c := range codes {
		if c.code == e.Code && c.sentinel == target {
			return true
		}
	}
	return false
}

// WireError is err as the wire carries it; nil stays nil.
func WireError(err error) *Error {
	if err == nil {
		return nil
	}
	if e := (*Error)(nil); errors.As(err, &e) {
		return &Error{Code: e.Code, Text: err.Error()}
	}
	for _, c := range codes {
		if errors.Is(err, c.sentinel) {
			return &Error{Code: c.code, Text: err.Error()}
		}
	}
	return &Error{Code: CodeFailed, Text: err.Error()}
}

// Request is one call on a stream connection: one JSON document a line.
type Request struct {
	ID     uint64          `json:"id"`
	Method MethodName      `json:"method"`
	Params json.RawMessage `json:"params"`
}

// Reply answers the request of the same ID.
type Reply struct {
	ID     uint64          `json:"id"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  *Error          `json:"error,omitempty"`
}

// ErrVersion is a host that speaks another version of this protocol.
var ErrVersion = errors.New("other protocol version")

// CheckVersion is ErrVersion unless the other side speaks ours.
func CheckVersion(theirs int) error {
	if theirs != Version {
		return fmt.Errorf("%w: ours is %d, theirs %d (install the same linerate on both)", ErrVersion, Version, theirs)
	}
	return nil
}
