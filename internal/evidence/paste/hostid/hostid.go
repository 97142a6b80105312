// Package hostid reads what names a machine: its kernel, system, name, cores. It judges
// nothing.
package hostid

import (
	"strings"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
)

// Reader reads what names a machine: uname, hostnamectl, lscpu, nproc, os-release
// and the first line of sysstat.
var Reader = piece.Reader{
	Kind:     "uname, lscpu, os-release",
	Commands: []string{"uname", "hostnamectl", "lscpu", "nproc", "pveversion", "freebsd-version", "lsb_release"},
	Starts:   func(line string) bool { return hostLine(strings.TrimSpace(line)) },
	Owns: func(s piece.Segment, line string) bool {
		text := strings.TrimSpace(line)
		return strings.Contains(s.Command, "nproc") && piece.Whole(text) > 0 || strings.Contains(s.Command, "uname") && anyRelease.MatchString(text)
	},
	Read: readHostID,
}

var unameLine = piece.Compile(`^Linux (\S+) (\d+\.\d+\S*) (#\S.*)?`)

var unameBSD = piece.Compile(`^(FreeBSD|OPNsense|AIX) (\S+) (\d\S*)(?: (\S+))?`)

var sysstatHead = piece.Compile(`^Linux (\d+\.\d+\S*) \(([^)]+)\)\s+\S+\s+(?:_(\w+)_\s+)?\((\d+) CPU\)`)

var anyRelease = piece.Compile(`^\d+\.\d+[\w.+~-]*$`)

// BareRelease is a kernel's release alone on its line.
var BareRelease = piece.Compile(`^(\d+\.\d+\.\d+(?:[-.+~_][\w.+~-]+)?)$`)

var architecture = piece.Compile(`\b(x86_64|aarch64|armv\w+|i[3-6]86|ppc64le?|s390x|riscv64|amd64|arm64)\b`)

var osNames = piece.Compile(`^(?:PRETTY_NAME|NAME|ID|VERSION_ID|ID_LIKE)="?([^"]*)"?$`)

var hostctlLine = piece.Compile(`^(Static hostname|Operating System|Kernel|Architecture|Virtualization|Hardware Model|Hardware Vendor|Chassis|Transient hostname|Icon name|Machine ID|Boot ID|CPE OS Name|Firmware Version|Firmware Date|Firmware Age):\s*(.*)$`)

var lscpuLine = piece.Compile(`^(Architecture|CPU\(s\)|Model name|Socket\(s\)|Core\(s\) per socket|Thread\(s\) per core|NUMA node\(s\)|NUMA node\d+ CPU\(s\)|CPU max MHz|CPU MHz|CPU min MHz|CPU\(s\) scaling MHz|Hypervisor vendor|Virtualization type|Vendor ID|CPU op-mode\(s\)|Byte Order|On-line CPU\(s\) list|Address sizes|CPU family|Model|Stepping|BogoMIPS|L[123][di]?(?: cache)?|Flags|Virtualization|BIOS \S+.*|Vulnerability .*|Frequency boost|Caches \(sum of all\)|NUMA|Vulnerabilities):\s*(.*)$`)

var numberShape = piece.Compile(`\d+`)

var pveVersion = piece.Compile(`^pve-manager/(\S+?)/`)

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

// rebuilt is the line that Red Hat's systems and their rebuilds name themselves by, in
// /etc/redhat-release and as people repeat it.
var rebuilt = piece.Compile(`^(?:[-*•] )?(?:(?:OS|System|Distro|Distribution|Operating [Ss]ystem)(?: [Vv]ersion)? ?: ?)?(?:CentOS|Red Hat Enterprise Linux|RHEL|Rocky Linux|AlmaLinux)(?: Linux| Server| Stream)*(?: release)? (\d+)(?:\.[\d.]+)?(?: ?\([A-Za-z ]+\))?\.?$`)

// shipped are the kernels of those releases: one for all of a release's life.
var shipped = map[string]string{"6": "2.6.32", "7": "3.10.0", "8": "4.18.0", "9": "5.14.0", "10": "6.12.0"}

