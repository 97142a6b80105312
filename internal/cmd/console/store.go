package console

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/linerate/linerate/internal/store"
	"github.com/linerate/linerate/record"
)

// EnvStore names the store for every command.
const EnvStore = "LINERATE_STORE"

// Words for a store, besides a file or a URL.
const (
	storeNone    = "none"
	storeDefault = "default"
)

// storePlace is the place that a word means; "" is none.
func (con *Console) storePlace(word string) (string, error) {
	switch word {
	case "", storeNone:
		return "", nil
	case storeDefault:
		return store.DefaultPlace(con.Getenv, os.Geteuid() == 0)
	}
	return word, nil
}

// OpenStore opens the store that a command asks about: that of --store, of
// LINERATE_STORE, or the user's own.
func (con *Console) OpenStore(ctx context.Context, flag string, create bool) (*store.Store, error) {
	word := flag
	if word == "" {
		word = cmp.Or(con.Getenv(EnvStore), storeDefault)
	}
	place, err := con.storePlace(word)
	if err == nil && place == "" {
		return nil, BadUsage("the store is "+storeNone+": there is no history", "name one with --store FILE, --store postgres://..., or "+EnvStore)
	}
	if err != nil {
		return nil, err
	}
	s, err := store.Open(ctx, store.Config{Place: place, Create: create, Logger: con.Logger()})
	return s, StoreHint(err)
}

// StoreHint adds to a store's error what to do about it.
func StoreHint(err error) error {
	switch {
	case errors.Is(err, store.ErrNone):
		return WithHint(err, "`linerate history add RECORD...` makes one; `linerate measure ... --store default` keeps each run")
	case errors.Is(err, store.ErrNewer):
		return WithHint(err, "`linerate version` says which one this is")
	case errors.Is(err, store.ErrNoRun):
		return WithHint(err, "`linerate history` lists the runs")
	case errors.Is(err, store.ErrURL):
		return WithHint(err, "such as postgres://user@host/database; a password may be in ~/.pgpass")
	case errors.Is(err, store.ErrUnreachable):
		return WithHint(err, "check that the database runs, and who may enter")
	case errors.Is(err, fs.ErrPermission):
		return WithHint(err, "check who may read and write the store")
	case errors.Is(err, store.ErrFull):
		return WithHint(err, "make room there, or name a store elsewhere: --store FILE")
	}
	return err
}

// Keeper keeps the record of a run that was measured. Whatever becomes of the
// store, the measurement is none the worse.
type Keeper struct {
	con   *Console
	place string // "" nothing is kept
	word  string
}

// keeping is how long a run waits at its end for a store.
const keeping = 20 * time.Second

// AddStoreFlag adds --store of a command that measures.
func AddStoreFlag(c *cobra.Command, word *string) {
	c.Flags().StringVar(word, "store", "", "keep the record in this store too: a file, postgres://...,\ndefault or none (default: $"+EnvStore+", else none)")
}

// Keeper is where the word of --store, or the environment's, keeps records. It
// says at once when nothing can be kept there.
func (con *Console) Keeper(ctx context.Context, word string) Keeper {
	k := Keeper{con: con, word: cmp.Or(word, con.Getenv(EnvStore))}
	var err error
	if k.place, err = con.storePlace(k.word); err == nil && k.place != "" {
		var s *store.Store
		if s, err = store.Open(ctx, store.Config{Place: k.place, Create: true, Logger: con.Logger()}); err == nil {
			err = s.Close()
		}
	}
	if err != nil && ctx.Err() == nil {
		k.warn("what is measured cannot be kept as it stands", err)
	}
	return k
}

// Keep keeps a record, also after an interrupt.
func (k Keeper) Keep(ctx context.Context, r record.Record) {
	if k.place == "" || len(r.Trials) == 0 {
		return
	}
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), keeping)
	defer stop()
	added, err := k.add(ctx, r)
	if err != nil {
		k.warn("the record is not in the store", err)
		return
	}
	if !k.con.Quiet {
		fmt.Fprint(k.con.Stderr, Wrapped("", "kept: "+added.Run+" in "+store.Shown(k.place), k.con.Width()))
	}
}

// KeepFile keeps the record that a run writes to a file, perhaps in a lab's
// kernel, which sees no store. A record that was there before is not its own.
func (k Keeper) KeepFile(ctx context.Context, file string, run func() error) error {
	if k.place == "" {
		return run()
	}
	old, oldErr := ReadRecord(ctx, file)
	err := run()
	r, unread := ReadRecord(context.WithoutCancel(ctx), file) // also of a run that was interrupted
	if unread == nil && (oldErr != nil || r.ID != old.ID || !r.Started.Equal(old.Started)) {
		k.Keep(ctx, r)
	}
	return err
}

func (k Keeper) add(ctx context.Context, r record.Record) (store.Added, error) {
	s, err := store.Open(ctx, store.Config{Place: k.place, Create: true, Logger: k.con.Logger()})
	if err != nil {
		return store.Added{}, err
	}
	text, err := JSONText(r)
	if err != nil {
		return store.Added{}, errors.Join(err, s.Close())
	}
	added, err := s.Add(ctx, r, text)
	return added, errors.Join(err, s.Close())
}

func (k Keeper) warn(what string, err error) {
	fmt.Fprintf(k.con.Stderr, "warning: %s: %s\n", what, OneLine(err.Error()))
}
