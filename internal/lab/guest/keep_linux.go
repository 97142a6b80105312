package guest

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

// admit gives each connection a channel into the guest, until the listener is
// closed, and then waits until the last is done with.
func (m *machine) admit(l net.Listener) {
	var open sync.WaitGroup
	defer open.Wait()
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		open.Go(func() { m.relay(conn) })
	}
}

// relay copies between a connection and a channel of its own until either
// ends.
func (m *machine) relay(conn net.Conn) {
	defer conn.Close()
	ch, err := m.channels.dial()
	if err != nil {
		return
	}
	defer ch.Close()
	var both sync.WaitGroup
	both.Go(func() {
		_, _ = io.Copy(ch, conn)
		_ = ch.Close() // the client is gone: so is what it asked for
	})
	both.Go(func() {
		_, _ = io.Copy(conn, ch)
		conn.Close()
	})
	both.Wait()
}

// EndGroup kills what is left of a kernel that Run has started and whose
// program was killed: the processes of its group, in the session it was
// started in, that are not older than its first. It returns how many there
// were. A number that others use by now harms nobody: they are of another
// session, or their group's first process is another.
func EndGroup(group, session int, start uint64) (int, error) {
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil || group <= 1 || start == 0 {
		return 0, err
	}
	var killed int
	var errs []error
	for _, path := range stats {
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if err != nil || !member(path, group, session, start) {
			continue
		}
		// Held by a handle and looked at again: the number may have gone to
		// somebody else since.
		p, err := os.FindProcess(pid)
		if err != nil || !member(path, group, session, start) {
			continue
		}
		if err := p.Signal(syscall.SIGKILL); err == nil {
			killed++
		} else if !errors.Is(err, os.ErrProcessDone) {
			errs = append(errs, err)
		}
	}
	return killed, errors.Join(errs...)
}

// member reads /proc/PID/stat (proc(5)); a zombie is none.
func member(path string, group, session int, start uint64) bool {
	text, err := os.ReadFile(path)
	if err != nil {
		return false
	}
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	if len(fields) < 20 || fields[0] == "Z" || fields[0] == "X" {
		return false
	}
	began, err := strconv.ParseUint(fields[19], 10, 64)
	return err == nil && began >= start && fields[2] == strconv.Itoa(group) && fields[3] == strconv.Itoa(session)
}

// StartKeeper starts this program again with the arguments, in a session of
// its own and with no terminal: it outlives its starter. What it says goes to
// the log. Its process is returned, which nobody waits for.
func StartKeeper(args, env []string, log *os.File) (pid int, err error) {
	cmd := exec.Command("/proc/self/exe", args...)
	cmd.Dir = "/"
	cmd.Env = append(os.Environ(), env...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return 0, fmt.Errorf("start lab keeper: %w", err)
	}
	go func() { _ = cmd.Wait() }() // ends with it, or with this program
	return cmd.Process.Pid, nil
}
