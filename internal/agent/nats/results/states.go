package results

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/linerate/linerate/internal/agent/nats/claim"
	"github.com/linerate/linerate/internal/agent/nats/link"
	"github.com/linerate/linerate/internal/agent/nats/wire"
)

// States are the hosts on NATS by what their agents last said of them, without
// asking one: by name. A host whose agent has gone is there with what it said
// last (State.Written). What is not signed by the host is not believed: refused
// names such a host and why.
func States(ctx context.Context, conn *link.Conn) (states map[string]wire.State, refused map[string]error, err error) {
	trust := claim.NewTrust(conn.Who.Authority, time.Now)
	states, refused = make(map[string]wire.State), make(map[string]error)
	for after := ""; ; {
		p, body, err := asker{conn}.ask(ctx, wire.StoreStates, wire.StoreParams{After: after}, nil)
		if err != nil {
			return nil, nil, fmt.Errorf("read the hosts' states: %w", err)
		}
		var page map[string]json.RawMessage
		if err := json.Unmarshal(body, &page); err != nil {
			return nil, nil, fmt.Errorf("read the hosts' states: %w: %w", wire.ErrParts, err)
		}
		if len(page) == 0 {
			return states, refused, nil
		}
		for host, text := range page {
			state, err := trust.State(host, text)
			if err != nil {
				refused[host] = err
				continue
			}
			states[host] = state
		}
		if p.After <= after {
			return nil, nil, fmt.Errorf("read the hosts' states: %w: the order is not ascending", wire.ErrParts)
		}
		after = p.After
	}
}
