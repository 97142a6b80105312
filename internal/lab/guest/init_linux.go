package guest

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/linerate/linerate/internal/kernel/sys"
	"github.com/linerate/linerate/internal/lab/guest/early"
)

// IsInit reports whether this process is the first one of a lab kernel, or the
// one in its place where systemd is the first: then main must call Init and
// nothing else.
func IsInit() bool {
	return os.Getenv(envConfig) != "" && (os.Getpid() == 1 || os.Getenv(envService) != "")
}

// Init is the life of a lab kernel's first process: prepare the machine, run
// the command of the orders, send its output and exit status up the line, and
// power off. It does not return.
func Init() {
	orders, line, err := prepare(os.Getenv(envConfig))
	if err != nil {
		// Standard error is the console: the host reads it when we die.
		fmt.Fprintf(os.Stderr, "linerate: prepare lab guest: %v\n", err)
		powerOff()
	}
	up := &uplink{line: line}
	status, err := up.serve(orders)
	if err != nil {
		up.send(frameStderr, []byte("linerate: run lab guest: "+err.Error()+"\n"))
	}
	up.send(frameExit, []byte{byte(status)})
	up.awaitBye()
	powerOff()
}

func powerOff() {
	_ = sys.PowerOff()
	select {} // the kernel is going down; process 1 must not exit before
}

// prepare reads the orders, mounts what a Linux program expects and opens the
// serial line.
func prepare(dir string) (config, *os.File, error) {
	orders, err := readOrders(dir)
	if err != nil {
		return orders, nil, err
	}
	if orders.Systemd && os.Getpid() == 1 {
		return orders, nil, becomeSystemd(orders, dir)
	}
	mounts := []string{"sysfs", "/sys"}
	if !early.Proc {
		mounts = append(mounts, "proc", "/proc")
	}
	if orders.Systemd {
		mounts = nil // systemd has mounted it all
	} else if orders.SendHome {
		mounts = append(mounts, "devtmpfs", "/dev") // all else is in memory already
	} else {
		mounts = append(mounts, "tmpfs", "/run")
	}
	for m := range slices.Chunk(mounts, 2) {
		if err := sys.Mount(m[0], m[1], m[0], ""); err != nil {
			return orders, nil, err
		}
	}
	if _, err := os.Stat(orders.Line); err != nil {
		if err := sys.Mount("devtmpfs", "/dev", "devtmpfs", ""); err != nil {
			return orders, nil, err
		}
	}
	if orders.Sessions {
		if err := makeTerminals(); err != nil {
			return orders, nil, err
		}
	}
	line, err := os.OpenFile(orders.Line, os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		return orders, nil, fmt.Errorf("open serial line: %w", err)
	}
	return orders, line, sys.Raw(line)
}

// makeTerminals makes pseudo-terminals possible.
func makeTerminals() error {
	if err := os.MkdirAll("/dev/pts", 0o755); err != nil {
		return fmt.Errorf("make terminals: %w", err)
	}
	return sys.Mount("devpts", "/dev/pts", "devpts", "ptmxmode=666,mode=620")
}

func readOrders(dir string) (orders config, err error) {
	text, err := os.ReadFile(filepath.Join(dir, "config.json"))
	if err != nil {
		return orders, fmt.Errorf("read orders: %w", err)
	}
	if err := json.Unmarshal(text, &orders); err != nil {
		return orders, fmt.Errorf("read orders: %w", err)
	}
	return orders, nil
}

// uplink is the guest's side of the conversation. Frames are written whole,
// one writer at a time.
type uplink struct {
	line *os.File
	mu   sync.Mutex
	bye  chan struct{}
	// channels is nil in a kernel for one command.
	channels *channels
}

func (u *uplink) send(kind frameKind, payload []byte) { _ = u.trySend(kind, payload) }

func (u *uplink) trySend(kind frameKind, payload []byte) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	return writeFrame(u.line, kind, payload)
}

// Writer for one stream of output.
type stream struct {
	up   *uplink
	kind frameKind
}

func (s stream) Write(p []byte) (int, error) {
	s.up.send(s.kind, p)
	return len(p), nil
}

