package archive

import (
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Member is what a file of an archive is.
type Member struct {
	Root string // the archive's directory that stands for the host; "" the archive itself
	Host string // the host that the path names; "" none
	// Command or Path is what the whole text is. Both are empty where Several or Names
	// says more.
	Command, Path string
	Several       bool // outputs below headings: Parts cuts them
	Names         bool // the text is the host's name
	Log           bool // only its end is of use
	// Slot is what several members are copies of; the one with the lowest Rank is read.
	Slot string
	Rank int
	// Capture is the state in an archive of `inspect --capture`.
	Capture bool
}

// mostName is longer than any path that is read.
const mostName = 1024

// Of says what the member at a path is; false for one that means nothing here.
func Of(name string) (Member, bool) {
	if len(name) > mostName {
		return Member{}, false
	}
	parts := strings.Split(path.Clean(strings.TrimLeft(name, "/")), "/")
	inside := false // a host's tree: what looks like another one in it is a container's or a backup's
	for i, part := range parts {
		if part == "tmp" || ReportOf(part) != "" {
			inside = false
		}
		if m, ok := from(parts[i:]); ok && !inside {
			above := parts[:i]
			if n := len(above); n > 0 && above[n-1] == "artifacts" { // ixdiagnose's
				above = above[:n-1]
			}
			m.Root = strings.Join(above, "/")
			if m.Slot == "" {
				m.Slot = strings.Join(parts[i:], "/")
			}
			return m, true
		}
		inside = inside || trees[part]
	}
	return Member{}, false
}

// from is a member whose host's root is where the parts begin.
func from(parts []string) (Member, bool) {
	last := parts[len(parts)-1]
	switch n := len(parts); {
	case parts[0] == "sos_commands" && n == 3, parts[0] == "insights_commands" && n == 2:
		return ofCommand(unmangled(last))
	case parts[0] == "sos_commands" || parts[0] == "insights_commands":
		return Member{}, false // those of other network namespaces
	case parts[0] == "commands" && n == 2 && strings.HasSuffix(last, ".txt"):
		return ofCommand(ofESXi(strings.TrimSuffix(last, ".txt")))
	case parts[0] == "plugins" && n == 3 && strings.HasSuffix(last, ".txt") && ixPlugins[parts[1]]:
		return Member{Several: true}, true
	case parts[0] == "fndebug" && n == 3 && last == "dump.txt" && parts[1] == "Network":
		return Member{Several: true}, true
	case parts[0] == "linerate" && n == 2 && last == "host.json":
		return Member{Capture: true}, true
	case parts[0] == "cluster-scoped-resources" && n == 4 && parts[2] == "nodenetworkstates" && strings.HasSuffix(last, ".yaml"):
		return Member{Path: "/" + last, Host: hostName(strings.TrimSuffix(last, ".yaml"))}, true
	case parts[0] == "nodes" && n == 3 && (last == "lspci" || last == "dmesg"):
		m, ok := ofCommand(last)
		m.Host = hostName(parts[1])
		m.Slot = path.Join("nodes", parts[1], m.Slot)
		return m, ok
	case n == 1 && (sccFiles[last] || pveReport.MatchString(last)):
		return Member{Several: true}, true
	case parts[0] == "logs" && n == 2 && slices.Contains(kernelLogs, last): // ixdiagnose's
		return ofFile("/var/log/" + last)
	}
	if !trees[parts[0]] {
		return Member{}, false
	}
	return ofFile("/" + strings.Join(parts, "/"))
}

var trees = words("proc sys etc var usr")

var ixPlugins = words("network hardware sysctl cpu system nfs smb iscsi")

// sccFiles are supportconfig's that have outputs which are read.
var sccFiles = words("network.txt basic-environment.txt env.txt hardware.txt boot.txt mpio.txt fs-iscsi.txt nfs.txt samba.txt")

// pveReport is how the web interface of Proxmox names its report, and the command.
var pveReport = regexp.MustCompile(`^(?:[\w-]+-)?pve-?report(?:-[\w-]+)?\.txt$`)

// kernelLogs are below /var/log, those with the least of other programs first.
var kernelLogs = []string{"kern.log", "messages", "syslog"}

// netFiles are below /proc/net.
var netFiles = words("dev softnet_stat netstat snmp")

var (
	procNet  = regexp.MustCompile(`^/proc/(?:(self|thread-self|\d{1,9})/)?net/(?:(bonding)/)?([\w.@:-]+)$`)
	procOwn  = regexp.MustCompile(`^/proc/(?:(self|\d{1,9})/)?(mounts|mountstats)$`)
	procSys  = regexp.MustCompile(`^/proc/sys/(net/(?:core|ipv4)/[\w.-]+|vm/[\w-]+)$`)
	sysNet   = regexp.MustCompile(`^/sys/(?:class|devices/.*)/net/([\w.@:-]+)/((?:(?:bonding|bonding_slave|statistics|device)/)?\w+)$`)
	etcFiles = regexp.MustCompile(`^/etc/(?:network/interfaces(?:\.d/[\w.-]+)?|netplan/[\w.-]+\.ya?ml|sysconfig/network-scripts/ifcfg-[\w.@:-]+|sysconfig/network/ifcfg-[\w.@:-]+|` +
		`systemd/network/(?:[\w.@-]+/)?[\w.@-]+\.(?:netdev|network|link|conf)|NetworkManager/system-connections/[^/]+|nmstate/[\w.-]+\.ya?ml|samba/smb\.conf|os-release)$`)
)

// sysFiles are a link's, beside those of its bond and its counters.
var sysFiles = words("mtu operstate address carrier carrier_changes duplex speed tx_queue_len device/numa_node device/current_link_speed device/current_link_width device/max_link_speed device/max_link_width")

// notOurs are what stands beside configurations and is none.
var notOurs = regexp.MustCompile(`(?i)(?:~|\.(?:bak|orig|old|rpmsave|rpmnew|rpmorig|dpkg-\w+|save|template|example|swp))$|/ifcfg-lo$`)

// ofFile is a file of a host.
func ofFile(file string) (Member, bool) {
	m := Member{Path: file, Slot: file}
	switch {
	case file == "/etc/hostname" || file == "/etc/HOSTNAME" || file == "/proc/sys/kernel/hostname":
		return Member{Names: true, Slot: file}, true
	case file == "/proc/sys/kernel/osrelease":
		return Member{Command: "uname -r", Slot: file}, true // prints the same
	case file == "/usr/lib/os-release":
		return Member{Path: file, Slot: "/etc/os-release", Rank: 1}, true
	case file == "/proc/interrupts":
		return m, true
	case strings.HasPrefix(file, "/etc/"):
		return m, etcFiles.MatchString(file) && !notOurs.MatchString(file)
	case strings.HasPrefix(file, "/var/log/"):
		at := slices.Index(kernelLogs, strings.TrimPrefix(file, "/var/log/"))
		return Member{Path: file, Log: true, Slot: "log", Rank: 5 + at}, at >= 0
	case strings.HasPrefix(file, "/proc/sys/"):
		return m, procSys.MatchString(file)
	}
	if p := procNet.FindStringSubmatch(file); p != nil && (p[2] != "" || netFiles[p[3]]) {
		m.Path = path.Join("/proc/net", p[2], p[3])
		m.Slot, m.Rank = m.Path, processRank(p[1])
		return m, true
	}
	if p := procOwn.FindStringSubmatch(file); p != nil {
		m.Path = "/proc/" + p[2]
		m.Slot, m.Rank = m.Path, processRank(p[1])
		return m, true
	}
	if p := sysNet.FindStringSubmatch(file); p != nil && p[1] != "lo" {
		dir, _, within := strings.Cut(p[2], "/")
		if within && dir != "device" || sysFiles[p[2]] {
			m.Path = "/sys/class/net/" + p[1] + "/" + p[2]
			m.Slot = m.Path
			return m, true
		}
	}
	return Member{}, false
}

// processRank orders a process' own view of the network: the host's, then the
// reader's, then the oldest process', which is init.
func processRank(process string) int {
	switch n, err := strconv.Atoi(process); {
	case err == nil:
		return 2 + n
	case process == "":
		return 0
	}
	return 1
}

// mostAbove is how many directories are above a report that somebody put with others.
const mostAbove = 3

// Nested reports a member that may be an archive of a host itself, by its name:
// archives among the files that a report collects are none.
func Nested(name string) bool {
	parts := strings.Split(path.Clean(name), "/")
	if len(parts) > mostAbove+1 {
		return false
	}
	for _, dir := range parts[:len(parts)-1] {
		if trees[dir] || dir == "sos_commands" || dir == "insights_commands" || dir == "commands" || dir == "plugins" || dir == "artifacts" || dir == "namespaces" {
			return false
		}
	}
	return Packed(parts[len(parts)-1])
}

var packed = regexp.MustCompile(`(?i)\.(?:tar|tgz|tbz2?|txz|tzst|zip|tar\.(?:gz|bz2|xz|zst))$`)

// Packed reports an archive's name.
func Packed(name string) bool { return packed.MatchString(name) }

// Passed reports a directory that holds nothing which is read, so that a walk may
// leave it out: what processes have, beside their view of the network.
func Passed(dir string) bool {
	parts := strings.Split(dir, "/")
	n := len(parts)
	for i, p := range parts {
		if p != "proc" || i+2 >= n {
			continue
		}
		if _, err := strconv.Atoi(parts[i+1]); err == nil {
			return parts[i+2] != "net" || i+3 < n && parts[i+3] != "bonding"
		}
	}
	return false
}

func words(s string) map[string]bool {
	out := make(map[string]bool)
	for _, w := range strings.Fields(s) {
		out[w] = true
	}
	return out
}
