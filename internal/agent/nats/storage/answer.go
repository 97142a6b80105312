package storage

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/nats-io/nats.go"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/agent/nats/claim"
	"github.com/linerate/linerate/internal/agent/nats/wire"
)

// answer is what a request is answered.
type answer struct {
	params wire.StoreParams
	body   []byte
}

// asked takes one request of a user.
func (s *Storage) asked(m *nats.Msg) {
	user, method, err := wire.ParseStore(m.Subject)
	if err != nil || !strings.HasPrefix(m.Reply, wire.StoreInbox(user)+".") {
		return // an answer goes to the inbox of who asks, and nowhere else
	}
	refuse := func(err error) { s.send(m.Reply, answer{}, err) }
	params, err := s.verify(m, user, method)
	if err != nil {
		s.rare.Warn("a request to the run store was refused", "user", user, "method", method, "error", err)
		refuse(err)
		return
	}
	if !s.begin("user "+user, func(ctx context.Context) {
		a, err := s.do(ctx, user, method, params, m.Data)
		s.send(m.Reply, a, err)
	}) {
		refuse(fmt.Errorf("%w: the run store has too much to do", agentapi.ErrBusy))
	}
}

// verify reads a request, and who signed it.
func (s *Storage) verify(m *nats.Msg, user string, method wire.StoreMethod) (wire.StoreParams, error) {
	var p wire.StoreParams
	id, err := s.cfg.Trust.Believe(m.Header.Get(wire.HeaderClaim))
	if err != nil {
		return p, err
	}
	if err := wire.CheckStore(user, method, id.Name, id.Role); err != nil {
		return p, err
	}
	text := m.Header.Get(wire.HeaderParams)
	at, err := strconv.ParseInt(m.Header.Get(wire.HeaderTime), 10, 64)
	if err != nil {
		return p, fmt.Errorf("%w: without a time", claim.ErrSignature)
	}
	said := wire.Signed{Kind: wire.KindStore, Subject: m.Subject, Params: text, Time: at}.OfBody(m.Data)
	if err := id.Verify(said.Text(), m.Header.Get(wire.HeaderSignature)); err != nil {
		return p, err
	}
	if err := json.Unmarshal([]byte(text), &p); err != nil {
		return p, fmt.Errorf("%w: %w", wire.ErrParts, err)
	}
	if method == wire.StorePut {
		p.User = user // nobody writes to another's run
	}
	return p, p.Check(method, m.Data)
}

func (s *Storage) do(ctx context.Context, user string, method wire.StoreMethod, p wire.StoreParams, body []byte) (answer, error) {
	switch method {
	case wire.StoreStates:
		return s.pageOfStates(p.After)
	case wire.StoreRuns:
		return s.pageOfRuns(ctx, p.After)
	case wire.StoreGet:
		return s.get(ctx, p)
	case wire.StoreTrials:
		return s.nextTrial(ctx, p)
	case wire.StorePut:
		return answer{}, s.put(ctx, p, body)
	}
	return answer{}, fmt.Errorf("%s of %s: %w", method, user, wire.ErrName) // never: CheckStore
}

// send answers in one message.
func (s *Storage) send(to string, a answer, err error) {
	m := nats.NewMsg(to)
	m.Data = a.body
	m.Header.Set(wire.HeaderParams, string(jsonOf(a.params)))
	if failure := agentapi.WireError(err); failure != nil {
		failure.Text = cut(failure.Text)
		m.Header.Set(wire.HeaderError, string(jsonOf(failure)))
	}
	s.publish(m)
}

// cut bounds the words of an error: they travel in a header.
func cut(text string) string { return strings.ToValidUTF8(text[:min(len(text), 1000)], "") }

// page is how many bytes of a list are answered at once.
const page = 512 << 10

// pageOfStates are states by name, as they are kept, with how old they are.
func (s *Storage) pageOfStates(after string) (answer, error) {
	s.mu.Lock()
	kept := maps.Clone(s.states)
	s.mu.Unlock()
	out, size := make(map[string]json.RawMessage), 0
	a := answer{}
	for _, host := range slices.Sorted(maps.Keys(kept)) {
		if host <= after {
			continue
		}
		if size += len(kept[host].text) + len(host); size > page && len(out) > 0 {
			break
		}
		out[host], a.params.After = kept[host].aged(), host
	}
	a.body = jsonOf(out)
	return a, nil
}

// told takes what a host says of itself.
func (s *Storage) told(m *nats.Msg) {
	host, err := wire.HostOf(m.Subject)
	if err != nil || !strings.HasPrefix(m.Reply, wire.AgentInbox(host)+".") {
		return
	}
	reply := func(r wire.StateReply) {
		out := nats.NewMsg(m.Reply)
		out.Data = jsonOf(r)
		s.publish(out)
	}
	state, err := s.verifyState(m, host)
	if err != nil {
		s.rare.Warn("a host's state was refused", "host", host, "error", err)
		reply(wire.StateReply{Error: cut(err.Error())})
		return
	}
	if !s.begin("host "+host, func(ctx context.Context) {
		var p wire.StateParams
		_ = json.Unmarshal([]byte(m.Header.Get(wire.HeaderParams)), &p) // zero knows no list
		var r wire.StateReply
		if _, err := s.kv.Put(ctx, host, state); err != nil {
			r.Error = cut(err.Error())
		}
		s.mu.Lock()
		if s.cfg.Trust.Known() > p.Revoked {
			r.Revoked = s.revoked
		}
		s.mu.Unlock()
		reply(r)
	}) {
		reply(wire.StateReply{Error: "the run store has too much to do"})
	}
}

// mostAround is what is kept beside a state: its claim and signature.
const mostAround = 16 << 10

// verifyState reads a host's state, and that the host signed it.
func (s *Storage) verifyState(m *nats.Msg, host string) ([]byte, error) {
	if len(m.Data) > wire.MostState {
		return nil, fmt.Errorf("%w: a state of %d bytes, want at most %d", wire.ErrParts, len(m.Data), wire.MostState)
	}
	at, err := strconv.ParseInt(m.Header.Get(wire.HeaderTime), 10, 64)
	if err != nil {
		return nil, fmt.Errorf("%w: without a time", claim.ErrSignature)
	}
	if !json.Valid(m.Data) {
		return nil, fmt.Errorf("%w: no JSON", wire.ErrParts)
	}
	id, err := s.cfg.Trust.Believe(m.Header.Get(wire.HeaderClaim))
	if err != nil {
		return nil, err
	}
	state := jsonOf(wire.SignedState{Claim: m.Header.Get(wire.HeaderClaim), Time: at, Signature: m.Header.Get(wire.HeaderSignature), State: m.Data})
	if len(state) > wire.MostState+mostAround { // JSON may have more bytes than what it was made of
		return nil, fmt.Errorf("%w: a state of %d bytes as it is kept, want at most %d", wire.ErrParts, len(state), wire.MostState)
	}
	if id.Role != agentapi.RoleAgent || id.Name != host {
		return nil, fmt.Errorf("%w: of %s, a %s", claim.ErrClaim, id.Name, id.Role)
	}
	_, err = s.cfg.Trust.State(host, state)
	return state, err
}

// aged is what is kept with how old it is; what is no state stays what it is.
func (t told) aged() []byte {
	var signed wire.SignedState
	if json.Unmarshal(t.text, &signed) != nil {
		return t.text
	}
	signed.Quiet = t.quiet()
	return jsonOf(signed)
}
