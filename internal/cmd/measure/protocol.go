package measure

import (
	"cmp"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/run/campaign"
)

// protocolFlags are how measure's traffic travels.
type protocolFlags struct {
	protocol string
	datagram int
	noGSO    bool
	pin      string
}

func (p *protocolFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&p.protocol, "protocol", "", "tcp, udp or mptcp (default: the file's, else tcp); udp without\n--rate-limit keeps to what the path can carry by prediction")
	c.Flags().IntVar(&p.datagram, "datagram", 0, "payload of each UDP datagram in bytes (default: what fits the MTU)")
	c.Flags().BoolVar(&p.noGSO, "no-gso", false, "send and receive each UDP datagram by itself")
	c.Flags().StringVar(&p.pin, "pin", "auto", "auto keeps the streams' threads on cores near the link's\ninterrupts where those are known, none leaves them alone")
}

// The least and the most that a datagram may carry: the header by which it is
// counted, and what one IPv4 packet holds.
const (
	leastDatagram = 24
	mostDatagram  = 65507
)

// over lays the flags over a matrix.
func (p *protocolFlags) over(m *campaign.Matrix, f fabric.Measure) error {
	protocol := cmp.Or(p.protocol, f.Protocol, "tcp")
	switch protocol {
	case "tcp", "udp", "mptcp":
	default:
		return console.BadUsage("--protocol: want tcp, udp or mptcp, not "+protocol, "")
	}
	if protocol != "udp" {
		switch {
		case p.datagram != 0:
			return console.BadUsage("--datagram: is for UDP, not "+protocol, "add --protocol udp")
		case p.noGSO:
			return console.BadUsage("--no-gso: is for UDP, not "+protocol, "add --protocol udp")
		}
	}
	if p.datagram != 0 && (p.datagram < leastDatagram || p.datagram > mostDatagram) {
		return console.BadUsage(fmt.Sprintf("--datagram: want %d to %d bytes, not %d", leastDatagram, mostDatagram, p.datagram), "")
	}
	if p.pin != "auto" && p.pin != "none" {
		return console.BadUsage("--pin: want auto or none, not "+p.pin, "")
	}
	m.Base.Protocol, m.Base.Unpinned = protocol, p.pin == "none"
	if protocol == "udp" {
		m.Base.Datagrams = &agentapi.Datagrams{Payload: p.datagram, Single: p.noGSO}
	}
	return nil
}

// Tunable refuses a protocol that tune cannot prove a gain with.
func Tunable(protocol string) error {
	if protocol != "" && protocol != "tcp" {
		return console.BadUsage("tune: proves what it changes with tcp, not "+protocol, "set measure.protocol to tcp")
	}
	return nil
}
