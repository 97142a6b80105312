package apply

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/statefile"
	"github.com/linerate/linerate/plan"
)

// fileDirs are the directories that a change may write configuration files
// in, at any depth, and fileNames single files beside them: those of netplan,
// systemd-networkd, NetworkManager, the initscripts of Red Hat and SUSE,
// ifupdown and sysctl.d.
var fileDirs = []string{
	"/etc/netplan", "/etc/systemd/network", "/etc/NetworkManager/system-connections", "/etc/NetworkManager/conf.d",
	"/etc/sysconfig/network-scripts", "/etc/sysconfig/network", "/etc/sysctl.d", "/etc/network/interfaces.d",
}

var fileNames = []string{"/etc/network/interfaces", "/etc/sysctl.conf"}

// The bounds of a change's files: what is beyond them is no network
// configuration.
const (
	maxFiles = 500
	maxText  = 1 << 20
)

// ErrPath: a plan's file is where no network configuration is.
var ErrPath = errors.New("no file that a change may write")

// FileError is a file of a plan, and what keeps it from being written.
type FileError struct {
	Path string
	Err  error
}

func (e *FileError) Error() string { return fmt.Sprintf("file %s: %v", e.Path, e.Err) }

// Unwrap is why.
func (e *FileError) Unwrap() error { return e.Err }

// checkFiles says what is wrong with a plan's files, without looking at any.
func checkFiles(files []plan.File) error {
	if len(files) > maxFiles {
		return fmt.Errorf("%d files: a change writes at most %d", len(files), maxFiles)
	}
	seen := make(map[string]bool)
	for _, f := range files {
		var err error
		switch {
		case !allowed(f.Path):
			err = ErrPath
		case seen[f.Path]:
			err = fmt.Errorf("%w: it is there twice", ErrPath)
		case f.Old == nil && f.New == nil:
			err = fmt.Errorf("%w: neither an old nor a new text", ErrPath)
		case len(text(f.Old)) > maxText || len(text(f.New)) > maxText:
			err = fmt.Errorf("%w: more than %d bytes", ErrPath, maxText)
		}
		if err != nil {
			return &FileError{fmt.Sprintf("%.200q", f.Path), err}
		}
		seen[f.Path] = true
	}
	return nil
}

func text(t *string) string {
	if t == nil {
		return ""
	}
	return *t
}

func allowed(path string) bool {
	base := filepath.Base(path)
	if len(path) > 1000 || filepath.Clean(path) != path || base[0] == '.' || strings.ContainsFunc(path, func(r rune) bool { return r < ' ' }) {
		return false
	}
	if slices.Contains(fileNames, path) {
		return true
	}
	return slices.ContainsFunc(fileDirs, func(dir string) bool { return strings.HasPrefix(path, dir+"/") })
}

// resolve follows symbolic links to the file itself, which need not exist. An
// absolute link starts at root again. Administrators do link such files, so a
// link is followed, but only where nobody else could have made it or can move
// what it leads to: else it is statefile.ErrUntrusted.
func resolve(root, path string) (string, error) {
	real, linked, err := followLinks(root, path)
	if err != nil || !linked {
		return real, err
	}
	if info, err := os.Lstat(real); err == nil {
		if uid, _ := statefile.Owner(info); uid != 0 && uid != os.Geteuid() {
			return "", &statefile.UntrustedError{Path: path, Why: fmt.Sprintf("it leads to %s, which belongs to user %d", real, uid), Do: "name the file itself, or see who made the link"}
		}
	}
	return real, nil
}

// followLinks is resolve without the last look; linked says that some part of
// the path is a link. Directories on the way to a link and behind it may be
// written by root and the running user alone.
func followLinks(root, path string) (real string, linked bool, err error) {
	var dirs []string
	const mostLinks = 40 // MAXSYMLINKS of include/linux/namei.h
	done, rest := "/", strings.Split(strings.Trim(path, "/"), "/")
	for links := 0; len(rest) > 0; {
		next := filepath.Join(done, rest[0])
		rest = rest[1:]
		if dir := filepath.Join("/", root, done); !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
		to, err := os.Readlink(filepath.Join(root, next))
		if err != nil { // no link, or not there yet
			done = next
			continue
		}
		if links++; links > mostLinks {
			return "", true, fmt.Errorf("more than %d symbolic links", mostLinks)
		}
		linked = true
		if filepath.IsAbs(to) {
			done = "/"
		}
		rest = append(strings.Split(strings.Trim(to, "/"), "/"), rest...)
	}
	for _, dir := range dirs {
		if !linked {
			break
		}
		if err := statefile.CheckDir(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", true, fmt.Errorf("follow link: %w", err)
		}
	}
	return filepath.Join("/", root, done), linked, nil
}

// readText is a file's text; nil where there is none. What is no regular file,
// or larger than any configuration, is an error.
func readText(path string) (*string, fs.FileInfo, error) {
	f, err := statefile.OpenPlain(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if errors.Is(err, statefile.ErrUntrusted) {
		return nil, nil, fmt.Errorf("%w: it is no regular file", ErrPath)
	}
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	b, err := io.ReadAll(io.LimitReader(f, maxText+1))
	if err != nil {
		return nil, nil, err
	}
	s := string(b)
	return &s, info, nil
}

func sameText(a, b *string) bool {
	return a == nil && b == nil || a != nil && b != nil && *a == *b
}

// filesAsPlanned looks whether every file still holds what the plan saw, and
// returns what each is. ErrChanged names those that do not.
func filesAsPlanned(root string, files []plan.File) ([]FileState, error) {
	states := make([]FileState, len(files))
	var problems []error
	for i, f := range files {
		real, err := resolve(root, f.Path)
		var now *string
		var info fs.FileInfo
		if err == nil {
			now, info, err = readText(real)
		}
		if err == nil && !sameText(now, f.Old) {
			err = fmt.Errorf("%w: its text is another one now", ErrChanged)
		}
		if err != nil {
			problems = append(problems, &FileError{f.Path, err})
			continue
		}
		states[i] = FileState{Progress: agentapi.StepPending, Real: real}
		if info != nil {
			states[i].Mode = modeBits(info.Mode())
			states[i].UID, states[i].GID = statefile.Owner(info)
		}
	}
	return states, errors.Join(problems...)
}

// modeBits are a file's permissions as chmod(2) takes them; never zero, which
// is "no file": a regular file has the bit of its type.
func modeBits(m fs.FileMode) uint32 { return sIFREG | uint32(m.Perm()) }

// sIFREG is S_IFREG (stat(2)).
const sIFREG = 0o100000
