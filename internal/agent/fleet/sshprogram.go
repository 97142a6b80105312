package fleet

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// packing is how agents are packed that this program carries or finds beside it, as
// the far shell names it.
const packing = "gzip"

// program is a linerate, or an agent alone, to send.
type program struct {
	size   int64  // on the host
	sum    string // sha256, as sha256sum prints it
	packed []byte // gzip of it; nil is not packed
	path   string // its file, where it is not packed
}

// plain reads the program as it is to be on the host. What cannot be read any more
// ends early, and the far side finds that by the sum.
func (p program) plain() io.ReadCloser {
	if p.packed != nil {
		if r, err := gzip.NewReader(bytes.NewReader(p.packed)); err == nil {
			return r
		}
	} else if f, err := os.Open(p.path); err == nil {
		return f
	}
	return io.NopCloser(strings.NewReader(""))
}

// program is what a host is given: an agent of its system that stands among the
// binaries, or that this program carries, else a whole linerate.
func (s *SSH) program(f far) (program, error) {
	system, own := goSystem(f.system, f.machine), runtime.GOOS+"/"+runtime.GOARCH
	if s == nil {
		s = &SSH{}
	}
	if system == own && s.Program != "" {
		return openProgram(s.Program)
	}
	if s.Binaries != "" {
		if path, ok := among(s.Binaries, system, system == own); ok {
			return openProgram(path)
		}
	}
	if s.Agents != nil {
		if packed := s.Agents(system); len(packed) > 0 {
			return unpacked(packed)
		}
	}
	switch {
	case system == own:
		return openProgram(ownProgram())
	case s.Binaries == "":
		return program{}, fmt.Errorf("%w: it runs %s on %s, and this linerate is for %s", ErrNoProgram, f.system, f.machine, own)
	}
	return program{}, fmt.Errorf("%w: it runs %s on %s, and %s has no %s", ErrNoProgram, f.system, f.machine, s.Binaries, "linerate-"+strings.ReplaceAll(system, "/", "-"))
}

// among is the file of a system's agent in a directory, packed or not, else of its
// linerate; the last not for our own, which has this program.
func among(dir, system string, own bool) (path string, ok bool) {
	tail := strings.ReplaceAll(system, "/", "-")
	names := []string{"linerate-agent-" + tail + ".gz", "linerate-agent-" + tail, "linerate-" + tail}
	if own {
		names = names[:2]
	}
	for _, name := range names {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path, true
		}
	}
	return "", false
}

// installed reports whether the linerate that is on a host's path is this very one.
func (s *SSH) installed(f far) bool {
	system, path := goSystem(f.system, f.machine), ""
	if s != nil && s.Binaries != "" {
		path = filepath.Join(s.Binaries, "linerate-"+strings.ReplaceAll(system, "/", "-"))
	}
	if system == runtime.GOOS+"/"+runtime.GOARCH {
		path = ownProgram()
		if s != nil && s.Program != "" {
			path = s.Program
		}
	}
	own, err := openProgram(path)
	return err == nil && own.sum == f.sum
}

// openProgram reads a program's file, which may be packed.
func openProgram(path string) (program, error) {
	if strings.HasSuffix(path, ".gz") {
		packed, err := os.ReadFile(path)
		if err != nil {
			return program{}, fmt.Errorf("read the agent to copy: %w", err)
		}
		return unpacked(packed)
	}
	file, err := os.Open(path)
	if err != nil {
		return program{}, fmt.Errorf("open the linerate to copy: %w", err)
	}
	defer file.Close()
	sum := sha256.New()
	size, err := io.Copy(sum, file)
	if err != nil {
		return program{}, fmt.Errorf("read the linerate to copy: %w", err)
	}
	return program{size: size, sum: hex.EncodeToString(sum.Sum(nil)), path: path}, nil
}

// unpacked is a packed program with what it will be on the host.
func unpacked(packed []byte) (program, error) {
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return program{}, fmt.Errorf("unpack the agent to copy: %w", err)
	}
	sum := sha256.New()
	size, err := io.Copy(sum, r)
	if err != nil {
		return program{}, fmt.Errorf("unpack the agent to copy: %w", err)
	}
	return program{size: size, sum: hex.EncodeToString(sum.Sum(nil)), packed: packed}, nil
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
