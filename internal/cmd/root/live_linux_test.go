package root

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"
)

// onTerminal is a terminal that a test looks at.
type onTerminal struct {
	end *os.File // ours; the program has the other
	mu  sync.Mutex
	*vt.Emulator
	all strings.Builder // what came, as it came
}

func (o *onTerminal) follow() {
	buffer := make([]byte, 4096)
	for {
		n, err := o.end.Read(buffer)
		o.mu.Lock()
		_, _ = o.Write(buffer[:n]) // an emulator takes everything
		o.all.Write(buffer[:n])
		o.mu.Unlock()
		if err != nil {
			return // the program is over
		}
	}
}

// lines are the screen's, without the blanks that lines end with.
func (o *onTerminal) lines() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	all := strings.Split(o.String(), "\n")
	for i, line := range all {
		all[i] = strings.TrimRight(line, " ")
	}
	return all
}

func (o *onTerminal) resize(t *testing.T, width, height int) {
	t.Helper()
	o.mu.Lock()
	o.Resize(width, height)
	o.mu.Unlock()
	if err := pty.Setsize(o.end, &pty.Winsize{Rows: uint16(height), Cols: uint16(width)}); err != nil {
		t.Fatal(err)
	}
}

// startOnTerminal runs linerate on a terminal of that size.
func startOnTerminal(t *testing.T, width, height int, args ...string) (*onTerminal, *exec.Cmd) {
	t.Helper()
	c := exec.Command("linerate", args...)
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); name != "CI" && name != "NO_COLOR" && name != "COLUMNS" && !strings.HasPrefix(name, "LC_") {
			c.Env = append(c.Env, v)
		}
	}
	c.Env = append(c.Env, "TERM=xterm", "LANG=C.UTF-8")
	end, err := pty.StartWithSize(c, &pty.Winsize{Rows: uint16(height), Cols: uint16(width)})
	if err != nil {
		t.Fatal(err)
	}
	o := &onTerminal{end: end, Emulator: vt.NewEmulator(width, height)}
	t.Cleanup(func() {
		_ = c.Process.Kill() // it may have ended
		_ = c.Wait()
		end.Close()
	})
	go o.follow()
	return o, c
}

// await waits until the screen has a line like that, and returns the screen.
func (o *onTerminal) await(t *testing.T, like string) []string {
	t.Helper()
	want := regexp.MustCompile(like)
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		all := o.lines()
		for _, line := range all {
			if want.MatchString(line) {
				return all
			}
		}
	}
	t.Fatalf("no line like %s:\n%s", like, strings.Join(o.lines(), "\n"))
	return nil
}

// once checks that the screen has one line like that.
func once(t *testing.T, all []string, like string) {
	t.Helper()
	found := 0
	for _, line := range all {
		if regexp.MustCompile(like).MatchString(line) {
			found++
		}
	}
	if found != 1 {
		t.Errorf("%d lines like %s, want one:\n%s", found, like, strings.Join(all, "\n"))
	}
}

// TestLiveOnTerminal: a measurement as somebody sees it in a small window that
// becomes a large one, and a small one again.
func TestLiveOnTerminal(t *testing.T) {
	o, c := startOnTerminal(t, 80, 24, "measure", shapedPair(t), "--streams", "2", "--directions", "forward,both", "--duration", "2500ms", "--ping-count", "3", "--no-loaded-latency")
	row := func(bar int) string {
		return fmt.Sprintf(`^a eth0 → [█▏▎▍▌▋▊▉·]{%d} +[\d.]+ Mbit/s +\d+ %%  streams 1-2$`, bar)
	}
	small := o.await(t, row(39))
	once(t, small, `^1/2 a to b forward, 2 streams: (warming up|measuring) \d+ s +\d+ s left$`)
	once(t, small, `^[\d.]+ Mbit/s of 95\.\d Mbit/s, \d+ %  [▁▂▃▄▅▆▇█]* +RTT [\d.]+ ms$`)
	once(t, small, `^b eth0 ← [█▏▎▍▌▋▊▉·]{39} +[\d.]+ Mbit/s`)
	for _, line := range small {
		if n := len([]rune(line)); n > 80 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	t.Logf("80x24:\n%s", strings.Join(small, "\n"))
	o.resize(t, 200, 60)
	o.await(t, `^2/2 a to b both, 2 streams: measuring`)
	large := o.await(t, `^b eth0 → [█▏▎▍▌▋▊▉·]{60} +[\d.]+ Mbit/s`)
	once(t, large, `^found: [a-z-]+: `)
	once(t, large, `^ +1/2 forward +2 streams +[\d.]+ Mbit/s +[\d.]+ % of 95\.\d Mbit/s  [a-z-]+$`)
	once(t, large, `^2/2 a to b both`)
	t.Logf("200x60:\n%s", strings.Join(large, "\n"))
	o.resize(t, 50, 14)
	once(t, o.await(t, `^b eth0 → .{0,30}[\d.]+ Mbit/s`), `^2/2 a to b both`)
	if err := c.Wait(); err != nil {
		t.Error(err)
	}
	time.Sleep(100 * time.Millisecond)
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.CursorHidden() {
		t.Error("the cursor is not back")
	}
	for _, query := range []string{"\x1b[c", "\x1b[6n", "\x1b[?1049h", "$p"} {
		if strings.Contains(o.all.String(), query) {
			t.Errorf("the terminal was asked, or taken over: %q", query)
		}
	}
}

// TestLiveInterrupted: Ctrl-C in the middle leaves what was measured, and the
// terminal as it was.
func TestLiveInterrupted(t *testing.T) {
	o, c := startOnTerminal(t, 80, 24, "measure", shapedPair(t), "--streams", "1", "--directions", "forward", "--duration", "20s", "--ping-count", "3", "--no-loaded-latency")
	o.await(t, `^a eth0 → `)
	if _, err := o.end.WriteString("\x03"); err != nil {
		t.Fatal(err)
	}
	if err := c.Wait(); err == nil || c.ProcessState.ExitCode() != 130 {
		t.Errorf("%v", err)
	}
	time.Sleep(100 * time.Millisecond)
	all := strings.Join(o.lines(), "\n")
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.CursorHidden() || strings.Contains(all, "a eth0 → ") || !strings.Contains(all, "interrupted") {
		t.Errorf("cursor hidden: %v\n%s", o.CursorHidden(), all)
	}
}

// TestLivePlain: who asks for plain lines gets no other.
func TestLivePlain(t *testing.T) {
	o, c := startOnTerminal(t, 80, 24, "measure", shapedPair(t), "--plain", "--streams", "1", "--directions", "forward", "--duration", "500ms", "--ping-count", "3", "--no-loaded-latency")
	if err := c.Wait(); err != nil {
		t.Error(err)
	}
	time.Sleep(100 * time.Millisecond)
	o.mu.Lock()
	defer o.mu.Unlock()
	if all := o.all.String(); strings.Contains(all, "\x1b") || !strings.Contains(all, "forward   1 stream") {
		t.Errorf("%q", all)
	}
}
