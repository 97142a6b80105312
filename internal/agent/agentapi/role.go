package agentapi

// Role is what somebody on NATS may ask of hosts.
type Role string

// The roles of people, each with all that the one before may, and that of a
// host.
const (
	RoleWatch   Role = "watch"   // look: nothing is sent and nothing changed
	RoleMeasure Role = "measure" // send traffic
	RoleChange  Role = "change"  // change hosts
	RoleAgent   Role = "agent"   // be a host: asks nobody
)

// People are the roles that somebody who asks can have, the least first.
func People() []Role { return []Role{RoleWatch, RoleMeasure, RoleChange} }

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
