package host

import (
	"fmt"
	"time"

	"github.com/linerate/linerate/diagnose"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/record"
)

// PathProbe is what don't-fragment echoes one way between two hosts showed.
type PathProbe struct {
	From string    `json:"from"`
	To   string    `json:"to"`
	Lane flow.Lane `json:"lane"`
	// Link is the one that From sends by, MTU its own, which should pass.
	Link string `json:"link"`
	MTU  int    `json:"mtu_bytes"`
	// Answers: small echoes came back, so that what did not was too large.
	Answers bool `json:"answers"`
	// Sent and Passed count the echoes of the MTU's size. Each may take another
	// link of a bond, so that some may pass and others not.
	Sent   int `json:"sent_count"`
	Passed int `json:"passed_count"`
	// Passes is the largest packet that passed whichever way it took; zero
	// unknown.
	Passes int `json:"passes_bytes"`
	// Named is the size that a router, or the own link, said would pass; zero
	// nobody said any: what is too large is lost in silence.
	Named int `json:"named_bytes,omitempty"`
	// RTT is the shortest of the small echoes; zero unknown.
	RTT time.Duration `json:"rtt_ns,omitempty"`
}

// Proven reports that packets of the link's MTU pass.
func (p PathProbe) Proven() bool { return p.Answers && p.Sent > 0 && p.Passed == p.Sent }

// Path judges one way: false where it takes packets of the link's MTU, or
// nobody answered.
func Path(p PathProbe) (Finding, bool) {
	if !p.Answers || p.Sent == 0 || p.Proven() {
		return Finding{}, false
	}
	f := Finding{
		Kind: PathMTU, Hosts: []string{p.From, p.To}, Severity: Fault,
		Evidence: []record.Evidence{
			diagnose.Fact("MTU of "+p.Link+" on "+p.From, fmt.Sprint(p.MTU), "IFLA_MTU"),
			diagnose.Fact(fmt.Sprintf("packets of %d bytes from %s to %s", p.MTU, p.Lane.Src, p.Lane.Dst), fmt.Sprintf("%d of %d came back", p.Passed, p.Sent), diagnose.FromProbe),
		},
		Remedy: Raise(p.To, p.MTU) + fmt.Sprintf("; or ip link set %s mtu N on both hosts, with N what passes", p.Link),
	}
	if p.Passes > 0 {
		f.Evidence = append(f.Evidence, diagnose.Fact("largest that passes", fmt.Sprint(p.Passes), diagnose.FromProbe))
		f.Remedy = Raise(p.To, p.MTU) + fmt.Sprintf("; or ip link set %s mtu %d on %s, and the same on the other hosts of the network", p.Link, UsualMTU(p.Passes), p.From)
	}
	switch {
	case p.Passed > 0:
		f.What = fmt.Sprintf("only some packets of %d bytes get from %s to %s and back: one of the links between them has a smaller MTU", p.MTU, p.From, p.To)
	case p.Named > 0:
		f.Severity = Warning // TCP hears of it
		f.What = fmt.Sprintf("packets of %d bytes do not get from %s to %s: the way takes %d", p.MTU, p.From, p.To, p.Named)
	default:
		f.What = fmt.Sprintf("packets of %d bytes get lost between %s and %s without a word%s", p.MTU, p.From, p.To, AtMost(p.Passes))
	}
	return f, true
}

func AtMost(size int) string {
	if size == 0 {
		return ""
	}
	return fmt.Sprintf(": no more than %d pass", size)
}

// Raise is what lets packets of a size pass to a host.
func Raise(to string, mtu int) string {
	return fmt.Sprintf("raise the MTU of every switch port on the way, and of %s, to %d", to, mtu)
}

// UsualMTU is the MTU behind what was seen to pass: a port takes a tag or two
// more than its own, which a tagged frame would need.
func UsualMTU(passes int) int {
	for _, usual := range []int{1500, 9000} {
		if passes >= usual && passes <= usual+8 {
			return usual
		}
	}
	return passes
}
