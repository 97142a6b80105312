package socket

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/linerate/linerate/internal/agent/agentapi"
)

// ended are the sessions that a table ended by itself.
type ended struct {
	mu    sync.Mutex
	names []string
}

func (e *ended) add(name string, _ int, late bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if late {
		name += " late"
	}
	e.names = append(e.names, name)
}

func (e *ended) sorted() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	slices.Sort(e.names)
	return slices.Clone(e.names)
}

func TestTable(t *testing.T) {
	var gone ended
	table := NewTable(2, gone.add)
	for _, c := range []struct {
		name string
		want error
	}{{"", ErrName}, {"a", nil}, {"a", ErrName}, {"b", nil}, {"c", agentapi.ErrBusy}} {
		if err := table.Add(c.name, 1, time.Hour); !errors.Is(err, c.want) {
			t.Errorf("add %q: %v, want %v", c.name, err, c.want)
		}
	}
	if err := table.Set("a", 7); err != nil {
		t.Error(err)
	}
	if got, err := table.Get("a"); got != 7 || err != nil {
		t.Errorf("a is %d, %v", got, err)
	}
	if got, err := table.Remove("a"); got != 7 || err != nil {
		t.Errorf("a was %d, %v", got, err)
	}
	_, get := table.Get("a")
	_, remove := table.Remove("a")
	for _, err := range []error{get, remove, table.Set("a", 1)} {
		if !errors.Is(err, ErrSession) {
			t.Errorf("of none: %v", err)
		}
	}
	if got := table.All(); !slices.Equal(got, []int{1}) {
		t.Errorf("open: %v", got)
	}
	table.Close()
	if err := table.Add("d", 1, time.Hour); !errors.Is(err, ErrClosed) || !errors.Is(err, context.Canceled) {
		t.Errorf("after Close: %v", err)
	}
	if got := gone.sorted(); !slices.Equal(got, []string{"b"}) || len(table.All()) > 0 {
		t.Errorf("ended %v, open %v", got, table.All())
	}
}

// A session ends with its lifetime, and one that was removed does not end again.
func TestTableLifetime(t *testing.T) {
	var gone ended
	table := NewTable(9, gone.add)
	for _, name := range []string{"short", "removed"} {
		if err := table.Add(name, 1, 50*time.Millisecond); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := table.Remove("removed"); err != nil {
		t.Fatal(err)
	}
	for until := time.Now().Add(10 * time.Second); len(gone.sorted()) == 0 && time.Now().Before(until); {
		time.Sleep(10 * time.Millisecond)
	}
	table.Close()
	if got := gone.sorted(); !slices.Equal(got, []string{"short late"}) {
		t.Errorf("ended %v", got)
	}
}
