package early

import (
	"os"
	"syscall"
)

// Proc reports that this process has mounted /proc: it is the first one of a lab
// kernel.
var Proc = mountProc()

func mountProc() bool {
	if os.Getpid() != 1 || os.Getenv(EnvConfig) == "" {
		return false
	}
	return syscall.Mount("proc", "/proc", "proc", 0, "") == nil
}
