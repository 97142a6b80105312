package iperf3server

import (
	"errors"
	"net/netip"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/linerate/linerate/internal/traffic/iperf3"
	"github.com/linerate/linerate/internal/traffic/payload"
	"github.com/linerate/linerate/unit"
)

func TestAccessList(t *testing.T) {
	lan := netip.MustParsePrefix("192.0.2.0/24")
	own := func() ([]netip.Prefix, error) { return []netip.Prefix{lan}, nil }
	for name, tt := range map[string]struct {
		d    *accessList
		from string
		want bool
	}{
		"loopback":              {&accessList{networks: own}, "127.0.0.5", true},
		"loopback 6":            {&accessList{networks: own}, "::1", true},
		"own network":           {&accessList{networks: own}, "192.0.2.77", true},
		"own network, mapped":   {&accessList{networks: own}, "::ffff:192.0.2.77", true},
		"link-local with zone":  {&accessList{networks: own}, "fe80::1%eth0", true},
		"stranger":              {&accessList{networks: own}, "198.51.100.1", false},
		"allowed":               {&accessList{networks: own, allow: []netip.Prefix{netip.MustParsePrefix("198.51.100.0/24")}}, "198.51.100.1", true},
		"loopback not allowed":  {&accessList{networks: own, allow: []netip.Prefix{lan}}, "127.0.0.1", false},
		"token decides":         {&accessList{networks: own, token: true}, "198.51.100.1", true},
		"not allowed for token": {&accessList{networks: own, token: true, allow: []netip.Prefix{lan}}, "198.51.100.1", false},
		"networks unknown":      {&accessList{networks: func() ([]netip.Prefix, error) { return nil, errors.New("no") }}, "192.0.2.77", false},
	} {
		if got := tt.d.serves(netip.MustParseAddr(tt.from)); got != tt.want {
			t.Errorf("%s: serves %s is %v, want %v", name, tt.from, got, tt.want)
		}
	}
}

func TestPlaces(t *testing.T) {
	p := newSlots(4, 10)
	a, b := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2")
	var got []bool
	for _, from := range []netip.Addr{a, a, a, a, b, b} {
		got = append(got, p.take(from))
	}
	// One address has three of four, the last place is another's.
	if diff := cmp.Diff([]bool{true, true, true, false, true, false}, got); diff != "" {
		t.Errorf("places (-want +got):\n%s", diff)
	}
	p.give(a)
	if !p.take(b) || len(p.by) != 2 {
		t.Errorf("a place given back is not there: %v", p.by)
	}
	if before, ok := p.reserve(a, 6); !ok || before != 0 {
		t.Errorf("streams: %d, %v", before, ok)
	}
	if _, ok := p.reserve(b, 5); ok {
		t.Error("11 of 10 streams")
	}
	if before, ok := p.reserve(b, 4); !ok || before != 6 {
		t.Errorf("streams: %d, %v", before, ok)
	}
}

// Whoever has a network of IPv6 has 2^64 addresses there: they are one client, who
// leaves a quarter of the tests and of the streams to others.
func TestSlotsOfOneOrigin(t *testing.T) {
	p := newSlots(4, 12)
	at := func(s string) netip.Addr { return netip.MustParseAddr(s) }
	for _, from := range []string{"2001:db8::1", "2001:db8::2", "2001:db8::ffff:3%eth0"} {
		if !p.take(at(from)) {
			t.Errorf("%s: no slot", from)
		}
		if _, ok := p.reserve(at(from), 3); !ok {
			t.Errorf("%s: no streams", from)
		}
	}
	if p.take(at("2001:db8::4")) {
		t.Error("one network has all tests")
	}
	if _, ok := p.reserve(at("2001:db8::4"), 1); ok {
		t.Error("one network has more than three quarters of the streams")
	}
	if !p.take(at("2001:db8:0:1::1")) {
		t.Error("another network has no test")
	}
	if _, ok := p.reserve(at("::ffff:192.0.2.1"), 3); !ok {
		t.Error("another client has no streams")
	}
	p.release(at("2001:db8::9"), 3)
	if _, ok := p.reserve(at("2001:db8::4"), 3); !ok {
		t.Error("streams that were given back are not there")
	}
}

// TestSpend: a cookie is good once, also under the pressure of others; what
// cannot be remembered is refused, until the first could not be said again.
func TestSpend(t *testing.T) {
	p, now := newSlots(4, 10), time.Unix(1700000000, 0)
	cookie := func(i int) (c iperf3.Cookie) {
		c[0], c[1], c[2] = byte(i), byte(i>>8), byte(i>>16)+1
		return c
	}
	for i := range spentMost {
		if err := p.spend(cookie(i), now.Add(time.Duration(i)*time.Millisecond), now); err != nil {
			t.Fatalf("cookie %d: %v", i, err)
		}
	}
	for i, want := range map[int]error{0: ErrNoToken, spentMost - 1: ErrNoToken, spentMost: ErrFull} {
		if err := p.spend(cookie(i), now.Add(time.Hour), now); err != want {
			t.Errorf("cookie %d: %v, want %v", i, err, want)
		}
	}
	later := now.Add(time.Second + time.Microsecond) // the first 1001 are over
	for i, want := range map[int]error{spentMost: nil, 1001: ErrNoToken} {
		if err := p.spend(cookie(i), now.Add(time.Hour), later); err != want {
			t.Errorf("cookie %d later: %v, want %v", i, err, want)
		}
	}
	if n := len(p.spent); n != spentMost-1001+1 {
		t.Errorf("%d cookies kept", n)
	}
}

