package agent

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/linerate/linerate/internal/agentapi"
	"github.com/linerate/linerate/internal/apply"
	"github.com/linerate/linerate/internal/kernel/sys"
	"github.com/linerate/linerate/internal/ping"
)

// kernelCapabilities are the numbers of those that matter (linux/capability.h).
var kernelCapabilities = [...]struct {
	bit  uint
	name agentapi.Capability
}{
	{12, agentapi.CanNetAdmin}, {13, agentapi.CanNetRaw}, {19, agentapi.CanPtrace}, {21, agentapi.CanSysAdmin},
}

// capabilities is what this process can do here, as the kernel answers.
func (a *Agent) capabilities() agentapi.Capabilities {
	out := agentapi.Capabilities{}
	if os.Geteuid() == 0 {
		out = append(out, agentapi.CanRoot)
	}
	set := effective()
	for _, c := range kernelCapabilities {
		if set&(1<<c.bit) != 0 {
			out = append(out, c.name)
		}
	}
	_ = a.cfg.Namespace.Do(func() error { // a namespace that is gone can do nothing
		if ping.Able() {
			out = append(out, agentapi.CanEcho)
		}
		return nil
	})
	if makeable(orElse(a.cfg.HoldDir, apply.HoldDir)) {
		out = append(out, agentapi.CanHold)
	}
	if makeable(orElse(a.cfg.JournalDir, apply.DefaultDir)) {
		out = append(out, agentapi.CanJournal)
	}
	return out
}

// effective is the process's effective set; empty where it cannot be read.
func effective() uint64 {
	b, err := os.ReadFile("/proc/thread-self/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(b)) {
		if hex, ok := strings.CutPrefix(line, "CapEff:"); ok {
			set, _ := strconv.ParseUint(strings.TrimSpace(hex), 16, 64)
			return set
		}
	}
	return 0
}

// makeable reports whether a directory can be written to, or made.
func makeable(dir string) bool {
	for {
		if _, err := os.Stat(dir); err == nil {
			return sys.Writable(dir)
		}
		up := filepath.Dir(dir)
		if up == dir {
			return false
		}
		dir = up
	}
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}
