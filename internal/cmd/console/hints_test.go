package console

import (
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/run/campaign"
	"github.com/linerate/linerate/record"
)

// Exit status 3 is nothing reached or permitted; a pair that was measured, or a trial
// that failed for another reason, makes it 1.
func TestStatusOfFailures(t *testing.T) {
	failed := func(reasons ...string) (out []record.Failure) {
		for _, reason := range reasons {
			out = append(out, record.Failure{From: "a", To: "b", Reason: reason, Error: "no"})
		}
		return out
	}
	for _, c := range []struct {
		r    record.Record
		want int
	}{
		{record.Record{}, ExitDone},
		{record.Record{Failures: failed(campaign.Unreachable, string(agentapi.CodeSilent), string(agentapi.CodePermission))}, ExitUnreachable},
		{record.Record{Failures: failed(campaign.Unreachable, "")}, ExitFailed},
		{record.Record{Failures: failed(campaign.Unreachable), Trials: []record.Trial{{}}}, ExitFailed},
	} {
		if got := Status(Failures(c.r)); got != c.want {
			t.Errorf("%+v: status %d, want %d", c.r.Failures, got, c.want)
		}
	}
}

// What a firewall or a route bars has a hint with the flag that helps.
func TestHintsOfWhatIsBarred(t *testing.T) {
	for code, want := range map[agentapi.Code]string{
		agentapi.CodeRefused: "--ports 5201-5216", agentapi.CodeSilent: "open ports to the receiver", agentapi.CodeBlocked: "`ip route get`", agentapi.CodePortTaken: "`ss -ltn`",
	} {
		err := Failures(record.Record{Failures: []record.Failure{{From: "a", To: "b", Reason: string(code), Error: "no"}}})
		if hint := HintFor(err); !strings.Contains(hint, want) {
			t.Errorf("%s: %q", code, hint)
		}
	}
}

// Who lacks a role is told which, and how it is given; being root is of no use.
func TestRoleHint(t *testing.T) {
	err := fmt.Errorf("apply: %w: eve needs the role change (has: measure)", fs.ErrPermission)
	if hint := HintFor(err); !strings.Contains(hint, "serve token --role change --user eve") || strings.Contains(hint, "root") {
		t.Errorf("%q", hint)
	}
}

// Standard output that goes to a full disk is no journal.
func TestFullOutputHint(t *testing.T) {
	for path, want := range map[string]string{os.Stdout.Name(): "send it elsewhere", "/var/lib/linerate/journal/x": "--journal DIR"} {
		err := fmt.Errorf("print: %w", &fs.PathError{Op: "write", Path: path, Err: syscall.ENOSPC})
		if hint := HintFor(err); !strings.Contains(hint, want) {
			t.Errorf("%s: %q", path, hint)
		}
	}
}

// USER@HOST and an address can only be hosts to log in to; a bare name may be more.
func TestBareLogins(t *testing.T) {
	for arg, want := range map[string]string{
		"root@db1": "ssh://root@db1", "root@192.0.2.11": "ssh://root@192.0.2.11", "192.0.2.11": "ssh://192.0.2.11",
		"db1": "", "root@db1:22": "", "@db1": "", "root@": "", "root@root@db1": "", "a@b/c": "",
	} {
		got, err := parseTarget(arg)
		if got.Reach != want || (err == nil) != (want != "") || err != nil && HintFor(err) == "" {
			t.Errorf("%s: %+v, %v", arg, got, err)
		}
	}
}
