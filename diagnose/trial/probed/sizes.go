package probed

import (
	"fmt"

	"github.com/linerate/linerate/record"
)

// Echoes of a size that does not pass are lost, all of them or those by one way of
// several; where most come back, what is lost is lost by chance.
const (
	fewEchoes    = 10
	mostEchoBack = 0.8
)

// SomeLost reports echoes of full packets of which most came back and some did not.
func SomeLost(p record.SizeProbe) bool {
	return p.Sent >= fewEchoes && p.Passed < p.Sent && float64(p.Passed) > mostEchoBack*float64(p.Sent)
}

// Lost is the sentence about a probe whose full packets did not all come back.
func Lost(p record.SizeProbe) string {
	some := fmt.Sprintf("none of %d", p.Sent)
	if p.Passed > 0 {
		some = fmt.Sprintf("%d of %d", p.Passed, p.Sent)
	}
	full := fmt.Sprintf("%s test packets of %d bytes (the MTU of %s on %s) reached %s", some, p.MTU, p.Link, p.From, p.To)
	switch {
	case p.Named > 0:
		return fmt.Sprintf("Full packets do not pass: %s; a router on the way takes at most %d.", full, p.Named)
	case p.Passes > 0:
		return fmt.Sprintf("Full packets are lost silently: %s and came back; small ones do; %d bytes pass.", full, p.Passes)
	}
	return fmt.Sprintf("Full packets are lost silently: %s and came back; small ones do.", full)
}
