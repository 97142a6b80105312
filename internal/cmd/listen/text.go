package listen

import (
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/traffic/iperf3server"
	"github.com/linerate/linerate/unit"
)

// listenedTest is one test in the document of `listen --json`.
type listenedTest struct {
	Client      string                 `json:"client"`
	Program     string                 `json:"program,omitempty"`
	Title       string                 `json:"title,omitempty"`
	Protocol    string                 `json:"protocol"`
	Direction   iperf3server.Direction `json:"direction"`
	Streams     int                    `json:"streams"`
	Started     time.Time              `json:"started"`
	Window      float64                `json:"window_s"`
	Received    int64                  `json:"received_bytes"`
	ReceivedBPS float64                `json:"received_bps"`
	Sent        int64                  `json:"sent_bytes"`
	SentBPS     float64                `json:"sent_bps"`
	Retransmits uint64                 `json:"retransmits_count"`
	Datagrams   uint64                 `json:"datagrams_count"`
	Lost        uint64                 `json:"lost_count"`
	Jitter      float64                `json:"jitter_ms"`
	Congestion  string                 `json:"congestion,omitempty"`
	BusyCores   float64                `json:"busy_cores"`
	Error       string                 `json:"error,omitempty"`
}

func documented(t iperf3server.Test) listenedTest {
	d := listenedTest{
		Client: t.Client.String(), Program: t.Program, Title: t.Title, Protocol: protocolName(t), Direction: t.Direction, Streams: t.Streams,
		Started: t.Started.UTC(), Window: t.Window.Seconds(), Received: int64(t.Received), ReceivedBPS: float64(t.ReceivedRate()),
		Sent: int64(t.Sent), SentBPS: float64(t.SentRate()), Retransmits: t.Retransmits, Datagrams: t.Datagrams, Lost: t.Lost,
		Jitter: unit.Milliseconds(t.Jitter), Congestion: t.Congestion, BusyCores: t.CPU,
	}
	if t.Err != nil {
		d.Error = peerWords(t.Err)
	}
	return d
}

func protocolName(t iperf3server.Test) string {
	if t.UDP {
		return "udp"
	}
	return "tcp"
}

// testWords is a test in one line: who, what, result.
func testWords(t iperf3server.Test) string {
	parts := []string{fmt.Sprintf("%s %s %s", t.Client, protocolName(t), unit.Counted(t.Streams, "stream"))}
	if t.Direction != iperf3server.Reverse {
		parts = append(parts, fmt.Sprintf("in %s", t.ReceivedRate()))
	}
	if t.Direction != iperf3server.Forward {
		words := fmt.Sprintf("out %s", t.SentRate())
		if t.UDP { // nobody acknowledges it
			words += " handed to the sockets"
		}
		parts = append(parts, words)
	}
	parts = append(parts, fmt.Sprintf("%.1f s", t.Window.Seconds()))
	if t.Retransmits > 0 {
		parts = append(parts, fmt.Sprintf("%d retransmits", t.Retransmits))
	}
	if t.UDP && t.Datagrams > 0 {
		parts = append(parts, fmt.Sprintf("%d of %d lost", t.Lost, t.Datagrams))
	}
	if t.Err != nil {
		parts = append(parts, "ended early: "+peerWords(t.Err))
	}
	return strings.Join(parts, ", ")
}

func refusalWords(r iperf3server.Refusal) string {
	s := fmt.Sprintf("refused %s: %s", r.Client, peerWords(r.Reason))
	if r.More > 0 {
		s += fmt.Sprintf(" (and %d more)", r.More)
	}
	return s
}

// longestReason bounds what a client's bytes can put into a line.
const longestReason = 200

// peerWords is an error in one short line. A stranger's bytes may be quoted in
// it: none of them reaches a terminal as a command.
func peerWords(err error) string {
	text := console.OneLine(err.Error())
	if runes := []rune(text); len(runes) > longestReason {
		return string(runes[:longestReason]) + "..."
	}
	return text
}

// servedWords says who is served.
func servedWords(cfg iperf3server.Config) string {
	var who []string
	for _, p := range cfg.Allow {
		who = append(who, networkName(p))
	}
	switch {
	case len(who) > 0 && len(cfg.Token) > 0:
		return strings.Join(who, ", ") + " with the token"
	case len(who) > 0:
		return strings.Join(who, ", ")
	case len(cfg.Token) > 0:
		return "who knows the token"
	}
	return "this host and the networks of its interfaces (--allow widens)"
}

func networkName(p netip.Prefix) string {
	if p.IsSingleIP() {
		return p.Addr().String()
	}
	return p.String()
}
