package progress

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
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/unit"
)

// WaitFlag is --wait: how long to wait for hosts that another run has locked.
// Without the flag nobody waits, without a duration it is as long as it takes.
type WaitFlag struct{ D time.Duration }

// forEver is --wait without a duration.
const forEver = "ever"

func (w *WaitFlag) String() string {
	switch {
	case w.D < 0:
		return forEver
	case w.D == 0:
		return ""
	}
	return w.D.String()
}

// Set reads a duration, or "ever".
func (w *WaitFlag) Set(s string) error {
	if s == forEver {
		w.D = -1
		return nil
	}
	d, err := unit.ParseDuration(s)
	if err == nil && d <= 0 {
		err = console.BadUsage("want more than 0, such as 5m", "")
	}
	w.D = d
	return err
}

// Type names the flag's value in help.
func (w *WaitFlag) Type() string { return "duration" }

// Add adds the flag.
func (w *WaitFlag) Add(c *cobra.Command) {
	c.Flags().Var(w, "wait", "wait for hosts that another run has locked, --wait=5m that long")
	c.Flags().Lookup("wait").NoOptDefVal = forEver
}

// holding is how a command holds its hosts; words are the command as the user
// gave it, for whoever has to wait.
func Locking(con *console.Console, p *Progress, wait WaitFlag, words ...string) *fleet.Locking {
	var id [8]byte
	_, _ = rand.Read(id[:]) // never fails, by its documentation
	return &fleet.Locking{
		Holder: agentapi.Holder{
			Run: hex.EncodeToString(id[:]), User: user(con), Host: console.ThisHost(), PID: os.Getpid(), What: strings.Join(words, " "),
		},
		Wait: wait.D,
		Tell: func(busy error) { p.Say("        waiting: %s", console.OneLine(busy.Error())) },
		Note: func(host, note string) { p.Say("        %s: %s", host, console.OneLine(note)) },
	}
}

// user is the name of whoever runs this.
func user(con *console.Console) string {
	for _, key := range []string{"SUDO_USER", "USER", "LOGNAME"} {
		if name := con.Getenv(key); name != "" {
			return name
		}
	}
	if os.Getuid() == 0 {
		return "root"
	}
	return ""
}

// InUseHint is what to do about hosts that another run holds; "" for any other
// error.
func InUseHint(err error) string {
	if errors.Is(err, agentapi.ErrBusy) {
		return "--wait waits until it is done, --wait=5m that long"
	}
	return ""
}
