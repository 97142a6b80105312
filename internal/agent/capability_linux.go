package agent

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/host/apply"
	"github.com/linerate/linerate/internal/kernel/sys"
)

const capNetRaw = 13

// kernelCapabilities are the numbers of those that matter (linux/capability.h).
var kernelCapabilities = [...]struct {
	bit  uint
	name agentapi.Capability
}{
	{12, agentapi.CanNetAdmin}, {capNetRaw, agentapi.CanNetRaw}, {19, agentapi.CanPtrace}, {21, agentapi.CanSysAdmin},
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
		if set&(1<<capNetRaw) != 0 || pingGroup() {
			out = append(out, agentapi.CanEcho)
		}
		return nil
	})
	if makeable(cmp.Or(a.cfg.LockDir, apply.LockDir)) {
		out = append(out, agentapi.CanLock)
	}
	if makeable(cmp.Or(a.cfg.JournalDir, apply.DefaultDir)) {
		out = append(out, agentapi.CanJournal)
	}
	return out
}

// pingGroup reports whether one of the process's groups may send ICMP echoes without
// privilege (net.ipv4.ping_group_range, ping(7)). It is read and not tried out: whoever
// watches a host is promised that no socket but netlink's is opened.
func pingGroup() bool {
	text, err := os.ReadFile("/proc/sys/net/ipv4/ping_group_range")
	if err != nil {
		return false
	}
	var low, high uint32
	if _, err := fmt.Sscan(string(text), &low, &high); err != nil {
		return false
	}
	groups, _ := os.Getgroups() // without them its own counts
	return slices.ContainsFunc(append(groups, os.Getegid()), func(g int) bool { return uint32(g) >= low && uint32(g) <= high })
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
