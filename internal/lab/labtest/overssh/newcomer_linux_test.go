package overssh

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/linerate/linerate/internal/agent/nats/testcluster"
	"github.com/linerate/linerate/internal/docpage"
	"github.com/linerate/linerate/internal/lab/labtest/floor"
)

// short keeps the trials of a newcomer's command short; what is typed stays the page's.
var short = []string{"--duration", "500ms", "--ping-count", "3", "--no-loaded-latency"}

// section is what a page says between two headings, with its addresses replaced.
func section(t *testing.T, page, from, to string, names ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "docs", page))
	floor.Must(t, err)
	_, part, found := strings.Cut(string(text), from)
	part, _, ended := strings.Cut(part, to)
	if !found || !ended {
		t.Fatalf("%s has no section from %s to %s", page, from, to)
	}
	return strings.NewReplacer(names...).Replace(part)
}

// limited is what the answer to a cable of 100 Mbit/s of unknown speed must name.
func limited(t *testing.T, about, answer string) {
	t.Helper()
	if !strings.Contains(answer, "shaper") && !strings.Contains(answer, "line-rate") {
		t.Errorf("%s names no limit of the cable:\n%s", about, answer)
	}
}

// TestNewcomerBySSH types the two commands that docs/start.md gives for two servers, at
// a desk that has only ssh to them: the second says what limits them.
func TestNewcomerBySSH(t *testing.T) {
	r := newRack(t, cable, hosting{}, hosting{})
	commands := docpage.Commands(section(t, "start.md", "## Two servers", "## Cloud", "192.0.2.11", "h1", "192.0.2.12", "h2"))
	if len(commands) != 2 {
		t.Fatalf("the page has %d commands: %q", len(commands), commands)
	}
	for i, words := range commands {
		if words[0] == "measure" {
			words = append(words, short...)
		}
		got := r.run(words...)
		if got.status != 0 {
			t.Fatalf("linerate %s: status %d\n%s%s", strings.Join(words, " "), got.status, got.out, got.err)
		}
		limited(t, commands[i][0], got.out)
	}
	r.clean()
}

// TestNewcomerWithAFleet types the lines of docs/fleet.md, from no server to a measured
// pair. The hosts have an /etc of their own; at the desk what is written goes into a
// directory of the test's.
func TestNewcomerWithAFleet(t *testing.T) {
	r := newRack(t, cable, hosting{disk: true}, hosting{disk: true})
	b := &onBus{r: r, state: filepath.Join(r.path, "serve"), eve: filepath.Join(r.path, "eve")}
	lines := section(t, "fleet.md", "## From nothing to a measured pair\n\n```\n", "```", "192.0.2.1:4222", busAt, "|\n", "| ")
	agents := 0
	for line := range strings.Lines(lines) {
		line, _, _ = strings.Cut(line, "   #")
		_, typed, _ := strings.Cut(line, "linerate ")
		typed, into, piped := strings.Cut(typed, "|")
		words := strings.Fields(typed)
		switch {
		case piped && strings.Contains(into, "root@db1 linerate enroll -"):
			for i, h := range r.hosts { // once for each host
				name := []string{"db1", "db2"}[i]
				floor.Must(t, copyFile(program, filepath.Join(h.root, agentProgram)))
				b.enroll(t, h.run("enroll", "-"), strings.Fields(strings.ReplaceAll(typed, "db1", name))[2:]...)
			}
		case piped && strings.HasSuffix(strings.TrimSpace(into), "linerate enroll -"):
			b.enroll(t, b.desk("enroll", "-", "--dir", b.eve), words[2:]...)
		case words[0] == "serve":
			b.start(t, words...)
		case words[0] == "agent":
			for _, h := range r.hosts {
				cmd := h.run(words...)
				var log testcluster.Text
				cmd.Stderr = &log
				floor.Must(t, cmd.Start())
				t.Cleanup(func() { // nsenter waits for the agent and hands no signal on
					_ = syscall.Kill(childOf(cmd.Process.Pid), syscall.SIGTERM)
					_ = cmd.Wait()
				})
				awaitWord(t, &log, "msg=answering host=db")
				agents++
			}
		case words[0] == "measure":
			got := b.measure(append(words, short...)...)
			if got.status != 0 || agents != 2 {
				t.Fatalf("%s: status %d, %d agents\n%s%s", typed, got.status, agents, got.out, got.err)
			}
			limited(t, typed, got.out)
			return
		default:
			t.Fatalf("the test does not know the line %q", line)
		}
	}
	t.Error("the page's lines do not end with a measured pair")
}
