package natsagent

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/linerate/linerate/internal/agent"
	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/agent/nats/claim"
	"github.com/linerate/linerate/internal/agent/nats/wire"
)

// errUntrusted is a conversation that somebody else leads.
var errUntrusted = fmt.Errorf("somebody else leads it (%w)", fs.ErrPermission)

// talk is one controller's conversation with the host: an agent of its own, as
// a connection over a pipe has. A call is answered once however often the bus
// brings it, and an answer is kept until the controller says that it has it.
type session struct {
	s         *natsAgent
	id        string
	who       claim.Identity
	challenge string
	opened    time.Time // here
	said      int64     // in nanoseconds, by the clock of who opened it
	agent     *agent.Agent
	ctx       context.Context // of its calls
	cancel    context.CancelFunc
	running   sync.WaitGroup
	heard     atomic.Int64 // nanoseconds after it was opened

	mu    sync.Mutex
	over  bool
	parts map[uint64]*wire.Assembly
	calls map[uint64]*called
	under int // calls that run
	// answered: the controller has the replies of all calls up to this one but
	// those in lost, which never came here.
	answered uint64
	lost     map[uint64]bool
	// temporary are journal entries that end with the conversation, unless somebody
	// confirms them.
	temporary []string
}

// called is a call that runs, or whose reply the controller may not have.
type called struct {
	cancel context.CancelFunc
	reply  []byte // nil while it runs
}

func newSession(s *natsAgent, a asked, who claim.Identity) *session {
	var challenge [16]byte
	_, _ = rand.Read(challenge[:]) // never fails, by its documentation
	now := time.Now()
	t := &session{
		s: s, id: a.session, who: who, challenge: hex.EncodeToString(challenge[:]), opened: now, said: a.at, agent: agent.New(s.cfg.Agent),
		parts: make(map[uint64]*wire.Assembly), calls: make(map[uint64]*called), lost: make(map[uint64]bool),
	}
	t.ctx, t.cancel = context.WithCancel(context.Background())
	return t
}

// answer says the reply to a call to whoever leads the conversation.
func (t *session) answer(call uint64, reply []byte) {
	t.s.reply(t.who.Name, t.id, t.challenge, call, reply)
}

// silent is how long nothing was heard. It waits for nobody: not for an answer
// that is being sent.
func (t *session) silent() time.Duration { return time.Since(t.opened) - time.Duration(t.heard.Load()) }

// take takes one message of the conversation, which is believed.
func (t *session) take(a asked) error {
	t.heard.Store(int64(time.Since(t.opened)))
	t.mu.Lock()
	defer t.mu.Unlock()
	n := a.call
	if a.method == wire.Close {
		go t.leave(n)
		return nil
	}
	if t.over {
		return agentapi.ErrGone
	}
	if c := t.calls[n]; c != nil {
		if c.reply != nil {
			t.answer(n, c.reply)
		}
		return nil
	}
	if n <= t.answered && !t.lost[n] {
		return nil // late: the bus brought it twice
	}
	whole, err := t.collect(a)
	if err != nil || whole == nil {
		return err
	}
	switch a.method {
	case wire.Beat:
		return t.beat(whole, n)
	case wire.Cancel:
		return t.giveUp(whole)
	}
	if t.under >= mostRunning || len(t.calls) >= mostCalls || !t.s.running.take(t.who, 1) {
		return fmt.Errorf("%w: %d requests of %s are under way, %d replies were not fetched", agentapi.ErrBusy, t.under, t.who.Name, len(t.calls)-t.under)
	}
	t.begin(a, whole)
	return nil
}

