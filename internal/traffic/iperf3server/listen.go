// Package iperf3server is a traffic server for iperf3's clients, and for linerate's
// own: TCP and UDP, many clients at a time on one port.
//
// iperf3's own server takes one client at a time, though its protocol names
// every connection of a test by a cookie: here the cookie sorts connections
// into tests, and each stream has a thread and a counter of its own. UDP
// streams carry no cookie; they are told apart by who asked first (see
// greeter).
//
// It sends to nobody who has not completed a TCP handshake from the same
// address and asked for it, and answers a UDP datagram with no more bytes than
// it has.
package iperf3server

import (
	"errors"
	"log/slog"
	"net/netip"
	"strings"
	"time"

	"github.com/linerate/linerate/unit"
)

// Config says where to listen and whom to serve. The zero value listens on a
// port of the kernel's choice and serves this host and its networks.
type Config struct {
	Bind []netip.Addr // none is every address
	Port int          // zero lets the kernel choose
	// Allow are the networks that are served; none means loopback and the
	// networks of this host's interfaces, unless a token is asked for, which
	// then decides alone.
	Allow []netip.Prefix
	// Token, if not empty, is what a client must know: see iperf3.Prove.
	Token      []byte
	MaxClients int           // tests at a time; zero is DefaultClients
	Idle       time.Duration // a test in which nothing moves for as long ends; zero is DefaultIdle
	OneOff     bool          // serve one test, then return
	Log        *slog.Logger  // nil is silence
	Done       func(Test)    // called once after each test, by several goroutines
	Refused    func(Refusal) // called for who is turned away, at most RefusalsLogged a second

	// How long a peer may take for a step that costs it no work; zero is
	// cookieTime and answerTime.
	cookie, answer time.Duration
}

// What a listener does unless told otherwise, and never exceeds. With them
// memory is bounded: a connection that has not named its test costs about
// 16 KiB and there are at most maxStrangers of them, 16 MiB in all; a test costs
// at most 6 MiB of documents and text besides its streams; and the buffers of all
// streams together take at most 160 MiB (see payload.ReceiveLength).
const (
	DefaultClients = 64
	DefaultIdle    = 30 * time.Second
	MaxClients     = 1024

	// MaxStreams is how many streams of each direction one test may have.
	MaxStreams = 1024

	maxStrangers    = 1024 // connections that have not named a test
	strangersOfOne  = 256  // of one origin; with one more, the oldest goes
	maxStreamsInAll = 2736 // of all tests: three quarters are MaxStreams both ways
)

// RefusalsLogged bounds how often Config.Refused is called, per second.
const RefusalsLogged = 5

const (
	cookieTime = 5 * time.Second
	answerTime = 10 * time.Second
)

// ErrAddress means that there is nothing to listen on.
var ErrAddress = errors.New("no address to listen on")

// Direction is which way a test's bytes go, from the client's point of view.
type Direction string

// The directions.
const (
	Forward Direction = "forward" // client to server
	Reverse Direction = "reverse"
	Both    Direction = "both"
)

// Test is what one client did.
type Test struct {
	Client    netip.AddrPort
	Program   string // what the client calls its version
	Title     string
	UDP       bool
	Direction Direction
	Streams   int // of each direction
	Started   time.Time
	Window    time.Duration // that the counts are of, without the omitted seconds

	Received unit.Bytes
	// Sent is what the client's TCP has acknowledged (tcpi_bytes_acked); of UDP
	// what the sockets took, which need not have arrived.
	Sent        unit.Bytes
	Retransmits uint64        // of what was sent, TCP
	Datagrams   uint64        // that were sent to here
	Lost        uint64        // of these
	Jitter      time.Duration // mean of the streams
	Congestion  string        // TCP
	CPU         float64       // processors busy with this test's streams

	// Err is why the test did not end as it should; nil when it did.
	Err error
}

// longestName bounds what is kept of a client's words about itself.
const longestName = 120

func clipped(s string) string {
	if len(s) <= longestName {
		return s
	}
	return strings.ToValidUTF8(s[:longestName], "") + "..."
}

// ReceivedRate and SentRate are payload over the window; zero without one.
func (t Test) ReceivedRate() unit.BitRate { return rate(t.Received, t.Window) }

// SentRate is what was sent over the window, see Sent.
func (t Test) SentRate() unit.BitRate { return rate(t.Sent, t.Window) }

func rate(n unit.Bytes, window time.Duration) unit.BitRate {
	if window <= 0 {
		return 0
	}
	return unit.FromBytes(float64(n), window.Seconds())
}

// Refusal is a client that was turned away.
type Refusal struct {
	Client netip.Addr
	Reason error
	More   int // others that were turned away and not told
}

// Reasons for turning a client away.
var (
	ErrNotAllowed = errors.New("its address is not among those served")
	ErrNoToken    = errors.New("it does not know the token")
	ErrClock      = errors.New("it knows the token, but its clock and this host's are more than ten minutes apart")
	ErrFull       = errors.New("as many tests as may run are running")
	ErrMalformed  = errors.New("it does not speak the iperf3 protocol")
)
