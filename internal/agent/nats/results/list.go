package results

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/linerate/linerate/internal/agent/nats/link"
	"github.com/linerate/linerate/internal/agent/nats/wire"
	"github.com/linerate/linerate/record"
)

// Kept is one run on NATS.
type Kept struct{ User, Name string }

// String is the run as USER/NAME.
func (k Kept) String() string { return k.User + "/" + k.Name }

// ParseKept reads USER/NAME, or NAME, which is of the user asking. Errors:
// wire.ErrName.
func ParseKept(text, asking string) (Kept, error) {
	k := Kept{User: asking, Name: text}
	if user, name, ok := strings.Cut(text, "/"); ok {
		k = Kept{user, name}
	}
	return k, errors.Join(wire.CheckName("user", k.User), wire.CheckName("run", k.Name))
}

// List are the runs of all users that are kept, in order.
func List(ctx context.Context, conn *link.Conn) ([]Kept, error) {
	var out []Kept
	for after := ""; ; {
		p, body, err := asker{conn}.ask(ctx, wire.StoreRuns, wire.StoreParams{After: after}, nil)
		if err != nil {
			return nil, fmt.Errorf("list runs: %w", err)
		}
		var page []string
		if err := json.Unmarshal(body, &page); err != nil {
			return nil, fmt.Errorf("list runs: %w: %w", wire.ErrParts, err)
		}
		if len(page) == 0 {
			return out, nil
		}
		for _, text := range page {
			k, err := ParseKept(text, "")
			if err != nil {
				return nil, fmt.Errorf("list runs: %w", err)
			}
			out = append(out, k)
		}
		if p.After <= after {
			return nil, fmt.Errorf("list runs: %w: the order is not ascending", wire.ErrParts)
		}
		after = p.After
	}
}

// Of reads a run of anybody's, as far as it is kept. Errors: fs.ErrNotExist,
// wire.ErrName.
func Of(ctx context.Context, conn *link.Conn, k Kept) (record.Record, error) {
	r, err := Keeper(conn, k.Name, nil)
	if err != nil {
		return record.Record{}, err
	}
	r.user = k.User
	return r.Read(ctx)
}
