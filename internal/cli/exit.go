package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"

	"github.com/linerate/linerate/fabric/yamldoc"
	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/agent/fleet"
	"github.com/linerate/linerate/internal/agent/nats/authority"
	"github.com/linerate/linerate/internal/agent/nats/link"
	"github.com/linerate/linerate/internal/agent/nats/wire"
	"github.com/linerate/linerate/internal/host/apply"
	"github.com/linerate/linerate/internal/lab"
	"github.com/linerate/linerate/internal/lab/guest"
	"github.com/linerate/linerate/internal/plaintext"
	"github.com/linerate/linerate/internal/run/campaign"
	"github.com/linerate/linerate/internal/run/change"
	"github.com/linerate/linerate/internal/store"
)

// Exit status, as the contract fixes it.
const (
	exitDone        = 0
	exitFailed      = 1
	exitUsage       = 2
	exitUnreachable = 3
	exitRolledBack  = 4
	exitInterrupted = 130
)

// exitHelp is the last paragraph of every command's help.
const exitHelp = `Exit status: 0 done, 1 the job failed, 2 bad usage or input, 3 unreachable or
not permitted, 4 a change was rolled back, 130 interrupted.`

// hinted is an error with a hint for the person who sees it.
type hinted struct {
	err  error
	hint string
}

func (h *hinted) Error() string { return h.err.Error() }
func (h *hinted) Unwrap() error { return h.err }

func withHint(err error, hint string) error {
	if err == nil || hint == "" {
		return err
	}
	return &hinted{err, hint}
}

// errUsage marks bad usage or bad input.
var errUsage = errors.New("bad usage")

type usageError struct{ what string }

func (u *usageError) Error() string        { return u.what }
func (u *usageError) Is(target error) bool { return target == errUsage }

func usage(what, hint string) error { return withHint(&usageError{what}, hint) }

// statusError carries an exit status that has been explained already, such as
// a lab guest's.
type statusError int

func (s statusError) Error() string { return fmt.Sprintf("exit status %d", int(s)) }

// status is the one place that turns errors into exit status.
func status(err error) int {
	var guestStatus statusError
	var problems yamldoc.Problems
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &guestStatus):
		return int(guestStatus)
	case errors.Is(err, context.Canceled):
		return exitInterrupted
	case errors.Is(err, errUsage), errors.As(err, &problems), errors.Is(err, fleet.ErrReach), errors.Is(err, wire.ErrName),
		errors.Is(err, store.ErrNone), errors.Is(err, store.ErrNotStore), errors.Is(err, store.ErrNewer), errors.Is(err, store.ErrNoRun), errors.Is(err, store.ErrURL):
		return exitUsage
	case errors.Is(err, change.ErrUnknown):
		return exitFailed
	case errors.Is(err, campaign.ErrRolledBack), errors.Is(err, change.ErrRolledBack):
		return exitRolledBack
	case errors.Is(err, fleet.ErrUnreachable), errors.Is(err, fs.ErrPermission), errors.Is(err, link.ErrUnreachable), errors.Is(err, link.ErrCreds), errors.Is(err, authority.ErrToken), errors.Is(err, authority.ErrServed), errors.Is(err, agentapi.ErrBusy), errors.Is(err, apply.ErrPending),
		errors.Is(err, guest.ErrNoKernel), errors.Is(err, guest.ErrNoEmulator), errors.Is(err, lab.ErrNoBackEnd), errors.Is(err, apply.ErrLocked), errors.Is(err, lab.ErrBusy),
		errors.Is(err, lab.ErrStands), errors.Is(err, lab.ErrUnstable), errors.Is(err, store.ErrUnreachable), errors.Is(err, store.ErrBusy):
		return exitUnreachable
	}
	return exitFailed
}

