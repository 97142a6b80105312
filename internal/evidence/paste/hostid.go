package paste

import (
	"regexp"
	"strings"
)

// hostID reads what names a machine: uname, hostnamectl, lscpu, nproc, os-release
// and the first line of sysstat.
var hostID = reader{
	kind:     "uname, lscpu, os-release",
	commands: []string{"uname", "hostnamectl", "lscpu", "nproc", "pveversion", "freebsd-version", "lsb_release"},
	starts:   func(line string) bool { return hostLine(strings.TrimSpace(line)) },
	owns: func(s Segment, line string) bool {
		text := strings.TrimSpace(line)
		return strings.Contains(s.Command, "nproc") && whole(text) > 0 || strings.Contains(s.Command, "uname") && anyRelease.MatchString(text)
	},
	read: readHostID,
}

var (
	unameLine    = regexp.MustCompile(`^Linux (\S+) (\d+\.\d+\S*) (#\S.*)?`)
	unameBSD     = regexp.MustCompile(`^(FreeBSD|OPNsense|AIX) (\S+) (\d\S*)(?: (\S+))?`)
	sysstatHead  = regexp.MustCompile(`^Linux (\d+\.\d+\S*) \(([^)]+)\)\s+\S+\s+(?:_(\w+)_\s+)?\((\d+) CPU\)`)
	anyRelease   = regexp.MustCompile(`^\d+\.\d+[\w.+~-]*$`)
	bareRelease  = regexp.MustCompile(`^(\d+\.\d+\.\d+(?:[-.+~_][\w.+~-]+)?)$`)
	architecture = regexp.MustCompile(`\b(x86_64|aarch64|armv\w+|i[3-6]86|ppc64le?|s390x|riscv64|amd64|arm64)\b`)
	osNames      = regexp.MustCompile(`^(?:PRETTY_NAME|NAME|ID|VERSION_ID|ID_LIKE)="?([^"]*)"?$`)
	hostctlLine  = regexp.MustCompile(`^(Static hostname|Operating System|Kernel|Architecture|Virtualization|Hardware Model|Hardware Vendor|Chassis|Transient hostname|Icon name|Machine ID|Boot ID|CPE OS Name|Firmware Version|Firmware Date|Firmware Age):\s*(.*)$`)
	lscpuLine    = regexp.MustCompile(`^(Architecture|CPU\(s\)|Model name|Socket\(s\)|Core\(s\) per socket|Thread\(s\) per core|NUMA node\(s\)|NUMA node\d+ CPU\(s\)|CPU max MHz|CPU MHz|CPU min MHz|CPU\(s\) scaling MHz|Hypervisor vendor|Virtualization type|Vendor ID|CPU op-mode\(s\)|Byte Order|On-line CPU\(s\) list|Address sizes|CPU family|Model|Stepping|BogoMIPS|L[123][di]?(?: cache)?|Flags|Virtualization|BIOS \S+.*|Vulnerability .*|Frequency boost|Caches \(sum of all\)|NUMA|Vulnerabilities):\s*(.*)$`)
	pveVersion   = regexp.MustCompile(`^pve-manager/(\S+?)/`)
)

// systems are marks of distributions and appliances in a release's name or in the
// name that a system gives itself.
var systems = []struct{ mark, system string }{
	{"-pve", "proxmox"}, {"proxmox", "proxmox"}, {"-talos", "talos"}, {"talos", "talos"}, {"truenas", "truenas"}, {"freenas", "truenas"}, {"+truenas", "truenas"},
	{"opnsense", "opnsense"}, {"pfsense", "pfsense"}, {"-flatcar", "flatcar"}, {"flatcar", "flatcar"}, {"coreos", "rhel"}, {".amzn", "amazon"}, {"amazon linux", "amazon"},
	{".el6", "rhel"}, {".el7", "rhel"}, {".el8", "rhel"}, {".el9", "rhel"}, {".el10", "rhel"}, {"red hat", "rhel"}, {"rhel", "rhel"}, {"centos", "rhel"},
	{"rocky", "rhel"}, {"almalinux", "rhel"}, {".fc", "fedora"}, {"fedora", "fedora"}, {"uek", "oracle"}, {"ubuntu", "ubuntu"}, {"debian", "debian"},
	{"harvester", "harvester"}, {"suse", "suse"}, {"sles", "suse"}, {"-arch", "arch"}, {"arch linux", "arch"}, {"openmediavault", "debian"},
}

// system is the distribution or appliance that a text names; "" none is known.
func systemOf(text string) string {
	text = strings.ToLower(text)
	for _, s := range systems {
		if strings.Contains(text, s.mark) {
			return s.system
		}
	}
	return ""
}

func hostLine(text string) bool {
	switch {
	case text == "":
		return false
	case strings.HasPrefix(text, "Linux "):
		return unameLine.MatchString(text) || sysstatHead.MatchString(text)
	case text[0] >= '0' && text[0] <= '9':
		return bareRelease.MatchString(text) && strings.ContainsAny(text, "-")
	case strings.HasPrefix(text, "FreeBSD "), strings.HasPrefix(text, "AIX "), strings.HasPrefix(text, "OPNsense "):
		return unameBSD.MatchString(text)
	case strings.HasPrefix(text, "pve-manager/"):
		return true
	case strings.HasPrefix(text, "PRETTY_NAME="), strings.HasPrefix(text, "ID_LIKE="), strings.HasPrefix(text, "VERSION_ID="):
		return true
	}
	if at := strings.IndexByte(text, ':'); at > 3 {
		return strings.HasPrefix(text, "Static hostname") || strings.HasPrefix(text, "Operating System:") || strings.HasPrefix(text, "CPU(s):") ||
			strings.HasPrefix(text, "Model name:") || strings.HasPrefix(text, "Thread(s) per core:") || strings.HasPrefix(text, "Architecture:") ||
			strings.HasPrefix(text, "NUMA node(s):") || strings.HasPrefix(text, "On-line CPU") || strings.HasPrefix(text, "Kernel: Linux")
	}
	return false
}