func (u *uplink) awaitBye() {
	if u.bye == nil {
		return
	}
	select {
	case <-u.bye:
	case <-time.After(5 * time.Second):
	}
}

// serve runs the command and returns its exit status; 1 with an error.
func (u *uplink) serve(orders config) (status int, err error) {
	release, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		return 1, fmt.Errorf("read kernel release: %w", err)
	}
	kernel := string(bytes.TrimSpace(release))
	u.send(frameReady, []byte(kernel))
	if err := loadModules(filepath.Join(orders.ModuleDirs, kernel), orders.Modules); err != nil {
		return 1, err
	}
	if err := makeWritable(orders); err != nil {
		return 1, err
	}
	before, err := fileStates(u.toSend(orders))
	if err != nil {
		return 1, err
	}
	if status, err = u.run(orders, kernel); err != nil {
		return status, err
	}
	if dirs := u.toSend(orders); len(dirs) > 0 {
		if err := packParcel(stream{u, frameParcel}, dirs, before); err != nil {
			return 1, err
		}
	}
	return status, nil
}

// toSend are the directories whose files must be sent for the host to see.
func (u *uplink) toSend(orders config) []string {
	if !orders.SendHome {
		return nil
	}
	return orders.shared()
}

func (u *uplink) run(orders config, kernel string) (status int, err error) {
	cmd := exec.Command("/proc/self/exe", orders.Args...)
	cmd.Dir = orders.Dir
	if cmd.Dir == "" {
		cmd.Dir = "/"
	}
	cmd.Env = append(guestEnv(kernel), orders.Env...)
	cmd.Stdout, cmd.Stderr = stream{u, frameStdout}, stream{u, frameStderr}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return 1, fmt.Errorf("start command: %w", err)
	}
	u.bye = make(chan struct{})
	if orders.Sessions {
		s := &sessions{kernel: kernel, shown: make(map[string]bool), homed: !orders.SendHome}
		u.channels = newChannels(u.trySend, s.serve)
	}
	go u.listen(cmd.Process.Pid)
	err = cmd.Wait()
	status = cmd.ProcessState.ExitCode()
	if status < 0 {
		status = 1
	}
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		return 1, fmt.Errorf("wait for command: %w", err)
	}
	return status, nil
}

// guestEnv is the environment that every command in a guest has.
func guestEnv(kernel string) []string {
	// A lab's changes go with it: the machine's own journal is not writable there.
	return []string{"LINERATE_JOURNAL=/run/journal", "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/run", "TMPDIR=/run/tmp", EnvGuest + "=" + kernel}
}

// listen passes signals on. When the line dies the host is gone: power off.
func (u *uplink) listen(pid int) {
	for {
		kind, payload, err := readFrame(u.line)
		switch {
		case err != nil:
			powerOff()
		case kind == frameSignal && len(payload) == 1:
			_ = syscall.Kill(-pid, syscall.Signal(payload[0]))
		case u.channels != nil && kind >= frameOpen && kind <= frameClose:
			if u.channels.handle(kind, payload) != nil {
				powerOff() // out of step: nothing that comes can be trusted
			}
			u.send(frameTaken, binary.BigEndian.AppendUint32(nil, uint32(4+len(payload))))
		case kind == frameBye:
			close(u.bye)
			return
		}
	}
}

// makeWritable makes the directory for temporary files, and shows the
// writable directories of the host where they are on the host, by a second,
// writable hostfs mount over the read-only one. A guest without the host's
// file system has them already.
func makeWritable(orders config) error {
	if err := os.MkdirAll("/run/tmp", 0o777); err != nil {
		return fmt.Errorf("make temporary directory: %w", err)
	}
	if orders.SendHome {
		return nil
	}
	for _, dir := range orders.shared() {
		if err := sys.Mount("none", dir, "hostfs", dir); err != nil {
			return err
		}
	}
	return nil
}

// loadModules loads the modules and what they need.
func loadModules(dir string, names []string) error {
	files, err := moduleFiles(dir, names)
	if err != nil {
		return err
	}
	for _, f := range files {
		if err := sys.LoadModule(filepath.Join(dir, f)); err != nil {
			return err
		}
	}
	return nil
}

var _ io.Writer = stream{}
