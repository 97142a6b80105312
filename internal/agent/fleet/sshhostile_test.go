//go:build unix

package fleet

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// A far side of any kind costs a bounded time and a bounded number of bytes, and
// is one line: whoever waits for it has other hosts.
func TestHostileFarSides(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: it takes seconds")
	}
	hello := "echo '" + mark + "system '$(uname -sm); echo '" + mark + "end'; read what room bytes want; echo '" + mark + "send /tmp/x'; "
	for name, c := range map[string]struct {
		body string
		want error
		said string
	}{
		"a line without end (attack 8)":       {"exec cat /dev/zero", ErrUnreachable, "its login shell prints without end"},
		"lines without end":                   {"exec yes", ErrUnreachable, "its login shell prints without end"},
		"our words without end":               {"exec yes '" + mark + "system x'", ErrUnreachable, "its login shell prints without end"},
		"our word without end":                {"printf '" + mark + "system '; exec cat /dev/zero", ErrUnreachable, "its login shell prints without end"},
		"a drop now and then":                 {"while echo; do sleep 0.1; done", ErrUnreachable, "its shell did not answer for"},
		"a word now and then":                 {"while echo '" + mark + "system x'; do sleep 0.3; done", ErrUnreachable, "its shell did not answer for"},
		"silence of a child":                  {"sleep 60; :", ErrUnreachable, "its shell did not answer for"},
		"words of error without end":          {"cat /dev/zero >&2", ErrUnreachable, "its shell did not answer for"},
		"a stall while copied (attack 9)":     {hello + "exec sleep 60", ErrCopy, "it stopped reading while linerate was copied"},
		"a stall of a child while copied":     {hello + "sleep 60; :", ErrCopy, "it stopped reading while linerate was copied"},
		"a sip now and then while copied":     {hello + "while head -c 4096 >/dev/null; do sleep 0.1; done", ErrCopy, "it stopped reading while linerate was copied"},
		"refusals without end":                {"echo '" + mark + "system '$(uname -sm); echo '" + mark + "end'; read what; exec yes '" + mark + "full /tmp'", ErrCopy, "no room"},
		"an agent that says nothing":          {hello + "head -c 4194304 >/dev/null; echo '" + mark + "ready'; exec sleep 60", ErrUnreachable, "its agent did not answer for"},
		"an agent whose answer never ends":    {hello + "head -c 4194304 >/dev/null; echo '" + mark + "ready'; exec cat /dev/zero", ErrUnreachable, ""},
		"an agent of empty things by the ton": {hello + "head -c 4194304 >/dev/null; echo '" + mark + "ready'; " + `printf '{"id":1,"result":['; yes '{},' | head -n 1000000 | tr -d '\n'; echo '0]}'; exec sleep 60`, ErrUnreachable, ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			program := filepath.Join(dir, "program")
			for file, text := range map[string]string{program: strings.Repeat("x", 4<<20), filepath.Join(dir, "ssh"): "#!/bin/bash\ncase $* in *-G*) exit;; esac\n" + c.body + "\n"} {
				if err := os.WriteFile(file, []byte(text), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
			// Bytes end what has no end, however busy this machine is; time ends the rest.
			answer := 500 * time.Millisecond
			if strings.Contains(name, "without end") || strings.Contains(name, "never ends") || strings.Contains(name, "by the ton") {
				answer = 20 * time.Second
			}
			if name == "words of error without end" {
				answer = time.Second
			}
			shared := &SSH{Program: program, Dir: dir, most: &sshLimits{answer: answer, all: 4 * answer, bytes: 1 << 20, words: 64, rate: 1 << 20}}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			begin := time.Now()
			h, err := Dial(t.Context(), "h", "ssh://h.invalid", Config{SSH: shared})
			took := time.Since(begin)
			runtime.ReadMemStats(&after)
			if err == nil {
				h.Close()
			}
			if !errors.Is(err, c.want) || !strings.Contains(fmt.Sprint(err), c.said) || strings.Contains(fmt.Sprint(err), "\n") || len(fmt.Sprint(err)) > 400 {
				t.Errorf("it says: %.500v", err)
			}
			if took > 90*time.Second {
				t.Errorf("it took %v", took)
			}
			if grown := (after.TotalAlloc - before.TotalAlloc) >> 20; grown > 300 {
				t.Errorf("it took %d MB", grown)
			}
		})
	}
}
