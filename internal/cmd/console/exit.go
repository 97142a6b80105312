package console

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"unicode/utf8"

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
	"github.com/linerate/linerate/internal/userfile"
	"github.com/linerate/linerate/record"
)

// Exit status, as the contract fixes it.
const (
	ExitDone        = 0
	ExitFailed      = 1
	ExitUsage       = 2
	ExitUnreachable = 3
	ExitRolledBack  = 4
	ExitInterrupted = 130
)

// hinted is an error with a hint for the person who sees it.
type hinted struct {
	err  error
	hint string
}

func (h *hinted) Error() string { return h.err.Error() }

func (h *hinted) Unwrap() error { return h.err }

// WithHint is an error with what to do about it; no hint leaves it as it is.
func WithHint(err error, hint string) error {
	if err == nil || hint == "" {
		return err
	}
	return &hinted{err, hint}
}

// ErrUsage marks bad usage or bad input.
var ErrUsage = errors.New("bad usage")

// UsageError is bad usage or bad input: ErrUsage.
type UsageError struct{ What string }

func (u *UsageError) Error() string { return u.What }

func (u *UsageError) Is(target error) bool { return target == ErrUsage }

// BadUsage is what was asked for wrongly, and how to ask for it; "" is no hint.
func BadUsage(what, hint string) error { return WithHint(&UsageError{what}, hint) }

// StatusError carries an exit status that has been explained already, such as
// a lab guest's.
type StatusError int

func (s StatusError) Error() string { return fmt.Sprintf("exit status %d", int(s)) }

// Status is the one place that turns errors into exit status.
func Status(err error) int {
	var guestStatus StatusError
	var problems yamldoc.Problems
	switch {
	case err == nil:
		return ExitDone
	case errors.As(err, &guestStatus):
		return int(guestStatus)
	case errors.Is(err, context.Canceled):
		return ExitInterrupted
	case errors.Is(err, ErrUsage), errors.As(err, &problems), errors.Is(err, fleet.ErrReach), errors.Is(err, wire.ErrName),
		errors.Is(err, store.ErrNone), errors.Is(err, store.ErrNotStore), errors.Is(err, store.ErrNewer), errors.Is(err, store.ErrNoRun), errors.Is(err, store.ErrURL):
		return ExitUsage
	case errors.Is(err, change.ErrUnknown):
		return ExitFailed
	case errors.Is(err, campaign.ErrRolledBack), errors.Is(err, change.ErrRolledBack):
		return ExitRolledBack
	case errors.Is(err, fleet.ErrUnreachable), errors.Is(err, fs.ErrPermission), errors.Is(err, link.ErrUnreachable), errors.Is(err, link.ErrCreds), errors.Is(err, authority.ErrToken), errors.Is(err, authority.ErrServed), errors.Is(err, agentapi.ErrBusy), errors.Is(err, apply.ErrPending),
		errors.Is(err, guest.ErrNoKernel), errors.Is(err, guest.ErrNoEmulator), errors.Is(err, lab.ErrNoBackEnd), errors.Is(err, apply.ErrLocked), errors.Is(err, lab.ErrBusy),
		errors.Is(err, lab.ErrStands), errors.Is(err, lab.ErrUnstable), errors.Is(err, store.ErrUnreachable), errors.Is(err, store.ErrBusy):
		return ExitUnreachable
	}
	return ExitFailed
}

// Fail prints an error the way the contract says and returns its status.
func (con *Console) Fail(err error) int {
	code := Status(err)
	var silent StatusError
	if err == nil || errors.As(err, &silent) {
		return code
	}
	if code == ExitInterrupted {
		con.complain(complaint, "interrupted")
		if what := besidesInterrupt(err); what != "" {
			con.complain(complaint, what)
			con.complain(advice, "`linerate journal` on the host lists its changes, `linerate rollback` rolls one back")
		}
		return code
	}
	var problems yamldoc.Problems
	if errors.As(err, &problems) {
		con.printProblems(problems)
		return code
	}
	con.complain(complaint, err.Error())
	if hint := HintFor(err); hint != "" {
		con.complain(advice, hint)
	}
	return code
}

