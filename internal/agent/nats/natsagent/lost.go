package natsagent

import (
	"os"
	"strconv"
	"strings"
)

// The kernel's numbers of capabilities (linux/capability.h).
const (
	capNetAdmin = 12
	capNetRaw   = 13
	capSysAdmin = 21
)

// Lost says what an agent cannot do here for want of privilege, in words; nil
// where nothing is, or on another system than Linux.
func Lost() []string {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return nil
	}
	return lostBy(string(status), os.Geteuid())
}

// lostBy is Lost by a process's status as /proc has it.
func lostBy(status string, uid int) []string {
	var caps uint64
	for line := range strings.Lines(status) {
		if word, ok := strings.CutPrefix(line, "CapEff:"); ok {
			caps, _ = strconv.ParseUint(strings.TrimSpace(word), 16, 64) // none, where the kernel writes something else
		}
	}
	var out []string
	for _, c := range []struct {
		bit  int
		what string
	}{
		{capNetAdmin, "no CAP_NET_ADMIN: no changes to links, bonds, addresses and routes; socket buffers end at net.core.rmem_max and wmem_max; some of what drivers know"},
		{capNetRaw, "no CAP_NET_RAW: no LLDP neighbours, no calibration of a bond's hash; ICMP echoes only where net.ipv4.ping_group_range lets them"},
		{capSysAdmin, "no CAP_SYS_ADMIN: no network namespaces, no core rate over veth"},
	} {
		if caps&(1<<c.bit) == 0 {
			out = append(out, c.what)
		}
	}
	if uid != 0 {
		out = append(out, "not root: no sysctls and no configuration files are written, and nothing of other users' sockets is named")
	}
	return out
}