// collect puts the parts of a request together; nil while some are missing.
// What it keeps is accounted for, the places of parts that are to come too.
func (t *session) collect(a asked) ([]byte, error) {
	w := t.parts[a.call]
	if w == nil {
		if len(t.parts) >= mostRunning {
			return nil, fmt.Errorf("%w: %d requests of %s are not whole", agentapi.ErrBusy, len(t.parts), t.who.Name)
		}
		w = &wire.Assembly{}
	}
	before, cost := w.Buffered(), w.Cost(a.part)
	if !t.s.held.take(t.who, cost) {
		return nil, fmt.Errorf("%w: too many requests in parts", agentapi.ErrBusy)
	}
	t.parts[a.call] = w
	whole, done, err := w.Add(a.part)
	t.s.held.owe(t.who, w.Buffered()-before-cost) // nothing, as it was asked what it costs
	if err != nil || done {
		t.s.held.owe(t.who, -w.Buffered())
		delete(t.parts, a.call)
	}
	if done && whole == nil {
		whole = []byte{}
	}
	return whole, err
}

// begin runs a call; t.mu is held.
func (t *session) begin(a asked, params json.RawMessage) {
	n := a.call
	ctx, cancel := context.WithCancel(t.ctx)
	c := &called{cancel: cancel}
	t.calls[n] = c
	delete(t.lost, n)
	t.under++
	t.running.Go(func() {
		defer cancel()
		ended := t.s.cfg.Meter.begun(a.method.Name)
		reply, err := t.call(ctx, a, params)
		ended(err)
		t.mu.Lock()
		defer t.mu.Unlock()
		t.under--
		t.s.running.owe(t.who, -1)
		if t.over && !a.method.Audited {
			reply = encode(nil, agentapi.ErrGone) // it was not the controller who stopped it
		}
		// What became of a change is always told; it is short.
		if !t.s.kept.take(t.who, len(reply)) {
			if !a.method.Audited {
				reply = encode(nil, fmt.Errorf("%w: too many replies were not fetched", agentapi.ErrBusy))
			}
			t.s.kept.owe(t.who, len(reply)) // a few words: the number of calls bounds them
		}
		c.reply = reply
		t.answer(n, reply)
	})
}

// forget lets go of a call whose reply the controller has; t.mu is held.
func (t *session) forget(n uint64, c *called) {
	t.s.kept.owe(t.who, -len(c.reply))
	delete(t.calls, n)
}

// call does what is asked; a change is written down before and after.
func (t *session) call(ctx context.Context, a asked, params json.RawMessage) ([]byte, error) {
	method := a.method.Name
	if !a.method.Audited {
		result, err := t.agent.Dispatch(ctx, method, params)
		return encode(result, err), err
	}
	e := entry{User: t.who.Name, Key: t.who.Key, Conversation: t.id, Method: method}.asking(params)
	e.Signed, e.Signature = a.said(t.challenge).JSON(), a.m.Header.Get(wire.HeaderSignature)
	if err := t.s.audit.write(e.begun()); err != nil {
		t.s.log.Error("a change was refused: the audit log cannot be written", "user", t.who.Name, "error", err)
		err = fmt.Errorf("%w: the audit log of %s cannot be written: %w", fs.ErrPermission, t.s.cfg.Host, err)
		return encode(nil, err), err
	}
	result, err := t.agent.Dispatch(ctx, method, params)
	end := e.ended(result, err)
	t.s.cfg.Meter.changed(method, end.Result)
	if err := t.s.audit.write(end); err != nil {
		t.s.log.Error("the end of a change is not in the audit log", "user", t.who.Name, "error", err)
	}
	t.note(method, params, result, err)
	return encode(result, err), err
}

// note remembers changes that end with the conversation.
func (t *session) note(method agentapi.MethodName, params, result json.RawMessage, err error) {
	var kept agentapi.ConfirmRequest
	if method == agentapi.Confirm.Name && err == nil && json.Unmarshal(params, &kept) == nil && !kept.Check {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.temporary = slices.DeleteFunc(t.temporary, func(id string) bool { return id == kept.Journal })
		return
	}
	var req agentapi.ApplyRequest
	var reply agentapi.ApplyReply
	if method != agentapi.Apply.Name || err != nil || json.Unmarshal(params, &req) != nil || json.Unmarshal(result, &reply) != nil {
		return
	}
	if req.Temporary && reply.Journal != "" && reply.RolledBack == "" {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.temporary = append(t.temporary, reply.Journal)
	}
}

