package root

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
)

// TestShellsComplete has each shell that is here read the completion that the program
// prints for it, and complete a command, a flag's values and a format by it.
func TestShellsComplete(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: shells are typed into")
	}
	dir := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, filepath.Join(dir, "linerate")); err != nil {
		t.Fatal(err)
	}
	for shell, c := range map[string]struct {
		script string // what is written, and as what
		check  []string
		types  string // lines that complete
	}{
		"fish": {"linerate.fish", []string{"-n"}, "source linerate.fish; complete -C 'linerate me'; complete -C 'linerate measure --tool i'; complete -C 'linerate render --to net'\nexit\n"},
		"zsh":  {"_linerate", []string{"-n"}, "fpath=($PWD $fpath); autoload -U compinit; compinit -D -u; LISTMAX=0\nlinerate me\t\x15linerate measure --tool i\t\t\x15linerate render --to net\t\t\x15exit\n"},
	} {
		t.Run(shell, func(t *testing.T) {
			path, err := exec.LookPath(shell)
			if err != nil {
				t.Skip("no " + shell + " here: make deps-config")
			}
			o := run(t, "", "completion", shell)
			script := filepath.Join(dir, c.script)
			if err := os.WriteFile(script, []byte(o.stdout), 0o600); err != nil {
				t.Fatal(err)
			}
			if out, err := exec.Command(path, append(c.check, script)...).CombinedOutput(); err != nil {
				t.Fatalf("%s: %v\n%s", shell, err, out)
			}
			got := typeInto(t, dir, path, c.types)
			for _, want := range []string{"measure", "iperf2", "iperf3", "netplan", "networkd"} {
				if !strings.Contains(got, want) {
					t.Errorf("%s does not offer %s:\n%s", shell, want, got)
				}
			}
		})
	}
}

// typeInto types into a shell on a terminal and is what that shows.
func typeInto(t *testing.T, dir, shell, text string) string {
	t.Helper()
	cmd := exec.Command(shell, map[bool]string{true: "-f", false: "--no-config"}[filepath.Base(shell) == "zsh"])
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "HOME="+dir, "TMPDIR="+dir, "TERM=dumb")
	terminal, err := pty.Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	defer terminal.Close()
	ended := make(chan string)
	go func() {
		var out strings.Builder
		part := make([]byte, 4096)
		for {
			n, err := terminal.Read(part)
			out.Write(part[:n])
			if err != nil {
				ended <- out.String()
				return
			}
		}
	}()
	for _, piece := range strings.SplitAfter(text, "\n") {
		for _, key := range strings.SplitAfter(piece, "\t") {
			time.Sleep(700 * time.Millisecond)
			if _, err := terminal.WriteString(key); err != nil {
				break
			}
		}
	}
	select {
	case got := <-ended:
		_ = cmd.Wait()
		return got
	case <-time.After(20 * time.Second):
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		return <-ended
	}
}
