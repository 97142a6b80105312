package console

import (
	"fmt"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/record"
)

// Failures is an error when some pairs were not measured.
func Failures(r record.Record) error {
	if len(r.Failures) == 0 {
		return nil
	}
	f := r.Failures[0]
	return WithHint(fmt.Errorf("measure %s to %s: %s (%d of %d trials failed)", f.From, f.To, f.Error, len(r.Failures), len(r.Failures)+len(r.Trials)), barredHint(f.Reason))
}

// barredHint is what to look at when a connection was not made.
func barredHint(reason string) string {
	switch agentapi.Code(reason) {
	case agentapi.CodeRefused:
		return "the receiver's host answered with a reset: it, or a firewall in its name, rejects the port; --ports 5201-5216 uses ports that are open"
	case agentapi.CodeSilent:
		return "a firewall that drops looks like this: open ports to the receiver and name them with --ports 5201-5216"
	case agentapi.CodeBlocked:
		return "a router or firewall rejects it (ICMP), a route is missing or prohibited, or nobody has the address: `ip route get` on the sender, `ip neighbour`"
	case agentapi.CodePortTaken:
		return "other programs hold the ports: `ss -ltn` on the receiver names them; give a longer range to --ports"
	}
	return ""
}
