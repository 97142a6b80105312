// Package observe turns one host, as its kernel shows it now or as a captured
// tree of /proc and /sys kept it, into a netstate.Host. It changes nothing
// and judges nothing; what it cannot read is unknown and said so. Don't believe
// an entry of sysfs, or a claim of a dead program, that is not the link's own.
//
// A capture is a host as a file for somebody else: the state as it was read,
// which is all that `inspect --root` judges, and the files it came from as
// evidence. Don't put a file into it that may hold a secret, and don't believe a
// length, a name or a character of one that comes back.
package observe

import (
	"context"
	"log/slog"

	"github.com/linerate/linerate/netstate"
)

// Config says what to observe. The zero Config is the network namespace of
// the calling thread.
type Config struct {
	// Logger hears of what could not be read; nil is silence.
	Logger *slog.Logger
	// Root is a directory that holds a captured proc and sys, or the archive
	// that Capture made; "" is the live host. Of an archive that holds the host
	// as it was read nothing else is looked at.
	Root string
	// Sysctls are keys to read of a live host besides those that are always
	// read.
	Sysctls []string
}

// Observe reads a host. What one part lacks is a line in Host.Missing; only a
// host whose links cannot be read at all is an error. Reading needs no
// privilege, but without CAP_NET_ADMIN the LACP partner of a bond's ports is
// unknown. It works on the calling goroutine's thread and so in its network
// namespace. Outside Linux a live host has links and addresses only. A captured
// tree is read on every system; errors: fs.ErrNotExist, ErrArchive.
func Observe(ctx context.Context, cfg Config) (netstate.Host, error) {
	if cfg.Root == "" {
		return observeLive(ctx, cfg)
	}
	return observeRoot(ctx, cfg.Root)
}

func (c Config) logger() *slog.Logger {
	if c.Logger == nil {
		return slog.New(slog.DiscardHandler)
	}
	return c.Logger
}
