// Package observe turns one host, as its kernel shows it now or as a captured
// tree of /proc and /sys kept it, into a netstate.Host. It changes nothing
// and judges nothing; what it cannot read is unknown and said so.
package observe

import (
	"context"
	"fmt"
	"log/slog"
	"os"

	"github.com/linerate/linerate/netstate"
)

// Config says what to observe. The zero Config is the network namespace of
// the calling thread.
type Config struct {
	// Logger hears of what could not be read; nil is silence.
	Logger *slog.Logger
	// Root is a directory that holds a captured proc and sys; "" is the live
	// host.
	Root string
}

// Observe reads a host. What one part lacks is a line in Host.Missing; only a
// host whose links cannot be read at all is an error. Reading needs no
// privilege, but without CAP_NET_ADMIN the LACP partner of a bond's ports is
// unknown. It works on the calling goroutine's thread and so in its network
// namespace. Outside Linux a live host has links and addresses only.
func Observe(ctx context.Context, cfg Config) (netstate.Host, error) {
	if cfg.Root == "" {
		return observeLive(ctx, cfg.logger())
	}
	// Nothing outside the directory is read, whatever its links point to.
	root, err := os.OpenRoot(cfg.Root)
	if err != nil {
		return netstate.Host{}, fmt.Errorf("open captured tree: %w", err)
	}
	defer root.Close()
	return Captured(root.FS())
}

func (c Config) logger() *slog.Logger {
	if c.Logger == nil {
		return slog.New(slog.DiscardHandler)
	}
	return c.Logger
}
