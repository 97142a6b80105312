package iperf3server

import (
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/linerate/linerate/internal/traffic/iperf3"
)

// output is what iperf3's server would print about a test, for a client that
// asks with --get-server-output. A nil output is nobody asking.
type output struct {
	text    strings.Builder
	udp     bool
	roles   bool // both directions: every line says which
	streams []outputStream
}

type outputStream struct {
	id        int // what iperf3 prints in brackets
	sends     bool
	here, far netip.AddrPort
}

// outputMost bounds the text: a day's intervals of many streams are not read
// by anybody.
const outputMost = 256 << 10

const outputRule = "- - - - - - - - - - - - - - - - - - - - - - - - -\n"

func startOutput(client netip.AddrPort, p iperf3.Parameters, streams []outputStream) *output {
	o := &output{udp: bool(p.UDP), roles: bool(p.Both), streams: streams}
	fmt.Fprintf(&o.text, "Accepted connection from %s, port %d\n", client.Addr(), client.Port())
	for _, s := range streams {
		fmt.Fprintf(&o.text, "[%3d] local %s port %d connected to %s port %d\n", s.id, s.here.Addr(), s.here.Port(), s.far.Addr(), s.far.Port())
	}
	o.head(true)
	return o
}

// head is the line above intervals, and above the summary.
func (o *output) head(intervals bool) {
	line := "[ ID] Interval           Transfer     Bitrate"
	if o.roles {
		line = "[ ID][Role] Interval           Transfer     Bitrate"
	}
	sends, receives := false, false
	for _, s := range o.streams {
		sends, receives = sends || s.sends, receives || !s.sends
	}
	switch {
	case o.udp && (receives || !intervals):
		line += "         Jitter    Lost/Total Datagrams"
	case o.udp:
		line += "         Total Datagrams"
	case sends && intervals:
		line += "         Retr  Cwnd"
	case sends:
		line += "         Retr"
	}
	o.text.WriteString(line + "\n")
}

// interval is one second of every stream. Times count from base, unless they
// are omitted.
func (o *output) interval(from, to mark, base time.Duration, omitted bool) {
	if o == nil || o.text.Len() > outputMost {
		return
	}
	tail := ""
	if omitted {
		tail = "(omitted)"
	}
	o.lines(from, to, base, func(s outputStream, c count) string {
		switch {
		case o.udp && s.sends:
			return fmt.Sprintf("%d  %s", c.arrived.Highest, tail)
		case o.udp:
			return lossWords(c) + "  " + tail
		case s.sends:
			return fmt.Sprintf("%4d   %s       %s", c.retransmits, byteWords(float64(c.window)), tail)
		}
		return "                " + tail
	})
}

// summary is the end of the text. What the sender of a UDP stream sent is
// known at its own end alone.
func (o *output) summary(from, to mark) {
	if o == nil {
		return
	}
	o.text.WriteString(outputRule)
	o.head(false)
	o.lines(from, to, from.at, func(s outputStream, c count) string {
		switch {
		case o.udp && s.sends:
			return fmt.Sprintf("0.000 ms  0/%d (0%%)  sender", c.arrived.Highest)
		case o.udp:
			return lossWords(c) + "  receiver"
		case s.sends:
			return fmt.Sprintf("%4d             sender", c.retransmits)
		}
		return "                receiver"
	})
}

// lines prints a line a stream, and a sum of several of one direction.
func (o *output) lines(from, to mark, base time.Duration, rest func(outputStream, count) string) {
	start, end := (from.at - base).Seconds(), (to.at - base).Seconds()
	if from.at < base {
		start, end = from.at.Seconds(), to.at.Seconds()
	}
	line := func(name string, s outputStream, c count) {
		role := ""
		if o.roles {
			role = map[bool]string{true: "[TX-S]", false: "[RX-S]"}[s.sends]
		}
		seconds := max(end-start, 1e-9)
		fmt.Fprintf(&o.text, "[%s]%s %6.2f-%-6.2f sec  %s  %s/sec  %s\n", name, role, start, end,
			byteWords(float64(c.bytes)), bitWords(float64(c.bytes)*8/seconds), rest(s, c))
	}
	for _, sends := range []bool{false, true} {
		var sum count
		n := 0
		for i, s := range o.streams {
			if s.sends != sends {
				continue
			}
			c := to.counts[i].since(from.counts[i])
			c.window = to.counts[i].window
			line(fmt.Sprintf("%3d", s.id), s, c)
			n++
			sum.bytes += c.bytes
			sum.retransmits += c.retransmits
			sum.window += c.window
			sum.arrived.Highest += c.arrived.Highest
			sum.arrived.Lost += c.arrived.Lost
			sum.arrived.Jitter += c.arrived.Jitter
		}
		if n > 1 {
			sum.arrived.Jitter /= time.Duration(n)
			line("SUM", outputStream{sends: sends}, sum)
		}
	}
}

func (o *output) String() string {
	if o == nil {
		return ""
	}
	return o.text.String()
}

func lossWords(c count) string {
	share := 0.0
	if c.arrived.Highest > 0 {
		share = 100 * float64(c.arrived.Lost) / float64(c.arrived.Highest)
	}
	return fmt.Sprintf("%5.3f ms  %d/%d (%.2g%%)", float64(c.arrived.Jitter)/float64(time.Millisecond), c.arrived.Lost, c.arrived.Highest, share)
}

// byteWords and bitWords are iperf3's: binary for bytes, decimal for bits,
// three digits.
func byteWords(n float64) string {
	return scaledWords(n, 1024, "Bytes", []string{" ", "K", "M", "G", "T"})
}

func bitWords(n float64) string {
	return scaledWords(n, 1000, "bits", []string{" ", "K", "M", "G", "T"})
}

func scaledWords(n, step float64, unit string, prefixes []string) string {
	i := 0
	for n >= step && i < len(prefixes)-1 {
		n /= step
		i++
	}
	format := "%4.0f %s%s"
	switch {
	case n < 9.995:
		format = "%4.2f %s%s"
	case n < 99.95:
		format = "%4.1f %s%s"
	}
	return fmt.Sprintf(format, n, strings.TrimSpace(prefixes[i]), unit)
}