// complain prints a line of an error. On a terminal it is broken between words, and
// between commands; into a file or a pipe it is one line, for programs to find.
func (con *Console) complain(lead, text string) {
	line := OneLine(text)
	if con.Terminal && utf8.RuneCountInString(lead+line) > con.Width() {
		fmt.Fprint(con.Stderr, Wrapped(lead, line, con.Width()))
		return
	}
	fmt.Fprintln(con.Stderr, lead+line)
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
			parts = append(parts, OneLine(err.Error()))
		}
	}
	walk(err)
	return strings.Join(parts, "; ")
}

// mostProblems is how many problems of one file are printed: the first ones
// are usually the cause of the rest.
const mostProblems = 10

func (con *Console) printProblems(problems yamldoc.Problems) {
	for i, p := range problems {
		if i == mostProblems {
			con.complain(complaint, fmt.Sprintf("%d more problems", len(problems)-i))
			return
		}
		con.complain(complaint, p.Error())
		if p.Hint != "" {
			con.complain(advice, p.Hint)
		}
	}
}

// OneLine folds an error of several (errors.Join) into one line.
func OneLine(s string) string {
	parts := strings.FieldsFunc(s, func(r rune) bool { return r == '\n' || r == '\r' })
	return plaintext.Line(strings.Join(parts, "; "))
}

// HintFor is what to do about an error; "" where nobody knows.
func HintFor(err error) string {
	var h *hinted
	var at *fs.PathError
	switch {
	case errors.As(err, &h):
		return h.hint
	case errors.Is(err, guest.ErrNoKernel), errors.Is(err, lab.ErrNoBackEnd):
		return "install the lab kernel: apt-get install user-mode-linux"
	case errors.Is(err, guest.ErrNoEmulator):
		return "`make deps-qemu` in a checkout brings the emulator and kernels"
	case SSHHint(anyone, err) != "":
		return SSHHint(anyone, err)
	case errors.Is(err, authority.ErrToken):
		return "`linerate serve token` makes another; each is good once and for a short while"
	case errors.Is(err, link.ErrCreds):
		return "`linerate enroll TOKEN` makes credentials, `linerate serve token` the token"
	case errors.Is(err, link.ErrUntrusted):
		return "is it the right address? where `linerate serve` was set up anew, `linerate serve token` makes a token for it"
	case errors.Is(err, authority.ErrShared):
		return "it holds the keys that sign: see who could read them, then `chmod 700` it"
	case errors.Is(err, campaign.ErrTooShort):
		return "a steady rate takes about a second: allow more with --max-bytes or --max-seconds, or lower the rate with --rate-limit"
	case roleHint(err) != "":
		return roleHint(err)
	case writeHint(err) != "":
		return writeHint(err)
	case errors.Is(err, syscall.ENOSPC) && errors.As(err, &at) && at.Path == os.Stdout.Name():
		return lostOutput
	case errors.Is(err, syscall.ENOSPC):
		return "make room there, or name another place: --journal DIR is that of a host's journal"
	case errors.Is(err, fs.ErrPermission):
		return "it takes root, or CAP_NET_ADMIN and CAP_SYS_ADMIN: on this host by sudo, on one reached by ssh with --become sudo"
	case errors.Is(err, fleet.ErrUnreachable):
		return "check hosts.NAME.reach in the fabric, and that the host answers"
	}
	return ""
}

// lostOutput is what to do where standard output goes to a disk that is full.
const lostOutput = "make room where it goes to, or send it elsewhere: it is not whole"

// writeHint is what to do about a file that a user named and that cannot be written:
// no matter for root, as most directories are another's for a reason; "" for any other
// error.
func writeHint(err error) string {
	var file *userfile.WriteError
	if !errors.As(err, &file) {
		return ""
	}
	dir := filepath.Dir(file.Path)
	if dir == "." {
		dir = "this directory"
	}
	switch {
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return "you may not write in " + dir + ": name a file or directory elsewhere, such as in your home or /tmp"
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return "make room in " + dir + ", or name a file elsewhere"
	}
	return ""
}

