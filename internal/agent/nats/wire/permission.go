package wire

import "github.com/linerate/linerate/internal/agent/agentapi"

// Permission is what a connection may do on the bus, for the server to hold it
// to.
type Permission struct {
	Publish, Subscribe []string
}

// ofPerson is what a user of a role may: ask hosts and the run store in their
// own name, and hear what is answered.
func ofPerson(user string, role agentapi.Role) Permission {
	p := Permission{Subscribe: []string{root + "inbox." + user + ".>"}}
	for _, r := range agentapi.People() {
		if role.Includes(r) {
			p.Publish = append(p.Publish, root+"req."+user+"."+string(r)+".*.*")
		}
	}
	for _, m := range StoreMethods() {
		if role.Includes(StoreNeeds(m)) {
			p.Publish = append(p.Publish, Store(user, m))
		}
	}
	return p
}

// ofAgent is what a host may: hear what it is asked, answer that in its own
// name, and say how it is.
func ofAgent(host string) Permission {
	return Permission{
		Publish:   []string{Inbox("*", host, ">"), StateOf(host)},
		Subscribe: []string{Asked(host), AgentInbox(host) + ".>", Revoked()},
	}
}

// OfService is what the servers' own connection may: answer for the run store and the
// holders of tokens, and say whose claims are taken away.
func OfService() Permission {
	return Permission{
		Publish:   []string{StoreInbox("*") + ".>", AgentInbox("*") + ".>", EnrollInbox("*") + ".>", Revoked()},
		Subscribe: []string{StoreAsked(), StateOf("*"), Enroll("*"), Revoked()},
	}
}

// Permissions is what somebody called name may in a role; ErrName for a name
// that cannot be, or a role that is none.
func Permissions(name string, role agentapi.Role) (Permission, error) {
	what := "user"
	if role == agentapi.RoleAgent {
		what = "host"
	} else if !role.Person() {
		return Permission{}, CheckName("role", string(role)+" ") // never a name
	}
	if err := CheckName(what, name); err != nil {
		return Permission{}, err
	}
	if role == agentapi.RoleAgent {
		return ofAgent(name), nil
	}
	return ofPerson(name, role), nil
}

// ToEnroll is what the holder of a token may: ask once for an identity.
func ToEnroll(token string) Permission {
	return Permission{Publish: []string{Enroll(token)}, Subscribe: []string{EnrollInbox(token) + ".>"}}
}
