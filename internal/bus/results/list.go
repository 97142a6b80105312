package results

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/linerate/linerate/internal/bus"
	"github.com/linerate/linerate/internal/bus/link"
	"github.com/linerate/linerate/record"
)

// Kept is one run on NATS.
type Kept struct{ User, Name string }

// String is the run as USER/NAME.
func (k Kept) String() string { return k.User + "/" + k.Name }

// ParseKept reads USER/NAME, or NAME, which is of the user asking. Errors:
// bus.ErrName.
func ParseKept(text, asking string) (Kept, error) {
	k := Kept{User: asking, Name: text}
	if user, name, ok := strings.Cut(text, "/"); ok {
		k = Kept{user, name}
	}
	return k, errors.Join(bus.CheckName("user", k.User), bus.CheckName("run", k.Name))
}

// List are the runs of all users that are kept, in order.
func List(ctx context.Context, conn *link.Conn) ([]Kept, error) {
	js, err := jetstream.New(conn.Conn)
	if err != nil {
		return nil, err
	}
	kv, err := js.KeyValue(ctx, bus.RunsBucket)
	if err != nil {
		return nil, fmt.Errorf("list runs: %w", err)
	}
	keys, err := kv.ListKeysFiltered(ctx, "*.*.head")
	if err != nil {
		return nil, fmt.Errorf("list runs: %w", err)
	}
	defer func() { _ = keys.Stop() }() // it has stopped, at its end
	var out []Kept
	for key := range keys.Keys() {
		if words := strings.Split(key, "."); len(words) == 3 {
			out = append(out, Kept{words[0], words[1]})
		}
	}
	slices.SortFunc(out, func(a, b Kept) int { return strings.Compare(a.String(), b.String()) })
	return out, ctx.Err()
}

// Of reads a run of anybody's, as far as it is kept. Errors: fs.ErrNotExist,
// bus.ErrName.
func Of(ctx context.Context, conn *link.Conn, k Kept) (record.Record, error) {
	r, err := Keeper(conn, k.Name, nil)
	if err != nil {
		return record.Record{}, err
	}
	r.user = k.User
	return r.Read(ctx)
}