// PrintDocument writes a JSON document as it is, but for characters that a
// terminal would obey: they are escaped.
func (con *Console) PrintDocument(text []byte) error {
	_, err := con.Stdout.Write(plaintext.JSON(text))
	return err
}

// LastLine keeps the complaint of a program that is run in a lab's kernel, of which
// this one sees nothing but its status.
type LastLine struct{ Text string }

func (l *LastLine) Write(p []byte) (int, error) {
	for line := range strings.Lines(string(p)) {
		if why, is := strings.CutPrefix(line, complaint); is {
			l.Text = strings.TrimSpace(why)
		}
	}
	return len(p), nil
}

// How the lines of an error begin.
const (
	complaint = "linerate: "
	advice    = "hint: "
)

func (l *LastLine) Of(err error) error {
	if l.Text == "" {
		return err
	}
	return fmt.Errorf("%w: %s", err, l.Text)
}

// Failures is an error when some pairs were not measured; fleet.ErrUnreachable where
// none was, as nothing could be reached or permitted it.
func Failures(r record.Record) error {
	if len(r.Failures) == 0 {
		return nil
	}
	f := r.Failures[0]
	var err error = &failuresError{
		what:   fmt.Sprintf("measure %s to %s: %s (%d of %d trials failed)", f.From, f.To, f.Error, len(r.Failures), len(r.Failures)+len(r.Trials)),
		denied: len(r.Trials) == 0 && !slices.ContainsFunc(r.Failures, func(f record.Failure) bool { return !campaign.Denied(f) }),
	}
	return WithHint(err, BarredHint(f.Reason))
}

// failuresError is trials that failed.
type failuresError struct {
	what   string
	denied bool // nothing was measured: every one was unreachable or not permitted
}

func (e *failuresError) Error() string { return e.what }

func (e *failuresError) Is(target error) bool { return e.denied && target == fleet.ErrUnreachable }

// BarredHint is what to look at when a connection was not made, by the reason of a
// record's failure; "" for any other.
func BarredHint(reason string) string {
	switch agentapi.Code(reason) {
	case agentapi.CodeRefused:
		return "the receiver's host answered with a reset: it, or a firewall in its name, rejects the port; --ports 5201-5216 uses ports that are open"
	case agentapi.CodeSilent:
		return "a firewall that drops looks like this: open ports to the receiver and name them with --ports 5201-5216"
	case agentapi.CodeBlocked:
		return "a router or firewall rejects it (ICMP), a route is missing or prohibited, or nobody has the address: `ip route get` on the sender, `ip neighbour`"
	case agentapi.CodePortTaken:
		return "other programs hold the ports: `ss -ltn` on the receiver names them; give a longer range to --ports"
	}
	return ""
}

// What the bus and its agents say where a role does not allow something
// (package wire, and fleet over NATS). Over the wire an error is its text.
var (
	lacksRole  = regexp.MustCompile(`(\S+) needs the role (watch|measure|change)`)
	servesMost = regexp.MustCompile(`this agent serves (watch|measure|change) and no more`)
)

// roleHint is what to do about a role that somebody lacks on the bus, where being
// root is of no use; "" for any other error.
func roleHint(err error) string {
	if !errors.Is(err, fs.ErrPermission) {
		return ""
	}
	text := err.Error()
	if m := servesMost.FindStringSubmatch(text); m != nil {
		return "the host itself limits what it is asked: `linerate agent --most " + m[1] + "` runs there"
	}
	m := lacksRole.FindStringSubmatch(text)
	if m == nil {
		return ""
	}
	return "where `linerate serve` runs, `linerate serve token --role " + m[2] + " --user " + m[1] + " --replace` gives the role; `linerate enroll --replace -` reads the token here"
}
