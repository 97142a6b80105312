package wire

import "github.com/linerate/linerate/internal/agent/agentapi"

// Role is what somebody may ask of hosts.
type Role string

// The roles of people, each with all that the one before may, and that of a
// host.
const (
	Watch   Role = "watch"   // look: nothing is sent and nothing changed
	Measure Role = "measure" // send traffic
	Change  Role = "change"  // change hosts
	Agent   Role = "agent"   // be a host: asks nobody
)

// People are the roles that somebody who asks can have, the least first.
func People() []Role { return []Role{Watch, Measure, Change} }

// rank orders the roles of people; 0 is none of them.
func (r Role) rank() int {
	for i, p := range People() {
		if p == r {
			return i + 1
		}
	}
	return 0
}

// Person reports whether r is a role of people.
func (r Role) Person() bool { return r.rank() > 0 }

// Includes reports whether whoever has r may do what needs the other role.
func (r Role) Includes(other Role) bool { return other.rank() > 0 && r.rank() >= other.rank() }

// What a controller says of its conversation with a host, in the place of a
// method.
const (
	Open   agentapi.Method = "talk-open"
	Beat   agentapi.Method = "talk-beat"
	Close  agentapi.Method = "talk-close"
	Cancel agentapi.Method = "talk-cancel"
)

// needs is the one table of methods and the role that each takes. Reading
// configuration files needs the highest: they may hold secrets.
var needs = map[agentapi.Method]Role{
	Open: Watch, Beat: Watch, Close: Watch, Cancel: Watch,

	agentapi.MethodHello:   Watch,
	agentapi.MethodObserve: Watch,
	agentapi.MethodCapture: Watch,
	agentapi.MethodJournal: Watch,
	agentapi.MethodLLDP:    Watch,
	agentapi.MethodRoutes:  Watch,
	agentapi.MethodSockets: Watch,
	agentapi.MethodTraffic: Watch,

	agentapi.MethodCalibrate:    Measure,
	agentapi.MethodCoreRate:     Measure,
	agentapi.MethodFinish:       Measure,
	agentapi.MethodHold:         Measure,
	agentapi.MethodIPerf3End:    Measure,
	agentapi.MethodIPerf3Open:   Measure,
	agentapi.MethodIPerf3Sample: Measure,
	agentapi.MethodIPerf3Start:  Measure,
	agentapi.MethodPing:         Measure,
	agentapi.MethodRelease:      Measure,
	agentapi.MethodSample:       Measure,
	agentapi.MethodSink:         Measure,
	agentapi.MethodSource:       Measure,
	agentapi.MethodStart:        Measure,
	agentapi.MethodToolEnd:      Measure,
	agentapi.MethodToolStart:    Measure,

	agentapi.MethodApply:       Change,
	agentapi.MethodArmed:       Change,
	agentapi.MethodBegin:       Change,
	agentapi.MethodConfigFiles: Change,
	agentapi.MethodConfirm:     Change,
	agentapi.MethodRollback:    Change,
}

// Needs is the role that a method takes; false for a method that is in no
// table, which nobody may ask for.
func Needs(m agentapi.Method) (Role, bool) {
	r, ok := needs[m]
	return r, ok
}

// MostOf is how many bytes a request for a method may have: a plan is long, what
// else is asked for is not.
func MostOf(m agentapi.Method) int {
	if needs[m] == Change {
		return MostRequest
	}
	return mostAsked
}

// Changes reports whether a method changes the host, so that the host's audit
// log has it.
func Changes(m agentapi.Method) bool {
	return m == agentapi.MethodApply || m == agentapi.MethodConfirm || m == agentapi.MethodRollback
}
