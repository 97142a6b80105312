package archtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// mostAgent is what the agent may have as a file, in bytes: it goes over the link to
// each host, and hosts have little room in /tmp.
const mostAgent = 8_000_000

// notInAgent is what the agent has no use for; each with all below it.
var notInAgent = []string{
	"fabric", "predict", "diagnose", "report", "internal/store", "internal/web", "internal/page", "internal/lab", "internal/run", "internal/tui",
	"internal/cmd", "internal/metrics", "internal/wanted", "internal/agent/fleet", "internal/agent/nats", "internal/evidence/paste",
	"net/http", "crypto/tls", "html/template", "github.com/nats-io", "github.com/spf13", "modernc.org", "github.com/jackc", "charm.land", "github.com/prometheus",
}

// A model that one host's own state needs is no judgement of a fabric.
var inAgent = []string{"fabric/yamldoc", "predict/tcp", "predict/framing", "predict/pcie"}

func TestAgentImports(t *testing.T) {
	out := goTool(t, "", "list", "-deps", "./cmd/linerate-agent")
	for _, pkg := range strings.Fields(out) {
		pkg = strings.TrimPrefix(pkg, "github.com/linerate/linerate/")
		if below(pkg, notInAgent) && !below(pkg, inAgent) {
			t.Errorf("cmd/linerate-agent imports %s, by one package or another: `go list -deps -f` says by which", pkg)
		}
	}
	if !strings.Contains(out, "internal/traffic/engine") {
		t.Error("it does not even measure")
	}
}

func below(pkg string, roots []string) bool {
	for _, root := range roots {
		if pkg == root || strings.HasPrefix(pkg, root+"/") {
			return true
		}
	}
	return false
}

func TestAgentSize(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: it builds the agents")
	}
	dir := t.TempDir()
	for _, arch := range []string{"amd64", "arm64"} {
		file := filepath.Join(dir, arch)
		goTool(t, arch, "build", "-trimpath", "-ldflags", "-s -w -buildid=", "-o", file, "./cmd/linerate-agent")
		info, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("linux/%s: %.2f MB", arch, float64(info.Size())/1e6)
		if info.Size() > mostAgent {
			t.Errorf("linux/%s: the agent has %d bytes, more than %d: `go tool nm -size -sort size` says what they are", arch, info.Size(), mostAgent)
		}
	}
}

func goTool(t *testing.T, arch string, args ...string) string {
	t.Helper()
	cmd := exec.Command("go", args...)
	cmd.Dir = "../.."
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux")
	if arch != "" {
		cmd.Env = append(cmd.Env, "GOARCH="+arch)
	}
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go %s: %v: %s", strings.Join(args, " "), err, failure(err))
	}
	return string(out)
}

func failure(err error) []byte {
	if exit, ok := err.(*exec.ExitError); ok {
		return exit.Stderr
	}
	return nil
}
