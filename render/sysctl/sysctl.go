// Package sysctl writes a host's tunables as a file of sysctl.d(5).
package sysctl

import (
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/linerate/linerate/render"
)

// ownFile is the file of the tunables that are wanted.
const ownFile = "/etc/sysctl.d/90-linerate.conf"

// mark begins the comment above each key that is written here. A key
// below it goes when nobody wants it any more; others stay.
const mark = "# linerate: "

// Write writes one file with who wants each key and why above it.
func Write(in render.Input) (render.Output, error) {
	var out render.Output
	wanted := in.AllSysctls()
	if len(wanted) == 0 && in.Old[ownFile] == "" {
		return out, render.ErrEmpty
	}
	out.Add(ownFile, 0o644, text(in, wanted))
	for _, file := range inOrder(in.Old) {
		if file != "/etc/sysctl.conf" && path.Base(file) <= path.Base(ownFile) {
			continue
		}
		for _, line := range strings.Split(in.Old[file], "\n") {
			key, value, ok := readLine(line)
			if !ok {
				continue
			}
			for _, name := range slices.Sorted(maps.Keys(wanted)) {
				if procPath(name) == procPath(key) && foldBlanks(wanted[name]) != foldBlanks(value) {
					out.Warn("", "sysctl."+name, file+" is read later and sets it to "+foldBlanks(value)+": take it out there")
				}
			}
		}
	}
	return out, nil
}

// text is the file: lines that are there changed in place, the rest
// added in order.
func text(in render.Input, wanted map[string]string) string {
	var lines []string
	if old := in.Old[ownFile]; old != "" {
		lines = strings.Split(strings.TrimSuffix(old, "\n"), "\n")
	} else {
		lines = []string{"# Kernel tunables that are set at boot (sysctl.d(5)). A comment that begins with", "# \"linerate:\" says who wants the key below it, and why."}
	}
	there := map[string]bool{}
	var kept []string
	for _, line := range lines {
		key, value, ok := readLine(line)
		if !ok {
			kept = append(kept, line)
			continue
		}
		name, asked := wantedBy(wanted, key)
		marked := len(kept) > 0 && strings.HasPrefix(kept[len(kept)-1], mark)
		switch {
		case !asked && marked:
			kept = kept[:len(kept)-1]
			continue
		case asked && there[name]:
			continue // a second line for a key would win
		case asked:
			there[name] = true
			if foldBlanks(value) != foldBlanks(wanted[name]) {
				line = dotted(name) + " = " + wanted[name]
			}
			if marked {
				kept[len(kept)-1] = reasonLine(in, name)
			}
		}
		kept = append(kept, line)
	}
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		if !there[name] {
			kept = append(kept, reasonLine(in, name), dotted(name)+" = "+wanted[name])
		}
	}
	return strings.Join(kept, "\n") + "\n"
}

func reasonLine(in render.Input, name string) string {
	reason := foldBlanks(in.SysctlReasons[name])
	if reason == "" {
		reason = "wanted by the fabric file"
	}
	return mark + reason
}

// wantedBy is the wanted key that a file's line sets.
func wantedBy(wanted map[string]string, key string) (string, bool) {
	for name := range wanted {
		if procPath(name) == procPath(key) {
			return name, true
		}
	}
	return "", false
}

// readLine reads KEY = VALUE, with the dash before a key whose failure does
// not matter.
func readLine(line string) (key, value string, ok bool) {
	line = strings.TrimSpace(line)
	if line == "" || strings.HasPrefix(line, "#") || strings.HasPrefix(line, ";") {
		return "", "", false
	}
	key, value, ok = strings.Cut(line, "=")
	return strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(key), "-")), strings.TrimSpace(value), ok
}

// dotted is a dotted key as sysctl.d(5) has it: a dot in an interface's
// name is written as a slash.
func dotted(key string) string {
	for _, tree := range []string{"net.ipv4.conf.", "net.ipv6.conf.", "net.ipv4.neigh.", "net.ipv6.neigh."} {
		rest, ok := strings.CutPrefix(key, tree)
		if i := strings.LastIndexByte(rest, '.'); ok && i > 0 {
			return tree + strings.ReplaceAll(rest[:i], ".", "/") + rest[i:]
		}
	}
	return key
}

// procPath is a key as a path below /proc/sys: with a dot as its first
// separator, dots and slashes change places.
func procPath(key string) string {
	key = dotted(key)
	if i := strings.IndexAny(key, "./"); i < 0 || key[i] == '/' {
		return key
	}
	return strings.NewReplacer(".", "/", "/", ".").Replace(key)
}

// inOrder are the files in the order that they are read: by name whatever
// the directory, and of one name that of /etc; /etc/sysctl.conf comes last
// (sysctl --system; systemd reads it where a link in sysctl.d says so).
func inOrder(files map[string]string) []string {
	names := render.ByName(files, ".conf", "/usr/lib/sysctl.d", "/lib/sysctl.d", "/usr/local/lib/sysctl.d", "/run/sysctl.d", "/etc/sysctl.d")
	if _, ok := files["/etc/sysctl.conf"]; ok {
		names = append(names, "/etc/sysctl.conf")
	}
	return names
}

func foldBlanks(s string) string { return strings.Join(strings.Fields(s), " ") }

// key is what a line of such a file begins with (sysctl.d(5)).
var key = regexp.MustCompile(`^-?[a-z0-9_-]+[./][\w./*@:-]+\s*=`)

// Is reports a text of such files: each line but comments sets a key.
func Is(_, text string) bool {
	keys := 0
	for line := range strings.Lines(text) {
		switch line = strings.TrimSpace(line); {
		case line == "" || strings.ContainsAny(line[:1], "#;"):
		case !key.MatchString(line):
			return false
		default:
			keys++
		}
	}
	return keys > 0
}
