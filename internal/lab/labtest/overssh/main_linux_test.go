package overssh

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
)

// program is the linerate under test, bare the same without the agents that it
// carries, agent what it gives hosts of this machine's kind, and dir what all tests
// share.
var program, bare, agent, dir string

// The running kernel, where sshd and sudo can be: they are the machine's own.
func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	if why := missing(); why != "" {
		fmt.Fprintln(os.Stderr, "hosts with an sshd each: NOT RUN:", why)
		return m.Run() // each test says so too
	}
	var err error
	if dir, err = os.MkdirTemp("", "overssh"); err == nil {
		defer os.RemoveAll(dir)
		err = build()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// build builds the programs, as make does.
func build() error {
	program, bare = filepath.Join(dir, "linerate"), filepath.Join(dir, "bare")
	agent = filepath.Join(dir, "agents", "linerate-agent-linux-"+runtime.GOARCH+".gz")
	for _, args := range [][]string{
		{"../../../../deploy/package/agents", "dev"},
		{"../../../../deploy/package/agents", "dev", filepath.Dir(agent)},
		{"go", "build", "-trimpath", "-tags", "carry", "-ldflags", "-s -w", "-o", program, "github.com/linerate/linerate/cmd/linerate"},
		{"go", "build", "-trimpath", "-ldflags", "-s -w", "-o", bare, "github.com/linerate/linerate/cmd/linerate"},
	} {
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("build linerate: %w: %s", err, out)
		}
	}
	return nil
}

// long skips a test that only a proof has time for: make prove-fleetssh.
func long(t *testing.T) {
	t.Helper()
	longFor(t, "prove-fleetssh")
}

func longFor(t *testing.T, proof string) {
	t.Helper()
	if !proving() {
		t.Skip("a part of a proof: make " + proof)
	}
}

func proving() bool { return os.Getenv("PROVE_RUN") != "" }

// missing is why no host can be made here, "" where one can.
func missing() string {
	if os.Geteuid() != 0 {
		return "making a network namespace needs root"
	}
	for _, name := range []string{"/usr/sbin/sshd", "/usr/bin/sudo", "/usr/bin/ssh", "/usr/bin/ssh-keygen", "/usr/bin/unshare", "/usr/bin/nsenter"} {
		if _, err := os.Stat(name); err != nil {
			return "there is no " + name + ": make deps-ssh installs it"
		}
	}
	return ""
}