// fail prints an error the way the contract says and returns its status.
func (a *App) fail(err error) int {
	code := status(err)
	var silent statusError
	if err == nil || errors.As(err, &silent) {
		return code
	}
	if code == exitInterrupted {
		fmt.Fprintln(a.Stderr, "linerate: interrupted")
		if what := besidesInterrupt(err); what != "" {
			fmt.Fprintln(a.Stderr, "linerate: "+what)
			fmt.Fprintln(a.Stderr, "hint: `linerate journal` on the host lists its changes, `linerate rollback` takes one back")
		}
		return code
	}
	var problems yamldoc.Problems
	if errors.As(err, &problems) {
		a.printProblems(problems)
		return code
	}
	fmt.Fprintln(a.Stderr, "linerate: "+oneLine(err.Error()))
	if hint := hintFor(err); hint != "" {
		fmt.Fprintln(a.Stderr, "hint: "+oneLine(hint))
	}
	return code
}

// besidesInterrupt is what went wrong in an interrupted run besides the
// interrupt: a host that could not be put back must be named.
func besidesInterrupt(err error) string {
	var parts []string
	var walk func(error)
	walk = func(err error) {
		if several, ok := err.(interface{ Unwrap() []error }); ok {
			for _, e := range several.Unwrap() {
				walk(e)
			}
			return
		}
		if err != nil && !errors.Is(err, context.Canceled) {
			parts = append(parts, oneLine(err.Error()))
		}
	}
	walk(err)
	return strings.Join(parts, "; ")
}

// mostProblems is how many problems of one file are printed: the first ones
// are usually the cause of the rest.
const mostProblems = 10

func (a *App) printProblems(problems yamldoc.Problems) {
	for i, p := range problems {
		if i == mostProblems {
			fmt.Fprintf(a.Stderr, "linerate: %d more problems\n", len(problems)-i)
			return
		}
		fmt.Fprintln(a.Stderr, "linerate: "+oneLine(p.Error()))
		if p.Hint != "" {
			fmt.Fprintln(a.Stderr, "hint: "+oneLine(p.Hint))
		}
	}
}

// oneLine folds an error of several (errors.Join) into one line.
func oneLine(s string) string {
	parts := strings.FieldsFunc(s, func(r rune) bool { return r == '\n' || r == '\r' })
	return plaintext.Line(strings.Join(parts, "; "))
}

func hintFor(err error) string {
	var h *hinted
	switch {
	case errors.As(err, &h):
		return h.hint
	case errors.Is(err, guest.ErrNoKernel), errors.Is(err, lab.ErrNoBackEnd):
		return "install the lab kernel: apt-get install user-mode-linux"
	case errors.Is(err, guest.ErrNoEmulator):
		return "`make deps-qemu` in a checkout brings the emulator and kernels"
	case sshHint(anyone, err) != "":
		return sshHint(anyone, err)
	case errors.Is(err, authority.ErrToken):
		return "`linerate serve token` makes another; each is good once and for a short while"
	case errors.Is(err, link.ErrCreds):
		return "`linerate enroll TOKEN` makes credentials, `linerate serve token` the token"
	case errors.Is(err, link.ErrForeign):
		return "is it the right address? where `linerate serve` was set up anew, `linerate serve token` makes a token for it"
	case errors.Is(err, authority.ErrShared):
		return "it holds the keys that sign: see who could read them, then `chmod 700` it"
	case errors.Is(err, campaign.ErrTooShort):
		return "a steady rate takes about a second: allow more with --max-bytes or --max-seconds, or hold the rate down with --rate-limit"
	case roleHint(err) != "":
		return roleHint(err)
	case errors.Is(err, syscall.ENOSPC):
		return "make room there, or name another place: --journal DIR is that of a host's journal"
	case errors.Is(err, fs.ErrPermission):
		return "it takes root, or CAP_NET_ADMIN and CAP_SYS_ADMIN: on this host by sudo, on one reached by ssh with --become sudo"
	case errors.Is(err, fleet.ErrUnreachable):
		return "check hosts.NAME.reach in the fabric, and that the host answers"
	}
	return ""
}

// printJSON writes the JSON document of a command.
func (a *App) printJSON(v any) error {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Errorf("encode JSON: %w", err)
	}
	return a.printDocument(append(b, '\n'))
}

// printDocument writes a JSON document as it is, but for characters that a
// terminal would obey: they are escaped.
func (a *App) printDocument(text []byte) error {
	_, err := a.Stdout.Write(plaintext.JSON(text))
	return err
}
