package iperf3

import "fmt"

// Reason is iperf3's number of an error (enum of iperf_api.h; the numbers have
// not changed from 3.7 to 3.22).
type Reason int32

// Reasons that a server gives. A client of iperf3 prints its own words for
// the number.
const (
	ReasonDuration      Reason = 5
	ReasonStreams       Reason = 6
	ReasonBlock         Reason = 7
	ReasonWindow        Reason = 8
	ReasonMSS           Reason = 10
	ReasonOmit          Reason = 12
	ReasonUnimplemented Reason = 13
	ReasonBurst         Reason = 15
	ReasonEndConditions Reason = 16
	ReasonNoSCTP        Reason = 18
	ReasonDatagram      Reason = 20
	ReasonTOS           Reason = 21
	ReasonBothWays      Reason = 25
	ReasonTotalRate     Reason = 27
	ReasonMostDuration  Reason = 37 // --server-max-duration, since 3.17
	ReasonMessage       Reason = 110
	ReasonParameters    Reason = 114
	ReasonResults       Reason = 117
	ReasonClientEnded   Reason = 119
	ReasonServerEnded   Reason = 120
	ReasonAccess        Reason = 121
	ReasonSetTOS        Reason = 125
	ReasonSetWindow     Reason = 130
	ReasonCongestion    Reason = 134
	ReasonPacing        Reason = 140
	ReasonAuth          Reason = 142
	ReasonIdle          Reason = 144
	ReasonExpired       Reason = 160
	ReasonNewStream     Reason = 200
	ReasonInitStream    Reason = 201
	ReasonAcceptStream  Reason = 204
	ReasonStreamWrite   Reason = 205
	ReasonStreamRead    Reason = 206
	ReasonStreamClosed  Reason = 207
)

// reasonWords is the one table of words.
var reasonWords = [...]struct {
	reason Reason
	words  string
}{
	{ReasonDuration, "test too long"}, {ReasonStreams, "too many streams"}, {ReasonBlock, "block too large"},
	{ReasonWindow, "socket buffer too large"}, {ReasonMSS, "MSS too large"}, {ReasonOmit, "bad omit period"},
	{ReasonUnimplemented, "option not implemented"}, {ReasonBurst, "bad burst"}, {ReasonEndConditions, "more than one end condition"},
	{ReasonNoSCTP, "no SCTP"}, {ReasonDatagram, "bad datagram size"}, {ReasonTOS, "bad TOS"},
	{ReasonBothWays, "both reverse and bidirectional"}, {ReasonTotalRate, "rate above the server's limit"},
	{ReasonMostDuration, "the test may take longer than the server permits (--server-max-duration)"}, {ReasonExpired, "the test took longer than the server permits"},
	{ReasonStreamWrite, "cannot write to a stream"}, {ReasonStreamRead, "cannot read from a stream"},
	{ReasonMessage, "unknown control message"}, {ReasonParameters, "cannot read the parameters"},
	{ReasonResults, "cannot read the results"}, {ReasonClientEnded, "the client ended the test"},
	{ReasonServerEnded, "the server ended the test"}, {ReasonAccess, "busy, or not served"}, {ReasonSetTOS, "cannot set TOS"},
	{ReasonSetWindow, "cannot set the socket buffer"}, {ReasonCongestion, "cannot set the congestion control"},
	{ReasonPacing, "cannot set pacing"}, {ReasonAuth, "not authorised"}, {ReasonIdle, "nothing moved for too long"},
	{ReasonNewStream, "cannot make a stream"}, {ReasonInitStream, "cannot prepare a stream"},
	{ReasonAcceptStream, "a stream did not connect"}, {ReasonStreamClosed, "a stream was closed"},
}

// String is the reason in words; of one without, its number.
func (r Reason) String() string {
	for _, e := range reasonWords {
		if e.reason == r {
			return e.words
		}
	}
	return fmt.Sprintf("iperf3 error %d", int32(r))
}
