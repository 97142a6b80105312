package results

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/agent/nats/link"
	"github.com/linerate/linerate/internal/agent/nats/wire"
)

// asker asks the run store.
type asker struct{ conn *link.Conn }

// ask sends one signed request and waits for its answer, or for ctx. Errors:
// agentapi.Error's, fs.ErrPermission where the server lets this user not ask.
func (a asker) ask(ctx context.Context, m wire.StoreMethod, p wire.StoreParams, body []byte) (wire.StoreParams, []byte, error) {
	var out wire.StoreParams
	if need := wire.StoreNeeds(m); !a.conn.Who.Role.Includes(need) {
		return out, nil, wire.CheckStore(a.conn.Who.Name, m, a.conn.Who.Name, a.conn.Who.Role)
	}
	signer, err := a.conn.Signer()
	if err != nil {
		return out, nil, err
	}
	var nonce [16]byte
	_, _ = rand.Read(nonce[:]) // never fails, by its documentation
	p.Nonce = hex.EncodeToString(nonce[:])
	params, err := json.Marshal(p)
	if err != nil {
		return out, nil, err
	}
	said := wire.Signed{Kind: wire.KindStore, Subject: wire.Store(a.conn.Who.Name, m), Params: string(params)}.At(a.conn.Now()).OfBody(body)
	headers := map[string]string{wire.HeaderParams: string(params)}
	if err := link.Sign(headers, signer, said, true); err != nil {
		return out, nil, err
	}
	reply, err := a.conn.RequestMsgWithContext(ctx, link.Message(said.Subject, headers, body))
	if err != nil {
		return out, nil, fmt.Errorf("ask the run store for %s: %w", m, err)
	}
	if text := reply.Header.Get(wire.HeaderError); text != "" {
		failure := &agentapi.Error{Code: agentapi.CodeFailed, Text: text}
		_ = json.Unmarshal([]byte(text), failure) // or its words as they are
		return out, nil, failure
	}
	if err := json.Unmarshal([]byte(reply.Header.Get(wire.HeaderParams)), &out); err != nil {
		return out, nil, fmt.Errorf("ask the run store for %s: %w: %w", m, wire.ErrParts, err)
	}
	return out, reply.Data, nil
}

// passing reports an error that may be over in a moment: a cluster one of whose
// servers just died answers nobody until it has chosen another leader.
func passing(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, nats.ErrTimeout) || errors.Is(err, nats.ErrNoResponders) || errors.Is(err, agentapi.ErrBusy)
}
