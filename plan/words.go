package plan

import (
	"fmt"
	"strings"

	"github.com/linerate/linerate/internal/plaintext"
	"github.com/linerate/linerate/netstate"
)

// routeWords spells a route as ip-route(8) does; shell quotes the names in it.
// Who made the route is not part of what it is, and not spelled.
func routeWords(r *netstate.Route, shell bool) string {
	if r == nil {
		return "?"
	}
	if shell {
		return r.Words(plaintext.ShellWord)
	}
	return r.Words(nil)
}

// ruleWords spells a rule as ip-rule(8) does.
func ruleWords(r *netstate.Rule) string {
	if r == nil {
		return "?"
	}
	return r.Words()
}

// ipv6Rule reports a rule of IPv6.
func ipv6Rule(r *netstate.Rule) bool { return r.IPv6() }

// endpointWords spells an MPTCP endpoint as ip-mptcp(8) does, without its
// number, which the kernel chooses.
func endpointWords(e *netstate.MPTCPEndpoint) string {
	if e == nil {
		return "?"
	}
	return e.Words()
}

// made says what a step makes: "bond", "VLAN 100 on bond0".
func (m *Made) words() string {
	switch {
	case m == nil:
		return "?"
	case m.Kind == kindVLAN:
		return fmt.Sprintf("VLAN %d on %s", m.ID, m.Parent)
	}
	return m.Kind
}

// quoteAll quotes every word of a line by itself.
func quoteAll(line string) string {
	f := strings.Fields(line)
	for i := range f {
		f[i] = plaintext.ShellWord(f[i])
	}
	return strings.Join(f, " ")
}
