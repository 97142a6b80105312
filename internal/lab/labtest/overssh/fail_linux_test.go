package overssh

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/linerate/linerate/internal/lab/labtest/floor"
	"github.com/linerate/linerate/record"
)

// TestHostsThatFail: each is said in one line with the reason, the others are
// measured, and the record has it all.
func TestHostsThatFail(t *testing.T) {
	kinds := []struct {
		why   string // what its line says
		as    hosting
		reach string // with %d; "" is root's
	}{
		{"", hosting{}, ""}, {"", hosting{}, ""},
		{"cannot become root: sudo asks for a password", hosting{}, "{reach: \"ssh://bob@h%d\", become: sudo"},
		{"nothing may be run from (noexec) /tmp, /var/tmp", hosting{tmp: "noexec", varTmp: "noexec"}, ""},
		{"MB in /tmp, /var/tmp", hosting{tmp: "size=1m", varTmp: "size=2m"}, ""},
		{"it runs Linux on i686, and this linerate is for linux/amd64", hosting{machine: "i686"}, ""},
		{"the login is refused: carol@10.97.0.7: Permission denied (publickey)", hosting{}, "{reach: \"ssh://carol@h%d\""},
		{"its host key is not accepted: it is not in known_hosts", hosting{}, ""},
		{"its host key is not accepted: it is another one than before", hosting{}, ""},
		{"port 22: No route to host", hosting{}, "{reach: \"ssh://root@10.97.0.99\""},
	}
	if !proving() {
		kinds = kinds[:9] // it takes its time to see that nobody is there
	}
	var as []hosting
	for _, k := range kinds {
		as = append(as, k.as)
	}
	r := newRack(t, 0, as...)
	known := own(t, r.known())
	lines := strings.SplitAfter(known, "\n")
	other := strings.Replace(lines[0], r.hosts[0].addr.String(), r.hosts[8].addr.String(), 1)
	floor.Must(t, os.WriteFile(r.known(), []byte(strings.Join(lines[:7], "")+other+lines[9%len(kinds)]), 0o600))
	file := r.fabricFile("some", func(i int) string {
		if kinds[i-1].reach == "" {
			return fmt.Sprintf("{reach: \"ssh://root@h%d\"", i)
		}
		return strings.Replace(kinds[i-1].reach, "%d", fmt.Sprint(i), 1)
	})
	out := filepath.Join(r.path, "record.json")
	got := r.run("measure", file, "--duration", "500ms", "--ping-count", "1", "--no-loaded-latency", "-o", out)
	if got.status != 1 {
		t.Errorf("status %d, want 1", got.status)
	}
	text := unwrapped(got.err)
	for i, k := range kinds {
		name := fmt.Sprintf("h%d is left out", i+1)
		if n := strings.Count(text, name); (k.why == "") != (n == 0) || n > 1 {
			t.Errorf("h%d is said to be left out %d times", i+1, n)
		}
		if k.why == "" {
			continue
		}
		_, line, _ := strings.Cut(text, name)
		line, _, _ = strings.Cut(line, "\n")
		if !strings.Contains(line, k.why) {
			t.Errorf("h%d%s\nwant %q", i+1, line, k.why)
		}
		if want := fmt.Sprintf("h%d was tried again in vain: %d trials not measured", i+1, len(kinds)-1); !strings.Contains(text, want) {
			t.Errorf("it does not say: %s", want)
		}
	}
	var rec record.Record
	floor.Must(t, json.Unmarshal([]byte(own(t, out)), &rec))
	pairs := len(kinds) * (len(kinds) - 1) / 2
	if len(rec.Trials) != 1 || len(rec.Failures) != pairs-1 || rec.Failures[0].Reason != "unreachable" {
		t.Errorf("%d trials and %d failures, want 1 and %d: %+v", len(rec.Trials), len(rec.Failures), pairs-1, rec.Failures[0])
	}
	if t.Failed() {
		t.Log(got.err)
	}
	r.clean()
}

// unwrapped has each sentence on one line, however it was broken.
func unwrapped(text string) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "        ") && !strings.Contains(line, " is left out") && !strings.Contains(line, " was tried again") && out.Len() > 0 {
			s := strings.TrimRight(out.String(), "\n")
			out.Reset()
			out.WriteString(s + " " + strings.TrimSpace(line) + "\n")
			continue
		}
		out.WriteString(line)
	}
	return out.String()
}

// until is what a program says, and a channel that closes when it says a word.
type until struct {
	word string
	said chan struct{}
	text strings.Builder
}

func (u *until) Write(p []byte) (int, error) {
	before := strings.Contains(u.text.String(), u.word)
	u.text.Write(p)
	if !before && strings.Contains(u.text.String(), u.word) {
		close(u.said)
	}
	return len(p), nil
}

// measuring starts to measure three hosts, and returns when it has said a word.
func (r *rack) measuring(t *testing.T, word string) (end func() (record.Record, string, int)) {
	t.Helper()
	file := r.fabricFile("three", func(i int) string { return fmt.Sprintf("{reach: \"ssh://root@h%d\"", i) })
	cmd := r.command(t.Context(), "measure", file, "--duration", "1s", "--ping-count", "1", "--no-loaded-latency", "--json")
	said := &until{word: word, said: make(chan struct{})}
	var out strings.Builder
	cmd.Stderr, cmd.Stdout = said, &out
	floor.Must(t, cmd.Start())
	select {
	case <-said.said:
	case <-time.After(time.Minute):
		t.Errorf("in a minute it does not say: %s", word)
	}
	return func() (record.Record, string, int) {
		_ = cmd.Wait() // its status says it
		var rec record.Record
		if err := json.Unmarshal([]byte(out.String()), &rec); err != nil {
			t.Fatalf("%v\n%s", err, said.text.String())
		}
		return rec, said.text.String(), cmd.ProcessState.ExitCode()
	}
}

// TestHostComesBack: a host that is not there at first is measured at the end.
func TestHostComesBack(t *testing.T) {
	long(t)
	r := newRack(t, cable, make([]hosting, 3)...)
	floor.Must(t, r.spaces[2].Builder.Down("eth0"))
	end := r.measuring(t, "h3 is left out")
	floor.Must(t, r.spaces[2].Builder.Up("eth0"))
	rec, said, status := end()
	if status != 0 || len(rec.Trials) != 3 || len(rec.Failures) != 0 || !strings.Contains(said, "h3 is back") {
		t.Errorf("status %d, %d trials, %d failures\n%s", status, len(rec.Trials), len(rec.Failures), said)
	}
	r.clean()
}

// TestHostDies: a host that goes in the middle takes its own trials along only.
func TestHostDies(t *testing.T) {
	r := newRack(t, cable, make([]hosting, 3)...)
	end := r.measuring(t, "h1 to h2:") // the latency of the first pair
	r.hosts[2].stop()
	rec, said, status := end()
	if status != 1 || len(rec.Trials) != 1 || len(rec.Failures) < 2 || strings.Count(said, "h3 is left out from here on") != 1 {
		t.Errorf("status %d, %d trials, failures %+v\n%s", status, len(rec.Trials), rec.Failures, said)
	}
	for _, f := range rec.Failures {
		if f.From != "h3" && f.To != "h3" {
			t.Errorf("%s to %s failed too: %s", f.From, f.To, f.Error)
		}
	}
	r.hosts = r.hosts[:2]
	r.clean()
}