func readHostID(s *sink, lines []Line) (read int) {
	for i, l := range lines {
		text := strings.TrimSpace(l.Text)
		if text == "" {
			continue
		}
		known := s.uname(text, l) || s.sysstat(text, l) || s.hostctl(text, l) || s.lscpu(text, l)
		if !known {
			if asked := strings.Contains(s.segment.Command, "uname"); asked && anyRelease.MatchString(text) || !asked && i == 0 && bareRelease.MatchString(text) {
				s.release(text, l)
				known = true
			} else if strings.Contains(s.segment.Command, "nproc") && whole(text) > 0 && whole(text) < 1<<16 {
				s.set("host", "cores", text, l)
				known = true
			} else if m := pveVersion.FindStringSubmatch(text); m != nil {
				s.set("host", "system", "proxmox", l)
				s.set("host", "system_version", m[1], l)
				known = true
			}
		}
		if !known {
			break
		}
		read = i + 1
	}
	return read
}

// release notes a kernel's release and what its name says of the system.
func (s *sink) release(release string, l Line) {
	s.set("host", "release", release, l)
	s.set("host", "os", "linux", l)
	if system := systemOf(release); system != "" {
		s.set("host", "system", system, l)
	}
	if strings.HasSuffix(release, "-azure") || strings.HasSuffix(release, "-aws") || strings.HasSuffix(release, "-gcp") {
		s.set("host", "cloud", release[strings.LastIndexByte(release, '-')+1:], l)
	}
}

// uname reads the line of `uname -a`, which iperf3 -V prints too.
func (s *sink) uname(text string, l Line) bool {
	if m := unameLine.FindStringSubmatch(text); m != nil {
		s.set("host", "name", hostName(m[1]), l)
		s.release(m[2], l)
		if system := systemOf(text); system != "" && systemOf(m[2]) == "" {
			s.set("host", "system", system, l)
		}
		s.arch(text, l)
		return true
	}
	if m := unameBSD.FindStringSubmatch(text); m != nil {
		s.set("host", "name", hostName(m[2]), l)
		s.set("host", "os", strings.ToLower(strings.Replace(m[1], "OPNsense", "FreeBSD", 1)), l)
		if m[1] == "AIX" {
			if m[4] != "" { // release, then version
				s.set("host", "release", m[4]+"."+m[3], l)
			}
			return true
		}
		s.set("host", "release", m[3], l)
		if system := systemOf(text); system != "" {
			s.set("host", "system", system, l)
		}
		s.arch(text, l)
		return true
	}
	return false
}

func (s *sink) arch(text string, l Line) {
	if all := architecture.FindAllString(text, -1); len(all) > 0 {
		s.set("host", "arch", all[len(all)-1], l)
	}
}

// sysstat reads the first line of mpstat, sar, pidstat and iostat.
func (s *sink) sysstat(text string, l Line) bool {
	m := sysstatHead.FindStringSubmatch(text)
	if m == nil {
		return false
	}
	s.release(m[1], l)
	s.set("host", "name", hostName(m[2]), l)
	if m[3] != "" {
		s.set("host", "arch", m[3], l)
	}
	s.set("host", "cores", m[4], l)
	return true
}

func (s *sink) hostctl(text string, l Line) bool {
	if m := osNames.FindStringSubmatch(text); m != nil {
		if system := systemOf(m[1]); system != "" {
			s.set("host", "system", system, l)
		}
		return true
	}
	m := hostctlLine.FindStringSubmatch(text)
	if m == nil {
		return false
	}
	switch m[1] {
	case "Static hostname":
		s.set("host", "name", hostName(m[2]), l)
	case "Operating System":
		if system := systemOf(m[2]); system != "" {
			s.set("host", "system", system, l)
		}
	case "Kernel":
		if release, ok := strings.CutPrefix(m[2], "Linux "); ok {
			s.release(release, l)
		}
	case "Architecture":
		s.set("host", "arch", strings.ReplaceAll(m[2], "x86-64", "x86_64"), l)
	case "Virtualization":
		s.set("host", "virtual", m[2], l)
	}
	return true
}

func (s *sink) lscpu(text string, l Line) bool {
	m := lscpuLine.FindStringSubmatch(text)
	if m == nil {
		return false
	}
	switch m[1] {
	case "CPU(s)":
		if whole(m[2]) > 0 {
			s.set("host", "cores", m[2], l)
		}
	case "Architecture":
		s.set("host", "arch", m[2], l)
	case "Model name":
		s.set("host", "cpu", m[2], l)
	case "Socket(s)":
		s.set("host", "sockets", m[2], l)
	case "Thread(s) per core":
		s.set("host", "threads_per_core", m[2], l)
	case "NUMA node(s)":
		s.set("host", "numa_nodes", m[2], l)
	case "Hypervisor vendor":
		s.set("host", "virtual", strings.ToLower(m[2]), l)
	}
	if strings.HasPrefix(m[1], "NUMA node") && strings.HasSuffix(m[1], "CPU(s)") {
		s.set("host", "cores_of_node "+firstNumber(m[1]), m[2], l)
	}
	return true
}
