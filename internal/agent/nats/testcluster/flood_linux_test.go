package testcluster_test

import (
	"bufio"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/agent/nats/link"
	"github.com/linerate/linerate/internal/agent/nats/testcluster"
)

// TestConnectionFlood: connections that never say who they are take, but for
// a moment, no file that the server needs for what it keeps; who is let in is served when they have gone.
func TestConnectionFlood(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: it takes seconds")
	}
	const files = 1024
	if os.Getenv("LINERATE_TEST_FLOODED") != "" {
		limit := syscall.Rlimit{Cur: files, Max: files}
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
			t.Fatal(err)
		}
		s := testcluster.Start(t, slog.New(slog.DiscardHandler))
		who := s.As(t, "eve", agentapi.RoleWatch)
		fmt.Printf("\nserves %s %s %s\n", s.URL, who.Creds, who.CA)
		_, _ = io.Copy(io.Discard, os.Stdin) // until the test ends
		return
	}
	server := exec.Command(os.Args[0], "-test.run=^TestConnectionFlood$")
	server.Env = append(os.Environ(), "LINERATE_TEST_FLOODED=1")
	in, err := server.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = in.Close()
		_ = server.Wait()
	}()
	var said []string
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if said = strings.Fields(lines.Text()); len(said) == 4 && said[0] == "serves" {
			break
		}
	}
	if len(said) != 4 {
		t.Fatal("no server")
	}
	at, err := url.Parse(said[1])
	if err != nil {
		t.Fatal(err)
	}
	var silent []net.Conn
	for range 2 * files {
		c, err := net.Dial("tcp", at.Host)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		silent = append(silent, c)
	}
	// Those that are too many are closed, not at once; the others may take ten seconds to
	// say something.
	open := files
	for end := time.Now().Add(6 * time.Second); open > files/2 && time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		list, err := os.ReadDir(filepath.Join("/proc", fmt.Sprint(server.Process.Pid), "fd"))
		if err != nil {
			t.Fatal(err)
		}
		open = len(list)
	}
	if open > files/2 {
		t.Errorf("the server has %d of %d files open", open, files)
	}
	for _, c := range silent {
		_ = c.Close()
	}
	c, err := link.Connect(t.Context(), link.Config{URL: said[1], Creds: said[2], CA: said[3]})
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
}
