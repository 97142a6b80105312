package scenariorun

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/linerate/linerate/internal/kernel/netns"
	"github.com/linerate/linerate/internal/kernel/sys"
	"github.com/linerate/linerate/internal/lab"
	"github.com/linerate/linerate/internal/lab/guest"
	"github.com/linerate/linerate/unit"
)

// nfsServer is the kernel's server on one host of the lab, which exports a
// directory in memory.
type nfsServer struct {
	host, dir string
	rollback  []func() error
}

// errNotOurs: a server's state is the machine's, so that a lab must have one of
// its own.
var errNotOurs = errors.New("an NFS server runs in a lab kernel only")

const (
	nfsState   = "/var/lib/nfs"
	nfsControl = "/proc/fs/nfsd"
	// nfsThreads serve more mounts than a scenario has.
	nfsThreads = "8"
	// grace is the least that a server waits for clients that had locks before.
	grace = "10"
)

// serveNFS starts the server, with a directory for each mount. What was begun
// is ended on any error; else the caller ends it.
func serveNFS(ctx context.Context, host string, mounts int, size unit.Bytes) (_ *nfsServer, err error) {
	if os.Getenv(guest.EnvGuest) == "" {
		return nil, errNotOurs
	}
	s := &nfsServer{host: host}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.end())
		}
	}()
	if s.dir, err = os.MkdirTemp("", "linerate-export-"); err != nil {
		return nil, fmt.Errorf("make export: %w", err)
	}
	s.later(func() error { return os.Remove(s.dir) })
	if err := s.mount("tmpfs", s.dir, fmt.Sprintf("size=%d", int64(size))); err != nil {
		return nil, err
	}
	if err := touchMemory(filepath.Join(s.dir, "touched"), size); err != nil {
		return nil, err
	}
	for i := range mounts {
		if err := os.Mkdir(filepath.Join(s.dir, lane(i)), 0o755); err != nil {
			return nil, fmt.Errorf("make export: %w", err)
		}
	}
	if err := s.state(); err != nil {
		return nil, err
	}
	return s, s.serve(ctx)
}

// touchMemory writes a file of that size in memory and removes it: a lab kernel's
// memory is given by the machine when it is first touched, a quarter of a second
// for 256 MiB that is not the copy's.
func touchMemory(name string, size unit.Bytes) (err error) {
	f, err := os.Create(name)
	if err != nil {
		return fmt.Errorf("touch memory: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close(), os.Remove(name)) }()
	block := make([]byte, fileBlock)
	for written := unit.Bytes(0); written+fileBlock <= size; written += fileBlock {
		if _, err := f.Write(block); err != nil {
			return fmt.Errorf("touch memory: %w", err)
		}
	}
	return nil
}

// lane is the directory of a mount, in the export and where it is mounted.
func lane(i int) string { return fmt.Sprintf("lane%d", i) }

func (s *nfsServer) later(f func() error) { s.rollback = append(s.rollback, f) }

// mount mounts in the server's namespace: the control files are of that one.
func (s *nfsServer) mount(kind, dir, options string) error {
	if err := s.inside(func() error { return sys.Mount(kind, dir, kind, options) }); err != nil {
		return err
	}
	s.later(func() error { return sys.Unmount(dir) })
	return nil
}

func (s *nfsServer) inside(f func() error) error { return netns.Named(lab.Namespace(s.host)).Do(f) }

// state is what the server's programs keep, in memory.
func (s *nfsServer) state() error {
	if err := s.mount("tmpfs", nfsState, ""); err != nil {
		return err
	}
	for _, name := range []string{"etab", "rmtab"} {
		if err := os.WriteFile(filepath.Join(nfsState, name), nil, 0o600); err != nil {
			return fmt.Errorf("make server's state: %w", err)
		}
	}
	for _, name := range []string{"sm", "v4recovery"} {
		if err := os.Mkdir(filepath.Join(nfsState, name), 0o700); err != nil {
			return fmt.Errorf("make server's state: %w", err)
		}
	}
	return s.mount("nfsd", nfsControl, "")
}

func (s *nfsServer) serve(ctx context.Context) error {
	// The way back must go on when ctx has ended.
	back := context.WithoutCancel(ctx)
	if err := runIn(ctx, s.host, "exportfs", "-o", "rw,no_root_squash,fsid=0,insecure,no_subtree_check", "*:"+s.dir); err != nil {
		return err
	}
	s.later(func() error { return runIn(back, s.host, "exportfs", "-ua") })
	answers, err := start(back, s.host, "rpc.mountd", "-F", "-N", "2", "-N", "3")
	if err != nil {
		return err
	}
	s.later(func() error { answers.end(); return nil })
	for _, name := range []string{"nfsv4leasetime", "nfsv4gracetime"} {
		if err := s.inside(func() error { return os.WriteFile(filepath.Join(nfsControl, name), []byte(grace), 0o600) }); err != nil {
			return fmt.Errorf("set server's grace period: %w", err)
		}
	}
	if err := runIn(ctx, s.host, "rpc.nfsd", "-N", "3", "-V", "4", nfsThreads); err != nil {
		return err
	}
	s.later(func() error { return runIn(back, s.host, "rpc.nfsd", "0") })
	return nil
}

// end takes everything back, the last first, whatever fails.
func (s *nfsServer) end() error {
	var errs []error
	for i := len(s.rollback) - 1; i >= 0; i-- {
		errs = append(errs, s.rollback[i]())
	}
	s.rollback = nil
	return errors.Join(errs...)
}

// runIn runs a program in a lab host until it ends.
func runIn(ctx context.Context, host, name string, args ...string) error {
	ctx, cancel := context.WithTimeout(ctx, slack)
	defer cancel()
	p, err := start(ctx, host, name, args...)
	if err != nil {
		return err
	}
	defer p.end()
	return p.wait(ctx)
}
