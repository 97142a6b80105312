package cli

import (
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

// envStore names the store for every command.
const envStore = "LINERATE_STORE"

// Words for a store, besides a file or a URL.
const (
	storeNone    = "none"
	storeDefault = "default"
)

// storePlace is the place that a word means; "" is none.
func (a *App) storePlace(word string) (string, error) {
	switch word {
	case "", storeNone:
		return "", nil
	case storeDefault:
		return store.DefaultPlace(a.Getenv, os.Geteuid() == 0)
	}
	return word, nil
}

// openStore opens the store that a command asks about: that of --store, of
// LINERATE_STORE, or the user's own.
func (a *App) openStore(ctx context.Context, flag string, create bool) (*store.Store, error) {
	word := flag
	if word == "" {
		word = orElse(a.Getenv(envStore), storeDefault)
	}
	place, err := a.storePlace(word)
	if err == nil && place == "" {
		return nil, usage("the store is "+storeNone+": there is no history", "name one with --store FILE, --store postgres://..., or "+envStore)
	}
	if err != nil {
		return nil, err
	}
	s, err := store.Open(ctx, store.Config{Place: place, Create: create, Logger: a.logger()})
	return s, storeHint(err)
}

// storeHint adds to a store's error what to do about it.
func storeHint(err error) error {
	switch {
	case errors.Is(err, store.ErrNone):
		return withHint(err, "`linerate history add RECORD...` makes one; `linerate measure ... --store default` keeps each run")
	case errors.Is(err, store.ErrNewer):
		return withHint(err, "`linerate version` says which one this is")
	case errors.Is(err, store.ErrNoRun):
		return withHint(err, "`linerate history` lists the runs")
	case errors.Is(err, store.ErrURL):
		return withHint(err, "such as postgres://user@host/database; a password may be in ~/.pgpass")
	case errors.Is(err, store.ErrUnreachable):
		return withHint(err, "check that the database runs, and who may enter")
	case errors.Is(err, fs.ErrPermission):
		return withHint(err, "check who may read and write the store")
	}
	return err
}

// keeper keeps the record of a run that was measured. Whatever becomes of the
// store, the measurement is none the worse.
type keeper struct {
	app   *App
	place string // "" nothing is kept
	word  string
}

// keeping is how long a run waits at its end for a store.
const keeping = 20 * time.Second

func addStoreFlag(c *cobra.Command, word *string) {
	c.Flags().StringVar(word, "store", "", "keep the record in this store too: a file, postgres://...,\ndefault or none (default: $"+envStore+", else none)")
}

// keeper is where the word of --store, or the environment's, keeps records. It
// says at once when nothing can be kept there.
func (a *App) keeper(ctx context.Context, word string) keeper {
	k := keeper{app: a, word: orElse(word, a.Getenv(envStore))}
	var err error
	if k.place, err = a.storePlace(k.word); err == nil && k.place != "" {
		var s *store.Store
		if s, err = store.Open(ctx, store.Config{Place: k.place, Create: true, Logger: a.logger()}); err == nil {
			err = s.Close()
		}
	}
	if err != nil && ctx.Err() == nil {
		k.warn("what is measured cannot be kept as it stands", err)
	}
	return k
}

// keep keeps a record, also after an interrupt.
func (k keeper) keep(ctx context.Context, r record.Record) {
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
	if !k.app.quiet {
		fmt.Fprint(k.app.Stderr, wrapped("", "kept: "+added.Run+" in "+store.Shown(k.place), k.app.width()))
	}
}

// keepFile keeps the record that a run writes to a file, perhaps in a lab's
// kernel, which sees no store. A record that was there before is not its own.
func (k keeper) keepFile(ctx context.Context, file string, run func() error) error {
	if k.place == "" {
		return run()
	}
	old, oldErr := readRecord(ctx, file)
	err := run()
	r, unread := readRecord(context.WithoutCancel(ctx), file) // also of a run that was interrupted
	if unread == nil && (oldErr != nil || r.ID != old.ID || !r.Started.Equal(old.Started)) {
		k.keep(ctx, r)
	}
	return err
}

func (k keeper) add(ctx context.Context, r record.Record) (store.Added, error) {
	s, err := store.Open(ctx, store.Config{Place: k.place, Create: true, Logger: k.app.logger()})
	if err != nil {
		return store.Added{}, err
	}
	text, err := jsonText(r)
	if err != nil {
		return store.Added{}, errors.Join(err, s.Close())
	}
	added, err := s.Add(ctx, r, text)
	return added, errors.Join(err, s.Close())
}

func (k keeper) warn(what string, err error) {
	fmt.Fprintf(k.app.Stderr, "warning: %s: %s\n", what, oneLine(err.Error()))
}