// beat settles with the controller which calls have come and which replies.
func (t *session) beat(body []byte, call uint64) error {
	var req wire.HeartbeatRequest
	if err := json.Unmarshal(body, &req); err != nil {
		return fmt.Errorf("%w: %w", wire.ErrParts, err)
	}
	if len(req.Waiting) > mostRunning+1 {
		req.Waiting = req.Waiting[:mostRunning+1]
	}
	var answer wire.HeartbeatReply
	for _, n := range req.Waiting {
		c := t.calls[n]
		if c == nil {
			t.lost[n] = true
		}
		if c == nil || c.reply != nil {
			answer.Again = append(answer.Again, n)
		}
	}
	for n, c := range t.calls {
		if n > req.Last || slices.Contains(req.Waiting, n) {
			continue
		}
		c.cancel() // nobody waits for it
		if c.reply != nil {
			t.forget(n, c)
		}
	}
	for n := range t.lost {
		if !slices.Contains(req.Waiting, n) {
			delete(t.lost, n)
		}
	}
	t.answered = max(t.answered, req.Last)
	t.answer(call, encode(answer, nil))
	return nil
}

func (t *session) giveUp(body []byte) error {
	var req wire.CancelRequest
	if err := json.Unmarshal(body, &req); err != nil {
		return fmt.Errorf("%w: %w", wire.ErrParts, err)
	}
	if c := t.calls[req.Call]; c != nil {
		c.cancel()
	}
	return nil
}

// leave ends the conversation and then says so.
func (t *session) leave(call uint64) {
	t.s.mu.Lock()
	ended := t.s.drop(t)
	t.s.mu.Unlock()
	<-ended
	t.s.log.Info("a controller left", "user", t.who.Name, "conversation", t.id)
	t.answer(call, encode(struct{}{}, nil))
}

// end tells calls under way, ends traffic, lets go of the host, and takes back
// what was to last no longer.
func (t *session) end() {
	t.mu.Lock()
	t.over = true
	for _, w := range t.parts {
		t.s.held.owe(t.who, -w.Buffered())
	}
	t.parts = nil
	t.mu.Unlock()
	t.cancel()
	t.agent.Close()
	t.running.Wait()
	t.mu.Lock()
	for n, c := range t.calls {
		t.forget(n, c)
	}
	t.mu.Unlock()
	for _, id := range slices.Backward(t.temporary) {
		t.takeBack(id)
	}
}

func (t *session) takeBack(id string) {
	params, err := json.Marshal(agentapi.RollbackRequest{Journal: id, Unconfirmed: true})
	if err != nil {
		return // never: it is a string
	}
	e := entry{User: t.who.Name, Conversation: t.id, Method: agentapi.Rollback.Name, Why: "the conversation ended"}.asking(params)
	// Back is the safe side: it goes there whether it can be written or not.
	failed := t.s.audit.write(e.begun())
	result, err := t.agent.Dispatch(context.Background(), agentapi.Rollback.Name, params)
	end := e.ended(result, err)
	t.s.cfg.Meter.changed(e.Method, end.Result)
	failed = errors.Join(failed, t.s.audit.write(end))
	if failed != nil {
		t.s.log.Error("the audit log cannot be written", "error", failed)
	}
	if err != nil && !errors.Is(err, agentapi.ErrState) && !errors.Is(err, fs.ErrNotExist) {
		t.s.log.Error("a temporary change was not rolled back", "journal", id, "error", err)
	}
}

// encode is a reply as it travels.
func encode(result any, err error) []byte {
	reply := agentapi.Reply{Error: agentapi.WireError(err)}
	if err == nil {
		reply.Result, err = json.Marshal(result)
	}
	body, failed := json.Marshal(reply)
	if err != nil && reply.Error == nil || failed != nil || len(body) > wire.MostReply {
		body, _ = json.Marshal(agentapi.Reply{Error: &agentapi.Error{Code: agentapi.CodeFailed, Text: "the reply cannot be sent: too long, or no JSON"}}) // strings alone
	}
	return body
}
