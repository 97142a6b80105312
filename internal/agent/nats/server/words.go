//go:build !aix

package server

import (
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"github.com/linerate/linerate/internal/agent/nats/link"
)

// words is nats-server's log in ours.
type words struct {
	log  *slog.Logger
	rare *link.LimitedLog // of what clients do: each of them can do it as often as they like

	mu   sync.Mutex
	last error
}

func (w *words) Noticef(format string, v ...any) { w.log.Info("nats: " + fmt.Sprintf(format, v...)) }
func (w *words) Warnf(format string, v ...any)   { w.rare.Warn("nats: " + fmt.Sprintf(format, v...)) }
func (w *words) Debugf(format string, v ...any)  { w.log.Debug("nats: " + fmt.Sprintf(format, v...)) }
func (w *words) Tracef(format string, v ...any)  { w.log.Debug("nats: " + fmt.Sprintf(format, v...)) }

// Errorf logs what clients did wrong too: a connection that was refused is
// there.
func (w *words) Errorf(format string, v ...any) { w.rare.Warn("nats: " + fmt.Sprintf(format, v...)) }

// Fatalf is what nats-server says before it gives up; it ends nothing here.
func (w *words) Fatalf(format string, v ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	text := fmt.Sprintf(format, v...)
	w.last = errors.New(text)
	w.log.Error("nats: " + text)
}

// worst is the last thing that it gave up for; nil is none.
func (w *words) worst() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.last
}
