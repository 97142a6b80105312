package archive

import (
	"path"
	"slices"
	"strings"
)

// ofCommand is the output of a command; false for one that nobody reads.
func ofCommand(command string) (Member, bool) {
	f := strings.Fields(command)
	if len(f) == 0 {
		return Member{}, false
	}
	f[0] = path.Base(f[0])
	command = strings.Join(f, " ")
	m := Member{Command: command, Slot: command}
	reads, known := outputs[f[0]]
	switch {
	case f[0] == "cat" && len(f) == 2:
		return ofFile(f[1])
	case f[0] == "hostname" && (len(f) == 1 || f[1] == "-f"):
		return Member{Names: true, Slot: command}, true
	case !known || reads != nil && !reads(f[1:]):
		return Member{}, false
	case f[0] == "dmesg":
		m.Log, m.Slot, m.Rank = true, "log", 1 // without times of day
		if slices.Contains(f, "-T") {
			m.Rank = 0
		}
	case f[0] == "journalctl":
		m.Log, m.Slot, m.Rank = true, "log", 2
	}
	return m, true
}

// outputs are the programs whose outputs are read, each with the arguments that
// make one such; nil any.
var outputs = map[string]func(args []string) bool{
	"ip": func(args []string) bool { return has(operands(args), 0, ipObjects) && !slices.Contains(args, "cache") },
	"ethtool": func(args []string) bool {
		return len(args) == 1 && args[0][0] != '-' || len(args) == 2 && ethtoolOptions[args[0]]
	},
	"tc":        func(args []string) bool { return has(operands(args), 0, words("qdisc class filter")) },
	"ss":        func(args []string) bool { return len(args) > 0 && !slices.Contains(args, "-s") },
	"netstat":   readsNetstat,
	"nstat":     nil,
	"sysctl":    nil,
	"lspci":     func(args []string) bool { return !anyHas(args, "t") },
	"dmidecode": nil,
	"lscpu":     func(args []string) bool { return !anyHas(args, "e") },
	"uname":     nil,
	"dmesg":     nil,
	"journalctl": func(args []string) bool {
		return !anyOf(args, "--disk-usage", "--list-boots", "--verify", "--unit", "-u", "export")
	},

	"hostnamectl": nil,
	"pveversion":  nil,
	"multipath":   func(args []string) bool { return slices.Contains(args, "-ll") && len(args) == 1 },
	"iscsiadm":    func(args []string) bool { return slices.Contains(args, "session") },
	"nvme":        func(args []string) bool { return has(operands(args), 0, words("list-subsys")) },
	"mount":       nil,
	"findmnt":     nil,
	"nfsstat":     func(args []string) bool { return slices.Contains(args, "-m") },
	"smbstatus":   nil,
	"testparm":    nil,
	"teamdctl":    func(args []string) bool { return anyOf(args, "state", "config") },
	"ovs-vsctl":   func(args []string) bool { return anyOf(args, "show") },
	"ovs-appctl":  func(args []string) bool { return anyOf(args, "bond/show", "lacp/show") },
	"brctl":       func(args []string) bool { return anyOf(args, "show") },
	"bridge":      func(args []string) bool { return has(operands(args), 0, words("link vlan")) },
	"nmcli":       nil,
	"nmstatectl":  func(args []string) bool { return slices.Equal(args, []string{"show"}) },
	"ifconfig":    nil,
	"route":       nil,

	"esxcli":         func(args []string) bool { return has(operands(args), 0, words("network")) },
	"esxcfg-nics":    nil,
	"esxcfg-vswitch": nil,
	"esxcfg-vmknic":  nil,
}

var ipObjects = words("l link a addr address r route rule n neigh neighbor neighbour")

var ethtoolOptions = words("-i -g -k -l -S -a -c --show-ring --show-offload --show-channels --statistics --show-pause --show-coalesce --driver")

// readsNetstat leaves out the table of groups.
func readsNetstat(args []string) bool {
	return anyHas(args, "s") || anyHas(args, "r") || anyHas(args, "i") || anyHas(args, "p") && !anyHas(args, "g")
}

// operands are the arguments that are no options.
func operands(args []string) []string {
	var out []string
	for _, a := range args {
		if !strings.HasPrefix(a, "-") && a != "4" && a != "6" {
			out = append(out, a)
		}
	}
	return out
}

func has(args []string, at int, known map[string]bool) bool { return at < len(args) && known[args[at]] }

// anyHas reports a cluster of short options with the letter.
func anyHas(args []string, letter string) bool {
	return slices.ContainsFunc(args, func(a string) bool {
		return len(a) > 1 && a[0] == '-' && a[1] != '-' && strings.Contains(a[1:], letter)
	})
}

func anyOf(args []string, wanted ...string) bool {
	return slices.ContainsFunc(args, func(a string) bool { return slices.Contains(wanted, a) })
}

// unmangled is the command line that sos made a member's name of: it cuts the
// directories of programs, writes "_" for each run of other characters and "." for
// "/" (sos/report/plugins/__init__.py, _mangle_command).
func unmangled(name string) string {
	program, rest, more := strings.Cut(name, "_")
	if !more {
		return program
	}
	switch program {
	case "ethtool": // the link's name may have "_" in it
		if option, link, ok := strings.Cut(rest, "_"); ok && strings.HasPrefix(option, "-") {
			return "ethtool " + option + " " + link
		}
		return "ethtool " + rest
	case "teamdctl":
		for _, what := range []string{"state_dump", "config_dump", "state"} {
			if link, ok := strings.CutSuffix(rest, "_"+what); ok {
				return "teamdctl " + link + " " + strings.ReplaceAll(what, "_", " ")
			}
		}
	case "ovs-appctl":
		rest = strings.ReplaceAll(rest, ".", "/")
	}
	return program + " " + strings.ReplaceAll(rest, "_", " ")
}

// ofESXi is the command line that vm-support made a member's name of: "-" for each
// blank behind the first, slashes cut.
func ofESXi(name string) string {
	program, rest, _ := strings.Cut(name, "_")
	switch program {
	case "localcli":
		program = "esxcli"
	case "nicinfo.sh":
		program = "esxcfg-nics" // begins with the same table
	}
	var out strings.Builder
	for i := 0; i < len(rest); i++ {
		if rest[i] == '-' && i > 0 && rest[i-1] != '-' && !strings.HasPrefix(rest, "-") {
			out.WriteByte(' ')
			continue
		}
		out.WriteByte(rest[i])
	}
	return program + " " + out.String()
}
