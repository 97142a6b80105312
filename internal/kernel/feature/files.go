package feature

import (
	"fmt"
	"io/fs"
	"strings"
)

// filesAnswer tells whether a kernel has a file system: it lists those it has
// loaded, and the module files tell of the others.
func filesAnswer(root fs.FS, release, kind, module string) Answer {
	text, err := fs.ReadFile(root, "proc/filesystems")
	if err != nil {
		return Answer{Why: fmt.Sprintf("read /proc/filesystems: %v", err)}
	}
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); len(fields) > 0 && fields[len(fields)-1] == kind {
			return Answer{State: Yes, Why: "/proc/filesystems lists " + kind}
		}
	}
	return moduleAnswer(root, release, module)
}

// moduleAnswer is what the module files say, where nothing else tells.
func moduleAnswer(root fs.FS, release, module string) Answer {
	switch moduleState(root, release, module) {
	case moduleLoaded:
		return Answer{State: Yes, Why: "module " + module + " is loaded or built in"}
	case moduleOnDisk:
		return Answer{State: Yes, Why: "module " + module + " is installed and not loaded"}
	case moduleAbsent:
		return Answer{State: No, Why: "module " + module + " is neither built in nor installed"}
	}
	return Answer{Why: "module " + module + " is not loaded, and no module files tell"}
}
