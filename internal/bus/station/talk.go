package station

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/linerate/linerate/internal/agent"
	"github.com/linerate/linerate/internal/agentapi"
	"github.com/linerate/linerate/internal/bus"
)

// errForeign is a conversation that somebody else leads.
var errForeign = fmt.Errorf("somebody else leads it (%w)", fs.ErrPermission)

// talk is one controller's conversation with the host: an agent of its own, as
// a connection over a pipe has. A call is answered once however often the bus
// brings it, and an answer is kept until the controller says that it has it.
type talk struct {
	s        *station
	id, user string
	agent    *agent.Agent
	ctx      context.Context // of its calls
	cancel   context.CancelFunc
	running  sync.WaitGroup

	mu    sync.Mutex
	over  bool
	heard time.Time
	parts map[uint64]*bus.Whole
	calls map[uint64]*called
	under int // calls that run
	// answered: the controller has the replies of all calls up to this one but
	// those in lost, which never came here.
	answered uint64
	lost     map[uint64]bool
	// temporary are journal entries that end with the conversation.
	temporary []string
}

// called is a call that runs, or whose reply the controller may not have.
type called struct {
	cancel context.CancelFunc
	to     string // where the reply goes
	reply  []byte // nil while it runs
}

func newTalk(s *station, id, user string) *talk {
	t := &talk{
		s: s, id: id, user: user, agent: agent.New(s.cfg.Agent), heard: time.Now(),
		parts: make(map[uint64]*bus.Whole), calls: make(map[uint64]*called), lost: make(map[uint64]bool),
	}
	t.ctx, t.cancel = context.WithCancel(context.Background())
	return t
}

// silent is how long nothing was heard.
func (t *talk) silent() time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	return time.Since(t.heard)
}

// take takes one message of the conversation.
func (t *talk) take(method agentapi.Method, m *nats.Msg) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.heard = time.Now()
	if method == bus.Close {
		go t.leave(m.Reply)
		return nil
	}
	if t.over {
		return agentapi.ErrGone
	}
	n, err := strconv.ParseUint(m.Header.Get(bus.HeaderCall), 10, 64)
	if err != nil || n == 0 {
		return fmt.Errorf("%w: its headers do not number the call", bus.ErrParts)
	}
	if c := t.calls[n]; c != nil {
		c.to = m.Reply
		if c.reply != nil {
			t.s.reply(c.to, c.reply)
		}
		return nil
	}
	if n <= t.answered && !t.lost[n] {
		return nil // late: the bus brought it twice
	}
	whole, err := t.collect(n, m)
	if err != nil || whole == nil {
		return err
	}
	switch method {
	case bus.Beat:
		return t.beat(whole, m.Reply)
	case bus.Cancel:
		return t.giveUp(whole)
	}
	if t.under >= mostRunning {
		return fmt.Errorf("%w: %d requests of %s are under way", agentapi.ErrBusy, t.under, t.user)
	}
	t.begin(n, method, whole, m.Reply)
	return nil
}

// collect puts the parts of a request together; nil while some are missing.
func (t *talk) collect(n uint64, m *nats.Msg) ([]byte, error) {
	p, err := bus.ParsePart(m.Header.Get, m.Data, bus.MostRequest)
	if err != nil {
		return nil, err
	}
	w := t.parts[n]
	if w == nil {
		w = &bus.Whole{}
		t.parts[n] = w
	}
	before := w.Held()
	if !t.s.hold(len(p.Body)) {
		return nil, fmt.Errorf("%w: too many requests in parts", agentapi.ErrBusy)
	}
	whole, done, err := w.Add(p)
	t.s.hold(w.Held() - before - len(p.Body)) // a part that was there already counts once
	if err != nil || done {
		t.s.hold(-w.Held())
		delete(t.parts, n)
	}
	if done && whole == nil {
		whole = []byte{}
	}
	return whole, err
}

// begin runs a call; t.mu is held.
func (t *talk) begin(n uint64, method agentapi.Method, params json.RawMessage, to string) {
	ctx, cancel := context.WithCancel(t.ctx)
	c := &called{cancel: cancel, to: to}
	t.calls[n] = c
	delete(t.lost, n)
	t.under++
	t.running.Go(func() {
		defer cancel()
		ended := t.s.cfg.Meter.begun(method)
		reply, err := t.call(ctx, method, params)
		ended(err)
		t.mu.Lock()
		defer t.mu.Unlock()
		t.under--
		if t.over && !bus.Changes(method) {
			reply = encode(nil, agentapi.ErrGone) // it was not the controller who stopped it
		}
		c.reply = reply
		t.s.reply(c.to, reply)
	})
}

