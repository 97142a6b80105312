package fleet

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/linerate/linerate/internal/kernel/process"
)

// SSH is what the ssh connections of one run share. The zero SSH is ready to
// use, and safe for many goroutines; Close ends what is left of them.
type SSH struct {
	// Program is the linerate that hosts of our own system are given; "" is an
	// agent of Binaries or Agents, or this program.
	Program string
	// Binaries is a directory with linerate-agent-linux-arm64.gz and so on, or with
	// linerate-linux-arm64, for hosts of other systems; "" is none.
	Binaries string
	// Agents is the agent that this program carries for a system, as Go names it
	// ("linux/arm64") and as gzip packs it; nil where it carries none.
	Agents func(system string) []byte
	// Dir is where the directory for control sockets is made; "" is the system's
	// for temporary files.
	Dir string

	most *sshLimits // nil is usualLimits

	mu      sync.Mutex
	own     string     // holds the sockets; "" until the first connection
	masters [][]string // arguments that name each
	copies  copies
}

// limits are those of each connection; a nil SSH has the usual ones.
func (s *SSH) limits() sshLimits {
	if s == nil || s.most == nil {
		return usualLimits
	}
	return *s.most
}

// persist is how long OpenSSH keeps a connection that nobody uses: a run that
// was killed leaves none longer.
const persist = "30"

// control are the options by which the connections of a run to one host are
// one (ControlMaster, ssh_config(5)): hosts are reached more than once, and
// logging in may take long. A user who has arranged that already is left alone:
// that connection may be the only one that got past a second factor.
func (s *SSH) control(ctx context.Context, to sshReach) []string {
	if userShares(ctx, to) {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.make() {
		return nil // every connection is one of its own
	}
	path := filepath.Join(s.own, "%C")
	options := []string{"-o", "ControlMaster=auto", "-o", "ControlPath=" + path, "-o", "ControlPersist=" + persist}
	end := append([]string{"-o", "ControlPath=" + path, "-O", "exit"}, to.arguments()...)
	if !slices.ContainsFunc(s.masters, func(m []string) bool { return slices.Equal(m, end) }) {
		s.masters = append(s.masters, end)
	}
	return options
}

// longestDir is what a directory's path may have for sockets in it: 108 bytes
// (unix(7)) less OpenSSH's name, which is %C, 40 digits, and 17 more while it is
// made, and two ends.
const longestDir = 108 - 40 - 17 - 2

// make makes the directory for the sockets, its owner's alone, where their names
// are short enough.
func (s *SSH) make() bool {
	for _, in := range []string{s.Dir, "/tmp"} {
		if s.own != "" {
			break
		}
		dir, err := os.MkdirTemp(in, "lr")
		switch {
		case err != nil:
		case len(dir) > longestDir:
			_ = os.Remove(dir) // empty, and ours
		default:
			s.own = dir
		}
	}
	return s.own != ""
}

// userShares reports whether the user's own configuration shares connections to
// the host.
func userShares(ctx context.Context, to sshReach) bool {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	ask := exec.CommandContext(ctx, "ssh", append([]string{"-G"}, to.arguments()...)...)
	ask.WaitDelay = time.Second // a program of the user's configuration (Match exec) may outlive it
	out, err := process.Await(ctx, ask.Output)
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(out)) {
		if value, ok := strings.CutPrefix(strings.TrimSpace(line), "controlpath "); ok && value != "none" {
			return true
		}
	}
	return false
}

// Close ends the connections that nobody uses any more and removes their
// sockets. A nil SSH has none.
func (s *SSH) Close() error {
	if s == nil {
		return nil
	}
	s.copies.drop()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.own == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	var ending sync.WaitGroup
	for _, args := range s.masters {
		ending.Go(func() { _, _ = process.Await(ctx, exec.CommandContext(ctx, "ssh", args...).Output) }) // one that is gone has ended
	}
	ending.Wait()
	err := os.RemoveAll(s.own)
	s.own, s.masters = "", nil
	return err
}
