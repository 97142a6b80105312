package wire

import (
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"github.com/linerate/linerate/internal/agent/agentapi"
)

const root = "linerate." + Version + "."

// Request is the subject of one request: who asks, as what, whom, for what.
// The server lets nobody publish under another's name or a role that is not
// theirs; a host believes the signature and not the subject.
type Request struct {
	User   string
	Role   agentapi.Role
	Host   string
	Method agentapi.MethodName
}

// Ask is the request of a user for a method of a host, under the role that the
// method needs. Errors: ErrName, fs.ErrPermission for a method of no role.
func Ask(user, host string, m agentapi.AnyMethod) (Request, error) {
	if err := CheckName("user", user); err != nil {
		return Request{}, err
	}
	if err := CheckName("host", host); err != nil {
		return Request{}, err
	}
	if !m.Role.Person() {
		return Request{}, unknownMethod(m.Name)
	}
	return Request{user, m.Role, host, m.Name}, nil
}

// unknownMethod is what an agent too would answer that does not know it.
func unknownMethod(m agentapi.MethodName) error {
	return &agentapi.Error{Code: agentapi.CodeUnsupported, Text: fmt.Sprintf("method %q: unsupported operation", m)}
}

// Subject is where the request is published.
func (r Request) Subject() string {
	return root + "req." + r.User + "." + string(r.Role) + "." + r.Host + "." + string(r.Method)
}

// ParseRequest reads a request's subject. A subject of another form is ErrName.
func ParseRequest(subject string) (Request, error) {
	rest, ok := strings.CutPrefix(subject, root+"req.")
	tokens := strings.Split(rest, ".")
	if !ok || len(tokens) != 4 {
		return Request{}, fmt.Errorf("subject %.200q: %w", subject, ErrName)
	}
	r := Request{tokens[0], agentapi.Role(tokens[1]), tokens[2], agentapi.MethodName(tokens[3])}
	for what, name := range map[string]string{"user": r.User, "role": string(r.Role), "host": r.Host, "method": string(r.Method)} {
		if err := CheckName(what, name); err != nil {
			return Request{}, err
		}
	}
	return r, nil
}

// Check is the host's own verdict on a request of somebody whose claim says
// name and has: the subject must be of that name, the method come under the
// role that it needs, the claim have that role, and the host serve it. Errors:
// fs.ErrPermission; a method that needs no role, as one that the host does not
// know, is errors.ErrUnsupported.
func (r Request) Check(need agentapi.Role, name string, has, most agentapi.Role) error {
	switch {
	case !need.Person():
		return unknownMethod(r.Method)
	case r.User != name:
		return fmt.Errorf("%s asked as %s, signed by %s: %w", r.Method, r.User, name, fs.ErrPermission)
	case r.Role != need:
		return fmt.Errorf("%s asked as %s: %w: %s needs the role %s", r.Method, r.Role, fs.ErrPermission, r.User, need)
	case !has.Includes(need):
		return fmt.Errorf("%s: %w: %s needs the role %s (has: %s)", r.Method, fs.ErrPermission, r.User, need, has)
	case !most.Includes(need):
		return fmt.Errorf("%s asked by %s: %w: this agent serves %s and no more", r.Method, r.User, fs.ErrPermission, most)
	}
	return nil
}

// Asked is the subject on which a host hears requests.
func Asked(host string) string { return root + "req.*.*." + host + ".*" }

// Inbox is the beginning of the subjects on which a user hears what a host
// answers in a conversation; Answer that of one call. A host may publish to no
// inbox of another's name, and answers nowhere else, whatever reply subject a
// request names.
func Inbox(user, host, session string) string {
	return root + "inbox." + user + "." + host + "." + session
}

// Answer is where a host answers one call.
func Answer(user, host, session string, call uint64) string {
	return Inbox(user, host, session) + "." + strconv.FormatUint(call, 10)
}

// storeName stands for the run store where a host's name would: no host can be
// called so.
const storeName = "_store"

// StoreInbox is the beginning of the subjects on which a user hears the run
// store.
func StoreInbox(user string) string { return root + "inbox." + user + "." + storeName }

// AgentInbox is the beginning of those on which a host hears it.
func AgentInbox(host string) string { return root + "agent." + host + ".inbox" }

// Store is the subject of a request of a user to the run store.
func Store(user string, m StoreMethod) string { return root + "store." + user + "." + string(m) }

// StoreAsked is the subject on which it hears requests.
func StoreAsked() string { return root + "store.*.*" }

// ParseStore reads the subject of a request to the run store. Errors: ErrName.
func ParseStore(subject string) (user string, m StoreMethod, err error) {
	rest, ok := strings.CutPrefix(subject, root+"store.")
	user, method, two := strings.Cut(rest, ".")
	if !ok || !two || CheckName("user", user) != nil || CheckName("method", method) != nil {
		return "", "", fmt.Errorf("subject %.200q: %w", subject, ErrName)
	}
	return user, StoreMethod(method), nil
}

// StateOf is the subject on which a host says how it is; "*" is all of them.
func StateOf(host string) string { return root + "state." + host }

// HostOf is the host that says how it is on a subject. Errors: ErrName.
func HostOf(subject string) (string, error) {
	host, ok := strings.CutPrefix(subject, root+"state.")
	if !ok {
		return "", fmt.Errorf("subject %.200q: %w", subject, ErrName)
	}
	return host, CheckName("host", host)
}

// Revoked is the subject on which the authority says whose claims are taken
// away.
func Revoked() string { return root + "revoked" }

// Enroll is the subject on which the holder of a token asks for an identity;
// "*" is all of them.
func Enroll(token string) string { return root + "enroll." + token }

// EnrollInbox is the beginning of the subjects on which it hears the answer.
func EnrollInbox(token string) string { return root + "enroll." + token + ".inbox" }
