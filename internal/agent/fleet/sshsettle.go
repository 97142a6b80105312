package fleet

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// far is what a far shell said of its host.
type far struct {
	system, machine string // as uname -sm prints them
	user            string
	program         string // the linerate on its path; "" is none
	sum, version    string // of that program
	connection      string // SSH_CONNECTION
}

// settle comes to an agent at the other end: the linerate that is there when it
// is this one, else a copy.
func (p *sshProcess) settle(to sshReach, cfg Config) error {
	there, err := p.greeting(to)
	if err != nil {
		return err
	}
	p.managedAt = serverOf(there.connection)
	ours, err := cfg.SSH.program(there)
	if err != nil && there.program == "" {
		return err
	}
	word := "run"
	switch {
	case err != nil:
		word = "old" // its protocol is looked at by Hello
	case there.sum != ours.sum && !sameRelease(there.version, cfg.Version):
		return p.copy(to, ours)
	default:
		ours.file.Close()
	}
	_, err = fmt.Fprintln(p.in, word)
	if err != nil {
		return p.gone(to)
	}
	return nil
}

// sameRelease reports a program of our version, where a version names one
// program: builds between releases are told apart by their checksums.
func sameRelease(theirs, ours string) bool {
	_, theirs, _ = strings.Cut(theirs, "version ")
	return theirs == ours && strings.HasPrefix(ours, "v") && !strings.ContainsAny(ours, "-+")
}

// greeting reads what the far shell says of its host.
func (p *sshProcess) greeting(to sshReach) (far, error) {
	var f far
	for {
		key, value, err := p.line(to)
		if err != nil {
			return f, err
		}
		switch key {
		case "system":
			f.system, f.machine, _ = strings.Cut(value, " ")
		case "user":
			f.user = value
		case "connection":
			f.connection = value
		case "program":
			f.program = value
		case "sum":
			f.sum = value
		case "version":
			f.version = value
		case "end":
			return f, nil
		}
	}
}

// ours is a line of the far script taken apart, and whether it is one: a login
// shell may print a page before.
func ours(line string) (key, value string, ok bool) {
	if line, ok = strings.CutPrefix(line, mark); !ok {
		return "", "", false
	}
	key, value, _ = strings.Cut(plain(line), " ")
	return key, value, true
}

// gone is why ssh ended before there was an agent.
func (p *sshProcess) gone(to sshReach) error {
	if err := to.refused(p.lastWords()); err != nil {
		return err
	}
	return fmt.Errorf("%w: ssh ended without a word (is there a shell for this user?)", ErrUnreachable)
}

// copy sends the program and waits until the far side has it whole.
func (p *sshProcess) copy(to sshReach, ours program) error {
	defer ours.file.Close()
	const spare = 1 << 20 // what the agent writes beside
	if _, err := fmt.Fprintln(p.in, "copy", (ours.size+spare)>>10, ours.size, ours.sum); err != nil {
		return p.gone(to)
	}
	var full, noexec, denied []string
	for {
		key, value, err := p.line(to)
		switch {
		case err != nil && len(full)+len(noexec)+len(denied) > 0:
			return noPlace(full, noexec, denied, ours.size)
		case err != nil:
			return err
		}
		switch key {
		case "full":
			full = append(full, value)
		case "noexec":
			noexec = append(noexec, value)
		case "denied":
			denied = append(denied, value)
		case "send":
			if err := p.send(ours.file, ours.size); errors.Is(err, ErrCopy) {
				return err
			} // else the far side says why, or its silence does
		case "ready":
			return nil
		case "bad":
			if len(full) > 0 {
				return noPlace(full, nil, nil, ours.size)
			}
			return fmt.Errorf("%w: what arrived there is not what was sent", ErrCopy)
		}
	}
}

// noPlace says where a program could not be put, and why.
func noPlace(full, noexec, denied []string, size int64) error {
	var why []string
	for _, w := range []struct {
		what string
		dirs []string
	}{
		{fmt.Sprintf("no room for %d MB in", (size+999_999)/1_000_000), full},
		{"nothing may be run from (noexec)", noexec},
		{"no directory can be made in", denied},
	} {
		if len(w.dirs) > 0 {
			why = append(why, w.what+" "+strings.Join(slices.Compact(w.dirs), ", "))
		}
	}
	return fmt.Errorf("%w: %s", ErrCopy, strings.Join(why, "; "))
}

// program is a linerate to send.
type program struct {
	file *os.File
	size int64
	sum  string // sha256, as sha256sum prints it
}

// program opens the linerate for a host: this very program, or one from the
// directory of those for other systems. It is the caller's to close.
func (s *SSH) program(f far) (program, error) {
	system := goSystem(f.system, f.machine)
	path, dir := "", ""
	if s != nil {
		path, dir = s.Program, s.Binaries
	}
	switch own := runtime.GOOS + "/" + runtime.GOARCH; {
	case system == own && path != "":
	case system == own:
		path = ownProgram()
	default:
		name := "linerate-" + strings.ReplaceAll(system, "/", "-")
		if path = filepath.Join(dir, name); dir == "" {
			return program{}, fmt.Errorf("%w: it runs %s on %s, and this linerate is for %s", ErrNoProgram, f.system, f.machine, own)
		}
		if _, err := os.Stat(path); err != nil {
			return program{}, fmt.Errorf("%w: it runs %s on %s, and %s has no %s", ErrNoProgram, f.system, f.machine, dir, name)
		}
	}
	return openProgram(path)
}

func openProgram(path string) (program, error) {
	file, err := os.Open(path)
	if err != nil {
		return program{}, fmt.Errorf("open the linerate to copy: %w", err)
	}
	sum := sha256.New()
	size, err := io.Copy(sum, file)
	if err == nil {
		_, err = file.Seek(0, io.SeekStart)
	}
	if err != nil {
		file.Close()
		return program{}, fmt.Errorf("read the linerate to copy: %w", err)
	}
	return program{file, size, hex.EncodeToString(sum.Sum(nil))}, nil
}

// ownProgram is the running program, also when its file has been replaced.
func ownProgram() string {
	const self = "/proc/self/exe"
	if _, err := os.Stat(self); err == nil {
		return self
	}
	path, err := os.Executable()
	if err != nil {
		return os.Args[0]
	}
	return path
}

// goSystem is what uname prints as Go names it: "Linux", "x86_64" is
// linux/amd64. A machine that is not in the table keeps its name.
func goSystem(system, machine string) string {
	system = strings.ToLower(system)
	if system == "aix" {
		return "aix/ppc64" // its machine is a serial number
	}
	switch arch := map[string]string{
		"x86_64": "amd64", "aarch64": "arm64", "i386": "386", "i486": "386", "i586": "386", "i686": "386",
		"armv6l": "arm", "armv7l": "arm", "powerpc64": "ppc64", "powerpc64le": "ppc64le",
	}[machine]; arch {
	case "":
		return system + "/" + machine
	default:
		return system + "/" + arch
	}
}
