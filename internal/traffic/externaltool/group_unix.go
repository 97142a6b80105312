//go:build unix

package externaltool

import (
	"os"
	"os/exec"
	"syscall"
)

// ownGroup keeps a terminal's interrupt from the program: its end is ours.
func ownGroup(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

func killGroup(p *os.Process) { _ = syscall.Kill(-p.Pid, syscall.SIGKILL) }
