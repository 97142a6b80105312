package iperf3

import (
	"encoding/binary"
	"fmt"
)

// State is one step of a conversation: one signed byte on the wire, sent by
// the server unless it says otherwise (iperf.h, iperf_api.h).
type State int8

// The states. Those that no version sends are there to be named.
const (
	TestStart       State = 1 // all streams are there
	TestRunning     State = 2 // bytes flow from here on
	ResultRequest   State = 3 // not sent
	TestEnd         State = 4 // client: no more bytes
	StreamBegin     State = 5 // not sent
	StreamRunning   State = 6 // not sent
	StreamEnd       State = 7 // not sent
	AllStreamsEnd   State = 8 // not sent
	ParamExchange   State = 9 // client answers with parameters
	CreateStreams   State = 10
	ServerTerminate State = 11 // the server is going away
	ClientTerminate State = 12 // client: it is going away
	ExchangeResults State = 13 // client answers with results, then the server
	DisplayResults  State = 14
	IperfStart      State = 15 // not sent
	IperfDone       State = 16 // client: it has what it wants
	AccessDenied    State = -1 // instead of ParamExchange: busy, or not served
	ServerError     State = -2 // eight bytes follow: see Fault
)

// stateNames is the one table of names.
var stateNames = [...]struct {
	state State
	name  string
}{
	{TestStart, "TEST_START"}, {TestRunning, "TEST_RUNNING"}, {ResultRequest, "RESULT_REQUEST"}, {TestEnd, "TEST_END"},
	{StreamBegin, "STREAM_BEGIN"}, {StreamRunning, "STREAM_RUNNING"}, {StreamEnd, "STREAM_END"}, {AllStreamsEnd, "ALL_STREAMS_END"},
	{ParamExchange, "PARAM_EXCHANGE"}, {CreateStreams, "CREATE_STREAMS"}, {ServerTerminate, "SERVER_TERMINATE"},
	{ClientTerminate, "CLIENT_TERMINATE"}, {ExchangeResults, "EXCHANGE_RESULTS"}, {DisplayResults, "DISPLAY_RESULTS"},
	{IperfStart, "IPERF_START"}, {IperfDone, "IPERF_DONE"}, {AccessDenied, "ACCESS_DENIED"}, {ServerError, "SERVER_ERROR"},
}

// String is iperf3's name of the state; of a byte that is none, its number.
func (s State) String() string {
	for _, e := range stateNames {
		if e.state == s {
			return e.name
		}
	}
	return fmt.Sprintf("state %d", int8(s))
}

// ParseState reads a state's byte. One that is no state is ErrMalformed.
func ParseState(b byte) (State, error) {
	for _, e := range stateNames {
		if e.state == State(b) {
			return e.state, nil
		}
	}
	return 0, fmt.Errorf("%w: state %d", ErrMalformed, int8(b))
}

// Byte is the state on the wire.
func (s State) Byte() byte { return byte(s) }

// FaultLength is the bytes that follow ServerError.
const FaultLength = 8

// Fault is why a server ended a test: iperf3's own number of the reason, and
// the errno of the system call behind it, zero when there was none.
type Fault struct {
	Reason Reason
	Errno  int32
}

// ParseFault reads the eight bytes after ServerError.
func ParseFault(b []byte) (Fault, error) {
	if len(b) != FaultLength {
		return Fault{}, fmt.Errorf("%w: fault of %d bytes, want %d", ErrMalformed, len(b), FaultLength)
	}
	return Fault{Reason(binary.BigEndian.Uint32(b)), int32(binary.BigEndian.Uint32(b[4:]))}, nil
}

// Append appends ServerError and the fault as a server sends them.
func (f Fault) Append(b []byte) []byte {
	b = append(b, ServerError.Byte())
	b = binary.BigEndian.AppendUint32(b, uint32(f.Reason))
	return binary.BigEndian.AppendUint32(b, uint32(f.Errno))
}

// Error is the reason in words.
func (f Fault) Error() string {
	if f.Errno == 0 {
		return f.Reason.String()
	}
	return fmt.Sprintf("%s (errno %d of the server's system)", f.Reason, f.Errno)
}
