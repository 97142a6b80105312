package natsagent

import (
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/agent/nats/claim"
	"github.com/linerate/linerate/internal/agent/nats/wire"
)

// asked is one message as it came: read, and not believed.
type asked struct {
	req     wire.Request
	method  agentapi.AnyMethod // zero: not known here
	session string
	call    uint64
	part    wire.Part
	at      int64 // nanoseconds, by who signed it
	m       *nats.Msg
}

// read reads a message. Errors: wire.ErrName, wire.ErrParts.
func (s *natsAgent) read(m *nats.Msg) (asked, error) {
	a := asked{m: m, session: m.Header.Get(wire.HeaderSession)}
	var err error
	if a.req, err = wire.ParseRequest(m.Subject); err != nil {
		return a, err
	}
	if a.method = wire.Session(a.req.Method); a.method.Name == "" {
		a.method = s.own.Method(a.req.Method)
	}
	if err := wire.CheckName("conversation", a.session); err != nil {
		return a, err
	}
	if a.call, err = strconv.ParseUint(m.Header.Get(wire.HeaderCall), 10, 64); err != nil || a.call == 0 {
		return a, fmt.Errorf("%w: its headers do not number the call", wire.ErrParts)
	}
	if a.at, err = strconv.ParseInt(m.Header.Get(wire.HeaderTime), 10, 64); err != nil {
		return a, fmt.Errorf("%w: its headers do not say when it was signed", wire.ErrParts)
	}
	a.part, err = wire.ParsePart(m.Header.Get, m.Data, wire.MostOf(a.method))
	return a, err
}

// said is what the message's signature must be over.
func (a asked) said(challenge string) wire.Signed {
	return wire.Signed{Kind: wire.KindRequest, Subject: a.m.Subject, Session: a.session, Challenge: challenge, Call: a.call, Time: a.at}.OfPart(a.part)
}

// room accounts for what is kept and done for users. It is safe for many
// goroutines.
type room struct {
	most int

	mu  sync.Mutex
	all int
	of  map[string]int
}

// take accounts for n bytes more of a user; false is too many. Who may change the host
// finds a part of it free, whatever all others have taken: a change has to be confirmed, or
// rolled back.
func (r *room) take(who claim.Identity, n int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	most := r.most
	if who.Role != agentapi.RoleChange {
		most -= most / freeForChange
	}
	if n > 0 && (r.all+n > most || r.of[who.Name]+n > r.most/mostOfUser) {
		return false
	}
	r.add(who.Name, n)
	return true
}

// owe accounts for n bytes more that are taken in any case, or fewer.
func (r *room) owe(who claim.Identity, n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.add(who.Name, n)
}

func (r *room) add(user string, n int) {
	if r.of == nil {
		r.of = make(map[string]int)
	}
	r.all += n
	if r.of[user] += n; r.of[user] <= 0 {
		delete(r.of, user)
	}
}

// fresh is nil for a message that comes as long after the conversation's opening
// as it was signed after that. Neither clock need be right. Errors:
// agentapi.ErrRefused.
func (t *session) fresh(a asked) error {
	late := time.Since(t.opened) - time.Duration(a.at-t.said)
	if late.Abs() > freshFor {
		return fmt.Errorf("%w: the request is %v late, want at most %v", agentapi.ErrRefused, late.Round(time.Second), freshFor)
	}
	return nil
}
