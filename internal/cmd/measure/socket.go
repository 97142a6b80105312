package measure

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/run/campaign"
	"github.com/linerate/linerate/unit"
)

// socketFlags are what measure asks of every stream's socket, and how it moves
// the bytes.
type socketFlags struct {
	mss                                          int
	noDelay                                      bool
	dscp, congestion, pacing, device, zeroCopied string
}

func (s *socketFlags) add(c *cobra.Command) {
	c.Flags().IntVar(&s.mss, "mss", 0, "most bytes of a TCP segment (default: what the MTU allows)")
	c.Flags().BoolVar(&s.noDelay, "no-delay", false, "switch Nagle's algorithm off")
	c.Flags().StringVar(&s.dscp, "dscp", "", "mark the packets: 0 to 63, or a name such as ef, af41, cs1")
	c.Flags().StringVar(&s.congestion, "congestion", "", "congestion control of every stream, such as cubic\n(default: that of the host named first, for both)")
	c.Flags().StringVar(&s.pacing, "pacing", "", "have the kernel pace each stream at this rate, such as 2G")
	c.Flags().StringVar(&s.device, "device", "", "bind the senders' sockets to this interface")
	c.Flags().StringVar(&s.zeroCopied, "zerocopy", "", "move bytes uncopied: sendfile or msg_zerocopy, --zerocopy alone\ntakes what works best")
	c.Flags().Lookup("zerocopy").NoOptDefVal = string(agentapi.ModeZeroCopy)
}

// codePoints are the names of DSCP values (RFC 2474, 2597, 3246, 5865, 8622).
var codePoints = [...]struct {
	name  string
	value int
}{
	{"default", 0}, {"cs0", 0}, {"le", 1}, {"cs1", 8}, {"cs2", 16}, {"cs3", 24}, {"cs4", 32}, {"cs5", 40}, {"cs6", 48}, {"cs7", 56},
	{"af11", 10}, {"af12", 12}, {"af13", 14}, {"af21", 18}, {"af22", 20}, {"af23", 22}, {"af31", 26}, {"af32", 28}, {"af33", 30},
	{"af41", 34}, {"af42", 36}, {"af43", 38}, {"va", 44}, {"ef", 46},
}

// parseDSCP reads a code point by name or number.
func parseDSCP(s string) (int, error) {
	for _, c := range codePoints {
		if strings.EqualFold(s, c.name) {
			return c.value, nil
		}
	}
	n, err := strconv.ParseInt(s, 0, 32)
	if err != nil || n < 0 || n > 63 {
		return 0, fmt.Errorf("want 0 to 63, or a name such as ef, af41, cs1, not %s", s)
	}
	return int(n), nil
}

// The segment sizes that Linux takes (TCP_MIN_MSS, MAX_TCP_WINDOW).
const (
	leastMSS = 88
	mostMSS  = 32767
)

// over lays the flags over a matrix whose protocol is chosen.
func (s *socketFlags) over(m *campaign.Matrix) error {
	if m.Base.Protocol == "udp" {
		for _, f := range [...]struct {
			name  string
			given bool
			hint  string
		}{
			{"pacing", s.pacing != "", "--rate-limit 2G bounds what all UDP streams of a direction send"},
			{"mss", s.mss != 0, "leave --protocol udp out; --datagram sets the payload of a datagram"},
			{"no-delay", s.noDelay, "leave --protocol udp out"},
			{"congestion", s.congestion != "", "leave --protocol udp out"},
			{"zerocopy", s.zeroCopied != "", "leave --protocol udp out"},
		} {
			if f.given {
				return console.BadUsage("--"+f.name+": is for TCP, not udp", f.hint)
			}
		}
	}
	if s.mss != 0 && (s.mss < leastMSS || s.mss > mostMSS) {
		return console.BadUsage(fmt.Sprintf("--mss: want %d to %d bytes, not %d", leastMSS, mostMSS, s.mss), "")
	}
	socket := &m.Base.Socket
	socket.MSS, socket.NoDelay = s.mss, s.noDelay
	if s.dscp != "" {
		n, err := parseDSCP(s.dscp)
		if err != nil {
			return console.BadUsage("--dscp: "+err.Error(), "")
		}
		socket.DSCP = n
	}
	if !kernelWord(s.congestion) {
		return console.BadUsage("--congestion: want the kernel's name of one, such as cubic, not "+s.congestion, "")
	}
	socket.Congestion = s.congestion
	if s.pacing != "" {
		r, err := unit.ParseBitRate(s.pacing)
		if err != nil || r < 8 {
			return console.BadUsage("--pacing: want a rate above zero, such as 2G, not "+s.pacing, "")
		}
		socket.Pacing = r
	}
	if len(s.device) > 15 || strings.ContainsAny(s.device, "/ \t\n") {
		return console.BadUsage("--device: "+s.device+" is no interface's name", "")
	}
	socket.Device = s.device
	switch mode := agentapi.Mode(s.zeroCopied); mode {
	case agentapi.ModeCopy, agentapi.ModeZeroCopy, agentapi.ModeSendfile, agentapi.ModeMsgZeroCopy:
		m.Base.Mode = mode
	default:
		return console.BadUsage("--zerocopy: want sendfile or msg_zerocopy, not "+s.zeroCopied, "write --zerocopy=sendfile, with the equals sign")
	}
	return nil
}

// kernelWord reports whether a word may name something of the kernel's; the
// empty one may.
func kernelWord(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r != '_' && r != '-' && (r < 'a' || r > 'z') && (r < '0' || r > '9') })
}