// call does what is asked; a change is written down before and after.
func (t *talk) call(ctx context.Context, method agentapi.Method, params json.RawMessage) ([]byte, error) {
	if !bus.Changes(method) {
		result, err := t.agent.Dispatch(ctx, method, params)
		return encode(result, err), err
	}
	e := entry{User: t.user, Conversation: t.id, Method: method}.asking(params)
	if err := t.s.audit.write(e.begun()); err != nil {
		t.s.log.Error("a change was refused: the audit log cannot be written", "user", t.user, "error", err)
		err = fmt.Errorf("%w: the audit log of %s cannot be written: %w", fs.ErrPermission, t.s.cfg.Host, err)
		return encode(nil, err), err
	}
	result, err := t.agent.Dispatch(ctx, method, params)
	end := e.ended(result, err)
	t.s.cfg.Meter.changed(method, end.Result)
	if err := t.s.audit.write(end); err != nil {
		t.s.log.Error("the end of a change is not in the audit log", "user", t.user, "error", err)
	}
	t.note(method, params, result, err)
	return encode(result, err), err
}

// note remembers changes that end with the conversation.
func (t *talk) note(method agentapi.Method, params, result json.RawMessage, err error) {
	var req agentapi.ApplyRequest
	var reply agentapi.ApplyReply
	if method != agentapi.MethodApply || err != nil || json.Unmarshal(params, &req) != nil || json.Unmarshal(result, &reply) != nil {
		return
	}
	if req.Temporary && reply.Journal != "" && reply.RolledBack == "" {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.temporary = append(t.temporary, reply.Journal)
	}
}

// beat settles with the controller which calls have come and which replies.
func (t *talk) beat(body []byte, reply string) error {
	var req bus.BeatRequest
	if err := json.Unmarshal(body, &req); err != nil {
		return fmt.Errorf("%w: %w", bus.ErrParts, err)
	}
	if len(req.Waiting) > mostRunning+1 {
		req.Waiting = req.Waiting[:mostRunning+1]
	}
	var answer bus.BeatReply
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
			delete(t.calls, n)
		}
	}
	for n := range t.lost {
		if !slices.Contains(req.Waiting, n) {
			delete(t.lost, n)
		}
	}
	t.answered = max(t.answered, req.Last)
	t.s.reply(reply, encode(answer, nil))
	return nil
}

func (t *talk) giveUp(body []byte) error {
	var req bus.CancelRequest
	if err := json.Unmarshal(body, &req); err != nil {
		return fmt.Errorf("%w: %w", bus.ErrParts, err)
	}
	if c := t.calls[req.Call]; c != nil {
		c.cancel()
	}
	return nil
}

// leave ends the conversation and then says so.
func (t *talk) leave(reply string) {
	t.s.mu.Lock()
	ended := t.s.drop(t)
	t.s.mu.Unlock()
	<-ended
	t.s.log.Info("a controller left", "user", t.user, "conversation", t.id)
	t.s.reply(reply, encode(struct{}{}, nil))
}

// end tells calls under way, ends traffic, lets go of the host, and takes back
// what was to last no longer.
func (t *talk) end() {
	t.mu.Lock()
	t.over = true
	for _, w := range t.parts {
		t.s.hold(-w.Held())
	}
	t.parts = nil
	t.mu.Unlock()
	t.cancel()
	t.agent.Close()
	t.running.Wait()
	for _, id := range slices.Backward(t.temporary) {
		t.takeBack(id)
	}
}

func (t *talk) takeBack(id string) {
	params, err := json.Marshal(agentapi.RollbackRequest{Journal: id})
	if err != nil {
		return // never: it is a string
	}
	e := entry{User: t.user, Conversation: t.id, Method: agentapi.MethodRollback, Why: "the conversation ended"}.asking(params)
	// Back is the safe side: it goes there whether it can be written or not.
	failed := t.s.audit.write(e.begun())
	result, err := t.agent.Dispatch(context.Background(), agentapi.MethodRollback, params)
	end := e.ended(result, err)
	t.s.cfg.Meter.changed(e.Method, end.Result)
	failed = errors.Join(failed, t.s.audit.write(end))
	if failed != nil {
		t.s.log.Error("the audit log cannot be written", "error", failed)
	}
	if err != nil && !errors.Is(err, agentapi.ErrState) && !errors.Is(err, fs.ErrNotExist) {
		t.s.log.Error("a temporary change was not taken back", "journal", id, "error", err)
	}
}

// encode is a reply as it travels.
func encode(result any, err error) []byte {
	reply := agentapi.Reply{Error: agentapi.WireError(err)}
	if err == nil {
		reply.Result, err = json.Marshal(result)
	}
	body, failed := json.Marshal(reply)
	if err != nil && reply.Error == nil || failed != nil || len(body) > bus.MostReply {
		body, _ = json.Marshal(agentapi.Reply{Error: &agentapi.Error{Code: agentapi.CodeFailed, Text: "the reply cannot be sent: too long, or no JSON"}}) // strings alone
	}
	return body
}