func hostLine(text string) bool {
	switch {
	case text == "":
		return false
	case strings.Contains(text, "Linux") || strings.Contains(text, "CentOS") || strings.Contains(text, "RHEL"):
		if rebuilt.MatchString(text) {
			return true
		}
	}
	switch {
	case strings.HasPrefix(text, "Linux "):
		return unameLine.MatchString(text) || sysstatHead.MatchString(text)
	case text[0] >= '0' && text[0] <= '9':
		return BareRelease.MatchString(text) && strings.ContainsAny(text, "-")
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

func readHostID(s *piece.Sink, lines []piece.Line) (read int) {
	for i, l := range lines {
		text := strings.TrimSpace(l.Text)
		if text == "" {
			continue
		}
		known := Uname(s, text, l) || Sysstat(s, text, l) || hostctl(s, text, l) || lscpu(s, text, l)
		if !known {
			if asked := strings.Contains(s.Segment.Command, "uname"); asked && anyRelease.MatchString(text) || !asked && i == 0 && BareRelease.MatchString(text) {
				Release(s, text, l)
				known = true
			} else if strings.Contains(s.Segment.Command, "nproc") && piece.Whole(text) > 0 && piece.Whole(text) < 1<<16 {
				s.Set("host", "cores", text, l)
				known = true
			} else if m := rebuilt.FindStringSubmatch(text); m != nil {
				s.Set("host", "system", "rhel", l)
				if _, told := s.Host.Get("host", "release"); !told && shipped[m[1]] != "" {
					s.Set("host", "release", shipped[m[1]]+"-0.el"+m[1], l)
				}
				known = true
			} else if m := pveVersion.FindStringSubmatch(text); m != nil {
				s.Set("host", "system", "proxmox", l)
				s.Set("host", "system_version", m[1], l)
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

// Release notes a kernel's release and what its name says of the system.
func Release(s *piece.Sink, release string, l piece.Line) {
	s.Set("host", "release", release, l)
	s.Set("host", "os", "linux", l)
	if system := systemOf(release); system != "" {
		s.Set("host", "system", system, l)
	}
	if strings.HasSuffix(release, "-azure") || strings.HasSuffix(release, "-aws") || strings.HasSuffix(release, "-gcp") {
		s.Set("host", "cloud", release[strings.LastIndexByte(release, '-')+1:], l)
	}
}

// Uname reads the line of `uname -a`, which iperf3 -V prints too.
func Uname(s *piece.Sink, text string, l piece.Line) bool {
	if m := unameLine.FindStringSubmatch(text); m != nil {
		s.Set("host", "name", piece.HostName(m[1]), l)
		Release(s, m[2], l)
		if system := systemOf(text); system != "" && systemOf(m[2]) == "" {
			s.Set("host", "system", system, l)
		}
		arch(s, text, l)
		return true
	}
	if m := unameBSD.FindStringSubmatch(text); m != nil {
		s.Set("host", "name", piece.HostName(m[2]), l)
		s.Set("host", "os", strings.ToLower(strings.Replace(m[1], "OPNsense", "FreeBSD", 1)), l)
		if m[1] == "AIX" {
			if m[4] != "" { // release, then version
				s.Set("host", "release", m[4]+"."+m[3], l)
			}
			return true
		}
		s.Set("host", "release", m[3], l)
		if system := systemOf(text); system != "" {
			s.Set("host", "system", system, l)
		}
		arch(s, text, l)
		return true
	}
	return false
}

func arch(s *piece.Sink, text string, l piece.Line) {
	if all := architecture.FindAllString(text, -1); len(all) > 0 {
		s.Set("host", "arch", all[len(all)-1], l)
	}
}

// Sysstat reads the first line of mpstat, sar, pidstat and iostat.
func Sysstat(s *piece.Sink, text string, l piece.Line) bool {
	m := sysstatHead.FindStringSubmatch(text)
	if m == nil {
		return false
	}
	Release(s, m[1], l)
	s.Set("host", "name", piece.HostName(m[2]), l)
	if m[3] != "" {
		s.Set("host", "arch", m[3], l)
	}
	s.Set("host", "cores", m[4], l)
	return true
}

func hostctl(s *piece.Sink, text string, l piece.Line) bool {
	if m := osNames.FindStringSubmatch(text); m != nil {
		if system := systemOf(m[1]); system != "" {
			s.Set("host", "system", system, l)
		}
		return true
	}
	m := hostctlLine.FindStringSubmatch(text)
	if m == nil {
		return false
	}
	switch m[1] {
	case "Static hostname":
		s.Set("host", "name", piece.HostName(m[2]), l)
	case "Operating System":
		if system := systemOf(m[2]); system != "" {
			s.Set("host", "system", system, l)
		}
	case "Kernel":
		if release, ok := strings.CutPrefix(m[2], "Linux "); ok {
			Release(s, release, l)
		}
	case "Architecture":
		s.Set("host", "arch", strings.ReplaceAll(m[2], "x86-64", "x86_64"), l)
	case "Virtualization":
		s.Set("host", "virtual", m[2], l)
	}
	return true
}

func lscpu(s *piece.Sink, text string, l piece.Line) bool {
	m := lscpuLine.FindStringSubmatch(text)
	if m == nil {
		return false
	}
	switch m[1] {
	case "CPU(s)":
		if piece.Whole(m[2]) > 0 {
			s.Set("host", "cores", m[2], l)
		}
	case "Architecture":
		s.Set("host", "arch", m[2], l)
	case "Model name":
		s.Set("host", "cpu", m[2], l)
	case "Socket(s)":
		s.Set("host", "sockets", m[2], l)
	case "Thread(s) per core":
		s.Set("host", "threads_per_core", m[2], l)
	case "NUMA node(s)":
		s.Set("host", "numa_nodes", m[2], l)
	case "Hypervisor vendor":
		s.Set("host", "virtual", strings.ToLower(m[2]), l)
	}
	if strings.HasPrefix(m[1], "NUMA node") && strings.HasSuffix(m[1], "CPU(s)") {
		s.Set("host", "cores_of_node "+numberShape.FindString(m[1]), m[2], l)
	}
	return true
}
