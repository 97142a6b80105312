package store

import (
	"context"
	"database/sql"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// cluster is a PostgreSQL of the tests' own, in a directory of its own, that
// listens on loopback alone.
type cluster struct {
	url, dir string
	mu       sync.Mutex
	made     int
}

// startCluster starts Debian's PostgreSQL as whoever may run it: it refuses root.
func startCluster(tb testing.TB, settings ...string) *cluster {
	tb.Helper()
	bin := postgresPrograms()
	if bin == "" {
		if os.Getenv("CI") != "" {
			tb.Fatal("no PostgreSQL in /usr/lib/postgresql: make deps-store installs it")
		}
		tb.Skip("no PostgreSQL in /usr/lib/postgresql: make deps-store installs it")
	}
	dir, err := os.MkdirTemp("", "linerate-postgres-")
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = os.RemoveAll(dir) })
	as, err := unprivileged(dir)
	if err != nil {
		tb.Fatal(err)
	}
	data := filepath.Join(dir, "data")
	do := func(program string, args ...string) {
		cmd := exec.Command(filepath.Join(bin, program), args...)
		cmd.SysProcAttr, cmd.Dir, cmd.Env = as, dir, []string{"LC_ALL=C.UTF-8", "HOME=" + dir}
		if out, err := cmd.CombinedOutput(); err != nil {
			tb.Fatalf("%s: %v\n%s", program, err, out)
		}
	}
	do("initdb", "--pgdata", data, "--username", "linerate", "--auth", "trust", "--encoding", "UTF8", "--no-sync")
	port := freePort(tb)
	c := &cluster{dir: dir, url: fmt.Sprintf("postgres://linerate@127.0.0.1:%d/", port)}
	args := []string{"-D", data, "-p", strconv.Itoa(port), "-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=" + dir}
	for _, s := range settings {
		args = append(args, "-c", s)
	}
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		tb.Fatal(err)
	}
	server := exec.Command(filepath.Join(bin, "postgres"), args...)
	as.Pdeathsig = syscall.SIGINT // also when the test is killed
	server.SysProcAttr, server.Dir, server.Env, server.Stdout, server.Stderr = as, dir, []string{"LC_ALL=C.UTF-8"}, log, log
	if err := server.Start(); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		_ = server.Process.Signal(syscall.SIGINT) // fast shutdown
		_ = server.Wait()
		_ = log.Close()
	})
	c.wait(tb)
	return c
}

// wait returns when the server answers.
func (c *cluster) wait(tb testing.TB) {
	tb.Helper()
	var err error
	for range 300 {
		var s *Store
		if s, err = Open(context.Background(), Config{Place: c.url + "postgres", Create: true}); err == nil {
			_ = s.Close()
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	log, _ := os.ReadFile(filepath.Join(c.dir, "log"))
	tb.Fatalf("PostgreSQL does not answer: %v\n%s", err, log)
}

// database makes an empty one, and returns its URL.
func (c *cluster) database(tb testing.TB) string {
	tb.Helper()
	c.mu.Lock()
	c.made++
	name := fmt.Sprintf("store%d", c.made)
	c.mu.Unlock()
	c.sql(tb, "CREATE DATABASE "+name)
	return c.url + name
}

// sql runs one statement as the database's owner.
func (c *cluster) sql(tb testing.TB, statement string) {
	tb.Helper()
	execute(tb, c.url+"postgres", statement)
}

// execute runs one statement against a store's database, past the store.
func execute(tb testing.TB, place, statement string, args ...any) {
	tb.Helper()
	open := func(place string) (*sql.DB, backEnd, error) { return openPostgres(place, silence) }
	if !IsURL(place) {
		open = func(place string) (*sql.DB, backEnd, error) { return openSQLite(place, true) }
	}
	db, _, err := open(place)
	if err != nil {
		tb.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(statement, args...); err != nil {
		tb.Fatalf("%s: %v", statement, err)
	}
}

// postgresPrograms is the directory of the newest PostgreSQL; "" none is there.
func postgresPrograms() string {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	slices.SortFunc(found, func(a, b string) int { return release(a) - release(b) })
	if len(found) == 0 {
		return ""
	}
	return filepath.Dir(found[len(found)-1])
}

func release(program string) int {
	n, _ := strconv.Atoi(strings.Split(program, "/")[4])
	return n
}

// unprivileged is how to run as a user whom PostgreSQL accepts, who is given
// the directory.
func unprivileged(dir string) (*syscall.SysProcAttr, error) {
	if os.Getuid() != 0 {
		return &syscall.SysProcAttr{}, nil
	}
	who, err := user.Lookup("postgres")
	if err != nil {
		if who, err = user.Lookup("nobody"); err != nil {
			return nil, err
		}
	}
	uid, err := strconv.Atoi(who.Uid)
	if err != nil {
		return nil, err
	}
	gid, err := strconv.Atoi(who.Gid)
	if err != nil {
		return nil, err
	}
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}, os.Chown(dir, uid, gid)
}

func freePort(tb testing.TB) int {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}
