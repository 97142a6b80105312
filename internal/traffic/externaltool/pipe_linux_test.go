package externaltool

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/linerate/linerate/internal/agent/agentapi"
)

// TestPipeKept: a client whose child, in a session of its own, keeps its output open is
// over when the client is.
func TestPipeKept(t *testing.T) {
	setsid, err := exec.LookPath("setsid")
	if err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	child := filepath.Join(dir, "child")
	script := "#!/bin/sh\n[ \"$1\" = -v ] && { echo iperf version 2.1.9; exit 1; }\n" + setsid + " sh -c 'echo $$ >" + child + "; exec sleep 30' &\nsleep 0.2\n"
	if err := os.WriteFile(filepath.Join(dir, "iperf"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	defer func() {
		text, _ := os.ReadFile(child)
		if pid, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}()
	r := New(Config{})
	defer r.Close()
	if _, err := r.Start(t.Context(), sending(5001)); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	_, err = r.End(t.Context(), agentapi.SessionRequest{Session: "out"})
	if took := time.Since(began); took > 5*time.Second || err == nil || !strings.Contains(err.Error(), "reported nothing") {
		t.Errorf("it ended after %v: %v", took, err)
	}
}
