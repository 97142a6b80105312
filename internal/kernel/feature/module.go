package feature

import (
	"path"
	"strings"
)

// listsModule reports whether /proc/modules names the module: the first word
// of a line, with underscores for dashes.
func listsModule(text []byte, name string) bool {
	for line := range strings.Lines(string(text)) {
		if first, _, _ := strings.Cut(line, " "); first == strings.ReplaceAll(name, "-", "_") {
			return true
		}
	}
	return false
}

// listsFile reports whether modules.dep or modules.builtin names the module's
// file: "kernel/drivers/net/bonding/bonding.ko.xz: ...".
func listsFile(text []byte, name string) bool {
	for line := range strings.Lines(string(text)) {
		file, _, _ := strings.Cut(strings.TrimSpace(line), ":")
		base, _, _ := strings.Cut(path.Base(file), ".ko")
		if strings.ReplaceAll(base, "-", "_") == strings.ReplaceAll(name, "-", "_") {
			return true
		}
	}
	return false
}
