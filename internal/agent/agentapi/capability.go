package agentapi

import (
	"fmt"
	"slices"
	"strings"
)

// Capability is something that an agent may do on its host, tried out or read
// from its kernel when it says so.
type Capability string

// The capabilities there are. Those of a kernel have its names (capabilities(7)).
const (
	CanRoot     Capability = "root"           // it is user 0
	CanNetAdmin Capability = "cap_net_admin"  // change links, addresses, routes; read every bond and card
	CanNetRaw   Capability = "cap_net_raw"    // packet sockets
	CanSysAdmin Capability = "cap_sys_admin"  // enter and make network namespaces
	CanPtrace   Capability = "cap_sys_ptrace" // see whose sockets they are
	CanEcho     Capability = "icmp_echo"      // send ICMP echoes
	CanLock     Capability = "hold"           // keep every other run off the host
	CanJournal  Capability = "journal"        // write the journal that a change needs
)

// Capabilities is a set of them.
type Capabilities []Capability

// Has reports whether the set has c.
func (s Capabilities) Has(c Capability) bool { return slices.Contains(s, c) }

// losses is the one table of what goes without which capability.
var losses = [...]struct {
	without Capability
	lost    string
}{
	{CanNetAdmin, "changes"},
	{CanJournal, "changes"},
	{CanEcho, "latency by ICMP and probes of the path MTU"},
	{CanNetRaw, "LLDP neighbours and the hash calibration of bonds"},
	{CanSysAdmin, "lab runs and --calibrate between namespaces"},
	{CanLock, "a lock against other users' runs"},
}

// Lost is what an agent cannot do for want of capabilities, in words and in a
// fixed order; none where it can do all or where it did not say.
func (s Capabilities) Lost() []string {
	if s == nil {
		return nil
	}
	var out []string
	for _, l := range losses {
		if !s.Has(l.without) && !slices.Contains(out, l.lost) {
			out = append(out, l.lost)
		}
	}
	return out
}

// LostLine is Lost as one line; "" is nothing lost.
func (r HelloReply) LostLine() string {
	lost := r.Capabilities.Lost()
	if len(lost) == 0 {
		return ""
	}
	words := strings.Join(lost, "; ")
	if r.Capabilities.Has(CanRoot) {
		return fmt.Sprintf("not possible here: %s", words)
	}
	return fmt.Sprintf("without root you lose: %s", words)
}