func TestLimitedLog(t *testing.T) {
	var told []Refusal
	one := &limitedLog{tell: func(r Refusal) { told = append(told, r) }}
	for range 100 {
		one.refused(netip.IPv6Loopback(), ErrFull)
	}
	// A second may have turned once while it ran.
	if n := len(told); n < RefusalsLogged || n > 2*RefusalsLogged {
		t.Errorf("%d told", n)
	}
	one.finish()
	one.finish() // nothing is left
	if last := told[len(told)-1]; last.Client != netip.IPv6Loopback() || last.Reason != ErrFull {
		t.Errorf("the last is %+v", last)
	}
	more := 0
	for _, r := range told {
		more += r.More
	}
	if more+len(told) != 100 {
		t.Errorf("%d told and %d counted, want 100 in all", len(told), more)
	}
	(&limitedLog{}).refused(netip.IPv6Loopback(), ErrFull)
	(&limitedLog{}).finish()
}

func TestPace(t *testing.T) {
	p := pace{rate: 8 * unit.Mbps, grain: time.Millisecond}
	for name, tt := range map[string]struct {
		sent  uint64
		since time.Duration
		want  time.Duration
	}{
		"on time":        {1e6, time.Second, 0},
		"late":           {1e6, 2 * time.Second, 0},
		"early":          {2e6, time.Second, time.Second},
		"a little early": {1e6 + 100, time.Second, time.Millisecond},
	} {
		if got := p.wait(tt.sent, tt.since); got != tt.want {
			t.Errorf("%s: wait %s, want %s", name, got, tt.want)
		}
	}
	if got := (pace{}).wait(1e9, 0); got != 0 {
		t.Errorf("no rate, wait %s", got)
	}
}

func TestBuffersTogether(t *testing.T) {
	sum := 0
	for i := range maxStreamsInAll {
		sum += payload.ReceiveLength(i)
	}
	if sum > 192<<20 {
		t.Errorf("buffers take %d MiB", sum>>20)
	}
}

func TestCountSince(t *testing.T) {
	before := count{bytes: 10, retransmits: 1, arrived: iperf3.Reception{Highest: 5, Lost: 3}}
	after := count{bytes: 30, retransmits: 4, arrived: iperf3.Reception{Highest: 9, Lost: 2, Jitter: 7}}
	want := count{bytes: 20, retransmits: 3, arrived: iperf3.Reception{Highest: 4, Lost: 0, Jitter: 7}}
	if diff := cmp.Diff(want, after.since(before), cmp.AllowUnexported(count{}, iperf3.Reception{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestOutput holds the text beside what iperf3 3.12's own server printed.
func TestOutput(t *testing.T) {
	client := netip.MustParseAddrPort("127.0.0.1:41494")
	streams := []outputStream{{id: 5, sends: true, here: netip.MustParseAddrPort("127.0.0.1:5997"), far: netip.MustParseAddrPort("127.0.0.1:41506")}}
	o := startOutput(client, iperf3.Parameters{TCP: true, Reverse: true}, streams)
	end := mark{at: 1002 * time.Millisecond, counts: []count{{bytes: 1310720, window: 895 << 10}}}
	begin := mark{counts: make([]count, 1)}
	o.interval(begin, end, 0, false)
	o.summary(begin, end)
	want := `Accepted connection from 127.0.0.1, port 41494
[  5] local 127.0.0.1 port 5997 connected to 127.0.0.1 port 41506
[ ID] Interval           Transfer     Bitrate         Retr  Cwnd
[  5]   0.00-1.00   sec  1.25 MBytes  10.5 Mbits/sec     0    895 KBytes
- - - - - - - - - - - - - - - - - - - - - - - - -
[ ID] Interval           Transfer     Bitrate         Retr
[  5]   0.00-1.00   sec  1.25 MBytes  10.5 Mbits/sec     0             sender
`
	var lines []string
	for line := range strings.Lines(o.String()) {
		lines = append(lines, strings.TrimRight(line, " \n"))
	}
	if diff := cmp.Diff(want, strings.Join(lines, "\n")+"\n"); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for range 10000 {
		o.interval(begin, end, 0, false)
	}
	if o.text.Len() > outputMost+1000 {
		t.Errorf("text of %d bytes", o.text.Len())
	}
	if (*output)(nil).String() != "" {
		t.Error("nobody asked and there is text")
	}
}

func TestTestRates(t *testing.T) {
	test := Test{Received: 1250000, Sent: 125000, Window: time.Second}
	if test.ReceivedRate() != 10*unit.Mbps || test.SentRate() != unit.Mbps || (Test{Received: 1}).ReceivedRate() != 0 {
		t.Errorf("rates %v and %v", test.ReceivedRate(), test.SentRate())
	}
}

func TestClipped(t *testing.T) {
	if got := clipped("iperf 3.16"); got != "iperf 3.16" {
		t.Error(got)
	}
	if got := clipped(strings.Repeat("é", longestName)); len(got) > longestName+len("...") || !utf8.ValidString(got) {
		t.Errorf("%d bytes: %q", len(got), got)
	}
}
