package loadtext

import (
	"strings"

	"github.com/linerate/linerate/internal/evidence/paste/hostid"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
)

// Sysctls reads sysctl's output, files of /etc/sysctl.d, and files below /proc/sys
// where the command or a heading names them.
var Sysctls = piece.Reader{
	Kind:     "sysctl",
	Commands: []string{"sysctl", "cat", "grep", "head", "tail"},
	Starts: func(line string) bool {
		return strings.Contains(line, "=") && sysctlRow(line) != nil || strings.Contains(line, "/proc/sys/") && sysctlPath.MatchString(strings.TrimSpace(line)) ||
			strings.HasPrefix(line, "sysctl: ") || bsdSysctl(line)
	},
	Owns: func(s piece.Segment, line string) bool {
		return (len(procSysPaths(s)) > 0 || len(bareNames(s)) > 0) && sysctlBare.MatchString(strings.TrimSpace(line))
	},
	Read: reading(readSysctls),
}

var sysctlName = piece.Compile(`^-?((?:net|kernel|vm|fs|dev|sunrpc|user|crypto|hw|kern)[./][\w./:@*-]+)$`)

var sysctlBare = piece.Compile(`^-?[\w.+-]+(?:\s+-?[\w.+-]+){0,12}$`)

var sysctlPath = piece.Compile(`^/proc/sys/([\w./@:-]+)\s*[:=]\s*(\S.*)$`)

var freeBSDRow = piece.Compile(`^((?:net|kern|hw|dev|vm)\.[\w.%-]+): (\S.*)$`)

// bsdSysctl reports a row of FreeBSD's sysctl.
func bsdSysctl(line string) bool {
	return (strings.HasPrefix(line, "net.") || strings.HasPrefix(line, "kern.") || strings.HasPrefix(line, "hw.") || strings.HasPrefix(line, "dev.")) && freeBSDRow.MatchString(line)
}

// sysctlRow is a name with its value; nil for another line.
func sysctlRow(line string) []string {
	text := strings.TrimSpace(line)
	text = strings.TrimPrefix(strings.TrimPrefix(text, "sudo "), "sysctl -w ")
	name, value, ok := strings.Cut(text, "=")
	if !ok || len(name) > 120 {
		return nil
	}
	name = strings.Trim(strings.TrimSpace(name), `"'`)
	m := sysctlName.FindStringSubmatch(name)
	if m == nil {
		return nil
	}
	value, _, _ = strings.Cut(value, " #")
	return []string{dotted(m[1]), strings.Join(strings.Fields(strings.Trim(strings.TrimSpace(value), `"'`)), " ")}
}

// dotted is a name with points: a path's slashes become points, and where it has
// slashes its points are part of a name (sysctl.d(5)).
func dotted(name string) string {
	slash, point := strings.IndexByte(name, '/'), strings.IndexByte(name, '.')
	if slash < 0 || point >= 0 && point < slash {
		return strings.ReplaceAll(name, "/", ".")
	}
	return strings.ReplaceAll(strings.Trim(name, "/"), "/", ".")
}

// procSysPaths are the files below /proc/sys that a command prints, in order.
func procSysPaths(s piece.Segment) []string {
	var out []string
	for _, w := range strings.FieldsFunc(s.Command+" "+s.Path, func(r rune) bool { return strings.ContainsRune(" ;|&<>\"'", r) }) {
		if rest, ok := strings.CutPrefix(w, "/proc/sys/"); ok && !strings.ContainsAny(rest, "*?{$") && rest != "" && (len(out) == 0 || out[len(out)-1] != dotted(rest)) {
			out = append(out, dotted(rest))
		}
	}
	return out
}

// bareNames are those that sysctl -n was asked for.
func bareNames(s piece.Segment) []string {
	f := strings.Fields(s.Command)
	var out []string
	bare := false
	for i, w := range f {
		bare = bare || w == "-n" && i > 0 && strings.HasSuffix(f[i-1], "sysctl")
		if bare && sysctlName.MatchString(w) {
			out = append(out, dotted(w))
		}
	}
	return out
}

func readSysctls(s *sink, lines []piece.Line) (read int) {
	paths := procSysPaths(s.Segment)
	paths = append(paths, bareNames(s.Segment)...)
	next := 0
	for i, l := range lines {
		text := strings.TrimSpace(l.Text)
		if text == "" {
			continue
		}
		if row := sysctlRow(text); row != nil {
			if row[1] != "" {
				s.Set("sysctl", row[0], row[1], l)
			}
		} else if m := sysctlPath.FindStringSubmatch(text); m != nil {
			s.Set("sysctl", dotted(m[1]), strings.Join(strings.Fields(m[2]), " "), l)
		} else if next < len(paths) && sysctlBare.MatchString(text) && !hostid.BareRelease.MatchString(text) {
			s.Set("sysctl", paths[next], strings.Join(strings.Fields(text), " "), l)
			next++
		} else if strings.HasPrefix(text, "sysctl: ") || read > 0 && (strings.HasPrefix(text, "#") || strings.HasPrefix(text, ";")) || strings.HasPrefix(text, "* Applying /") {
			// an error, or a comment of the file
		} else if m := freeBSDRow.FindStringSubmatch(text); m != nil {
			s.Set("sysctl", m[1], m[2], l)
		} else {
			break
		}
		read = i + 1
	}
	return read
}
