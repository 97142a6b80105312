package guest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/linerate/linerate/internal/kernel/sys"
)

// serialLine is the guest's end of the line.
const serialLine = "/dev/ttyS0"

// IsInit reports whether this process is the first one of a lab kernel: then
// main must call Init and nothing else.
func IsInit() bool { return os.Getpid() == 1 && os.Getenv(envConfig) != "" }

// Init is the life of a lab kernel's first process: prepare the machine, run
// the command of the orders, send its output and exit status up the line, and
// power off. It does not return.
func Init() {
	line, err := prepare(os.Getenv(envConfig))
	if err != nil {
		// Standard error is the console: the host reads it when we die.
		fmt.Fprintf(os.Stderr, "linerate: prepare lab guest: %v\n", err)
		powerOff()
	}
	up := &uplink{line: line}
	status := 1
	if err := up.serve(os.Getenv(envConfig), &status); err != nil {
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

// prepare mounts what a Linux program expects and opens the serial line.
func prepare(dir string) (*os.File, error) {
	for _, m := range [...]struct{ fstype, target string }{
		{"proc", "/proc"}, {"sysfs", "/sys"}, {"tmpfs", "/run"},
	} {
		if err := sys.Mount(m.fstype, m.target, m.fstype, ""); err != nil {
			return nil, err
		}
	}
	if _, err := os.Stat(serialLine); err != nil {
		if err := sys.Mount("devtmpfs", "/dev", "devtmpfs", ""); err != nil {
			return nil, err
		}
	}
	line, err := os.OpenFile(serialLine, os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		return nil, fmt.Errorf("open serial line: %w", err)
	}
	return line, sys.Raw(line)
}

// uplink is the guest's side of the conversation. Frames are written whole,
// one writer at a time.
type uplink struct {
	line *os.File
	mu   sync.Mutex
	bye  chan struct{}
}

func (u *uplink) send(kind frameKind, payload []byte) {
	u.mu.Lock()
	defer u.mu.Unlock()
	_ = writeFrame(u.line, kind, payload)
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

func (u *uplink) serve(dir string, status *int) error {
	text, err := os.ReadFile(filepath.Join(dir, "config.json"))
	if err != nil {
		return fmt.Errorf("read orders: %w", err)
	}
	var orders config
	if err := json.Unmarshal(text, &orders); err != nil {
		return fmt.Errorf("read orders: %w", err)
	}
	release, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		return fmt.Errorf("read kernel release: %w", err)
	}
	kernel := string(bytes.TrimSpace(release))
	u.send(frameReady, []byte(kernel))
	if err := loadModules(filepath.Join("/usr/lib/uml/modules", kernel), orders.Modules); err != nil {
		return err
	}
	workDir, err := mountWritable(orders)
	if err != nil {
		return err
	}
	cmd := exec.Command("/proc/self/exe", orders.Args...)
	cmd.Dir = workDir
	cmd.Env = append([]string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/run", "TMPDIR=/run/tmp", EnvGuest + "=" + kernel}, orders.Env...)
	cmd.Stdout, cmd.Stderr = stream{u, frameStdout}, stream{u, frameStderr}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start command: %w", err)
	}
	u.bye = make(chan struct{})
	go u.listen(cmd.Process.Pid)
	err = cmd.Wait()
	*status = cmd.ProcessState.ExitCode()
	if *status < 0 {
		*status = 1
	}
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		return fmt.Errorf("wait for command: %w", err)
	}
	return nil
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
		case kind == frameBye:
			close(u.bye)
			return
		}
	}
}

// mountWritable shows the writable directories of the host where they are on
// the host, by a second, writable hostfs mount over the read-only one, and
// returns the working directory.
func mountWritable(orders config) (string, error) {
	if err := os.MkdirAll("/run/tmp", 0o777); err != nil {
		return "", fmt.Errorf("make temporary directory: %w", err)
	}
	for _, dir := range append([]string{orders.Dir}, orders.Writable...) {
		if dir == "" {
			continue
		}
		if err := sys.Mount("none", dir, "hostfs", dir); err != nil {
			return "", err
		}
	}
	if orders.Dir == "" {
		return "/", nil
	}
	return orders.Dir, nil
}

// loadModules loads each module after those it needs, as modules.dep lists
// them (last dependency first). A name that is not in the list is taken for
// built in.
func loadModules(dir string, names []string) error {
	text, err := os.ReadFile(filepath.Join(dir, "modules.dep"))
	if err != nil {
		return fmt.Errorf("read module list: %w", err)
	}
	needs := make(map[string][]string)
	for line := range strings.Lines(string(text)) {
		module, deps, ok := strings.Cut(strings.TrimSpace(line), ":")
		if ok {
			needs[moduleName(module)] = append([]string{module}, strings.Fields(deps)...)
		}
	}
	for _, name := range names {
		chain := needs[moduleName(name)]
		for i := len(chain) - 1; i >= 0; i-- {
			if err := sys.LoadModule(filepath.Join(dir, chain[i])); err != nil {
				return err
			}
		}
	}
	return nil
}

func moduleName(path string) string {
	name, _, _ := strings.Cut(filepath.Base(path), ".")
	return strings.ReplaceAll(name, "-", "_")
}

var _ io.Writer = stream{}
