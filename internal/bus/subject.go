package bus

import (
	"fmt"
	"io/fs"
	"strings"

	"github.com/linerate/linerate/internal/agentapi"
)

const root = "linerate." + Version + "."

// Request is the subject of one request: who asks, as what, whom, for what.
// The server lets nobody publish under another's name or a role that is not
// theirs, so that a host can believe it.
type Request struct {
	User   string
	Role   Role
	Host   string
	Method agentapi.Method
}

// Ask is the request of a user for a method of a host, under the role that the
// method needs. Errors: ErrName, fs.ErrPermission for a method of no role.
func Ask(user, host string, m agentapi.Method) (Request, error) {
	if err := CheckName("user", user); err != nil {
		return Request{}, err
	}
	if err := CheckName("host", host); err != nil {
		return Request{}, err
	}
	role, ok := Needs(m)
	if !ok {
		return Request{}, unknownMethod(m)
	}
	return Request{user, role, host, m}, nil
}

// unknownMethod is what an agent too would answer that does not know it.
func unknownMethod(m agentapi.Method) error {
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
	r := Request{tokens[0], Role(tokens[1]), tokens[2], agentapi.Method(tokens[3])}
	for what, name := range map[string]string{"user": r.User, "role": string(r.Role), "host": r.Host, "method": string(r.Method)} {
		if err := CheckName(what, name); err != nil {
			return Request{}, err
		}
	}
	return r, nil
}

// Check is the host's own look at a request, after the server's: a method must
// come under the role that it needs, and none above most is served. Errors:
// fs.ErrPermission; a method of no role is errors.ErrUnsupported.
func (r Request) Check(most Role) error {
	need, ok := Needs(r.Method)
	if !ok {
		return unknownMethod(r.Method)
	}
	if r.Role != need {
		return fmt.Errorf("%s asked as %s by %s: %w: it takes the role %s", r.Method, r.Role, r.User, fs.ErrPermission, need)
	}
	if !most.Includes(need) {
		return fmt.Errorf("%s asked by %s: %w: this agent serves %s and no more", r.Method, r.User, fs.ErrPermission, most)
	}
	return nil
}

// Asked is the subject on which a host hears requests.
func Asked(host string) string { return root + "req.*.*." + host + ".*" }

// Inbox is the beginning of the subjects on which a user hears replies.
func Inbox(user string) string { return root + "inbox." + user }

// AgentInbox is that of a host.
func AgentInbox(host string) string { return root + "agent." + host + ".inbox" }

// Enroll is the subject on which the holder of a token asks for an identity;
// "*" is all of them.
func Enroll(token string) string { return root + "enroll." + token }

// EnrollInbox is the beginning of the subjects on which it hears the answer.
func EnrollInbox(token string) string { return root + "enroll." + token + ".inbox" }

// Trial is the subject of the trials of a user's run.
func Trial(user, run string) string { return root + "run." + user + "." + run + ".trial" }

// Trials is the subject of everybody's, for the stream.
func Trials() string { return root + "run.*.*.trial" }

// RunOf is the run whose trial is published to a subject, as USER.RUN; false for
// any other subject.
func RunOf(subject string) (string, bool) {
	rest, ok := strings.CutPrefix(subject, root+"run.")
	run, trial := strings.CutSuffix(rest, ".trial")
	return run, ok && trial && strings.Count(run, ".") == 1
}
