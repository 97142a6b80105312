package cli

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/agent/fleet"
	"github.com/linerate/linerate/unit"
)

// waitFlag is --wait: how long to wait for hosts that another run holds.
// Without the flag nobody waits, without a duration it is as long as it takes.
type waitFlag struct{ d time.Duration }

// forEver is --wait without a duration.
const forEver = "ever"

func (w *waitFlag) String() string {
	switch {
	case w.d < 0:
		return forEver
	case w.d == 0:
		return ""
	}
	return w.d.String()
}

// Set reads a duration, or "ever".
func (w *waitFlag) Set(s string) error {
	if s == forEver {
		w.d = -1
		return nil
	}
	d, err := unit.ParseDuration(s)
	if err == nil && d <= 0 {
		err = usage("want more than 0, such as 5m", "")
	}
	w.d = d
	return err
}

// Type names the flag's value in help.
func (w *waitFlag) Type() string { return "duration" }

func (w *waitFlag) add(c *cobra.Command) {
	c.Flags().Var(w, "wait", "wait for hosts that another run holds, --wait=5m that long")
	c.Flags().Lookup("wait").NoOptDefVal = forEver
}

// holding is how a command holds its hosts; words are the command as the user
// gave it, for whoever has to wait.
func (a *App) holding(p *progress, wait waitFlag, words ...string) *fleet.Holding {
	var id [8]byte
	_, _ = rand.Read(id[:]) // never fails, by its documentation
	return &fleet.Holding{
		Holder: agentapi.Holder{
			Run: hex.EncodeToString(id[:]), User: a.user(), Host: thisHost(), PID: os.Getpid(), What: strings.Join(words, " "),
		},
		Wait: wait.d,
		Tell: func(busy error) { p.say("        waiting: %s", oneLine(busy.Error())) },
		Note: func(host, note string) { p.say("        %s: %s", host, oneLine(note)) },
	}
}

// user is the name of whoever runs this.
func (a *App) user() string {
	for _, key := range []string{"SUDO_USER", "USER", "LOGNAME"} {
		if name := a.Getenv(key); name != "" {
			return name
		}
	}
	if os.Getuid() == 0 {
		return "root"
	}
	return ""
}

// heldHint is what to do about hosts that another run holds; "" for any other
// error.
func heldHint(err error) string {
	if errors.Is(err, agentapi.ErrBusy) {
		return "--wait waits until it is done, --wait=5m that long"
	}
	return ""
}
