package trial

import (
	"fmt"
	"math"

	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// Records of other tools hold no counters of links: what a rate and TCP's own
// words allow to say is less certain, and said so.
const (
	unobservedSure = 0.85 // of the confidence that the same has with counters
	// nearNominal is how near a rate comes to what an Ethernet link carries in
	// full packets, one count of headers or the other.
	nearNominal = 0.012
)

// ethernetSpeeds are those that links are sold in (IEEE 802.3), least first.
var ethernetSpeeds = [...]unit.BitRate{100e6, 1e9, 2.5e9, 5e9, 10e9, 25e9, 40e9, 50e9, 100e9, 200e9, 400e9}

// nominalPayloads are the payload's shares of Ethernet's line rate: TCP over
// IPv4 with time stamps at MTU 1500 and 9000, and the first with a VLAN's tag.
var nominalPayloads = [...]float64{1448.0 / 1538, 8948.0 / 9038, 1448.0 / 1542}

func (v *wayView) unobserved() bool { return len(v.egress)+len(v.ingress) == 0 }

// nominalRate: nobody counted the links, or nobody knows their speed, and the rate is
// just what a link of a usual speed carries.
func (v *wayView) nominalRate() (hypothesis, bool) {
	if v.ceiling() > 0 || v.goodput <= 0 {
		return hypothesis{}, false
	}
	unsaid := "no link was counted"
	remedy := "measure with both hosts observed (`linerate measure FABRIC`) to see which link it is, and whether others idle beside it"
	if !v.unobserved() {
		unsaid, remedy = "its speed is in no file", "write the links' speeds into the fabric file (hardware.links) and measure again"
	}
	for _, speed := range ethernetSpeeds {
		for _, share := range nominalPayloads {
			payload := float64(speed) * share
			if math.Abs(float64(v.goodput)/payload-1) > nearNominal {
				continue
			}
			h := hypothesis{
				cause: record.LineRate, sure: 0.75, nothingToWin: true,
				summary: fmt.Sprintf("The rate is what a link of %v carries in full packets, so most likely one is full; %s.", speed, unsaid),
				evidence: append([]record.Evidence{{What: fmt.Sprintf("payload of a link of %v", speed), Value: unit.BitRate(payload).String(), Source: "IEEE 802.3 framing, IPv4 and TCP headers"}},
					v.tcpEvidence()...),
				remedy: record.ByHand(remedy),
			}
			return h, true
		}
	}
	return hypothesis{}, false
}

// lessSure lowers what was inferred without a link's counters.
func (v *wayView) lessSure(h *hypothesis) {
	if v.unobserved() && !h.seen {
		h.sure *= unobservedSure
	}
}
