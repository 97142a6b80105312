package root

import (
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/kernel/netns"
	"github.com/linerate/linerate/internal/lab"
)

// TestMain makes `linerate` a command of the scripts, and of the guards that
// changes of the scripts start.
func TestMain(m *testing.M) {
	if os.Getenv("LINERATE_GUARD") != "" {
		os.Exit(Run(console.System("test"), os.Args[1:]))
	}
	testscript.Main(m, map[string]func(){
		"linerate": func() { os.Exit(Run(console.System("test"), os.Args[1:])) },
	})
}

// TestScript runs the command lines of testdata/script as users meet them, in
// processes of their own.
func TestScript(t *testing.T) {
	program, err := exec.LookPath("linerate")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			env.Setenv("BIN", filepath.Dir(program))
			return nil
		},
		Condition: condition,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits, "listening": listening, "namespace": namespace,
		},
	})
}

// condition knows, beside testscript's own, [root] and [hostlab]: the running
// kernel can be the lab.
func condition(name string) (bool, error) {
	switch name {
	case "root":
		return os.Getuid() == 0, nil
	case "hostlab":
		_, err := lab.Choose(lab.Local)
		return err == nil, nil
	}
	return false, errors.New("unknown condition " + name)
}

// namespace makes a network namespace that goes with the script.
func namespace(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: namespace NAME")
	}
	ts.Defer(func() { _ = netns.Delete(args[0]) })
	_ = netns.Delete(args[0]) // of a test that was killed
	_, err := netns.Create(args[0])
	ts.Check(err)
}

// listening waits until somebody listens there: listening 127.0.0.1:5298.
func listening(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: listening HOST:PORT")
	}
	for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		connection, err := net.DialTimeout("tcp", args[0], time.Second)
		if err == nil {
			ts.Check(connection.Close())
			return
		}
		if time.Now().After(end) {
			ts.Fatalf("nobody listens after a minute: %v", err)
		}
	}
}

// exits runs a command that must end with the status: exits 2 linerate demo.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits STATUS COMMAND [ARG...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("run %s: %v", args[1], err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("%q ended with status %d, want %d", args[1:], got, want)
	}
}
