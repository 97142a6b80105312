// Package iperf3 is the words of the iperf3 control protocol, as iperf3 3.7 to
// 3.22 speak it: cookies, states, framed JSON, datagram headers. It moves
// nothing itself: iperf3server and iperf3client do. Don't believe a length
// before the bytes are there.
//
// A test: the client connects and says a cookie; the server answers
// with states of one byte; parameters and results are JSON behind a length of
// four bytes. Each data connection says the same cookie first. What the words
// mean is observed from the program, and from its manual page.
package iperf3

import "errors"

// DefaultPort is the port that iperf3 listens on, TCP and UDP.
const DefaultPort = 5201

// What iperf3 itself accepts (iperf_api.h, 3.12): asking for more is an error
// there.
const (
	MaxStreams  = 128       // of -P; twice as many with --bidir
	MaxBlock    = 1 << 20   // of -l with TCP, bytes
	MaxDatagram = 65507     // of -l with UDP, bytes
	MinDatagram = 16        // of -l with UDP: the header must fit
	MaxWindow   = 512 << 20 // of -w, bytes
	MaxSeconds  = 86400     // of -t
	MaxOmit     = 600       // of -O, seconds
	MaxMSS      = 32767     // of -M, bytes: the kernel's bound (MAX_TCP_WINDOW), as iperf3 3.21 has it; 9216 before
	MaxBurst    = 1000      // of -b RATE/BURST, blocks
	MaxName     = 15        // of -C, characters: TCP_CA_NAME_MAX less its zero
)

// Lengths of the two JSON documents that this package reads; nobody needs
// more.
const (
	MaxParameters = 64 << 10
	MaxResults    = 4 << 20
)

// ErrMalformed marks bytes that are not this protocol.
var ErrMalformed = errors.New("not the iperf3 protocol")
