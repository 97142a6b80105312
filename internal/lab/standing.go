package lab

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/linerate/linerate/internal/host/apply"
	"github.com/linerate/linerate/internal/statefile"
)

// Standing is a lab that was told to stand until it is taken down, as the file
// in its directory has it.
type Standing struct {
	// ID tells it from others that had, or will have, its name.
	ID       string    `json:"id"`
	Name     string    `json:"name"`
	Scenario string    `json:"scenario"`
	BackEnd  BackEnd   `json:"back_end"`
	Why      string    `json:"why"`
	Began    time.Time `json:"began"`
	Net      Blueprint `json:"net"`
	// Members are its hosts, the switch last.
	Members []Member `json:"members"`
	// Release is its kernel's; empty before it is up.
	Release string `json:"release"`
	Up      bool   `json:"up"`
	// Failed is why it fell; empty while nobody has seen it fall.
	Failed string `json:"failed"`
	// Keeper is the process that starts it, and then that of a lab with a
	// kernel of its own, for as long as it stands. Its session is its own.
	Keeper apply.Owner `json:"keeper"`
	// Machine is its kernel's first process, which leads a group; zero on the
	// running kernel.
	Machine apply.Owner `json:"machine"`

	dir string
}

// Errors of labs that stand.
var (
	ErrStands   = errors.New("a lab of that name stands")
	ErrNoLab    = errors.New("no lab of that name stands")
	ErrLabName  = errors.New("want letters, digits, . _ and -, at most 32, and not \"all\"")
	ErrUnstable = errors.New("the lab does not stand")
)

const (
	stateFile = "state.json"
	newPrefix = ".new-"
)

var validLab = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,31}$`)

// CheckName is ErrLabName for what no lab can be called.
func CheckName(name string) error {
	if name == "all" || !validLab.MatchString(name) {
		return fmt.Errorf("name lab %q: %w", name, ErrLabName)
	}
	return nil
}

// standingDir is where this user's labs have their directories: gone after a
// reboot where the machine can say so.
func standingDir() string {
	if os.Getuid() == 0 {
		return "/run/linerate/lab"
	}
	if dir := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "linerate", "lab")
	}
	return filepath.Join(os.TempDir(), "linerate-labs-"+strconv.Itoa(os.Getuid()))
}

// makeStandingDir makes it for this user alone: who can enter it can use the
// labs. Another user's is an error, which in a directory like /tmp anyone may
// have made.
func makeStandingDir() (string, error) {
	dir := standingDir()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("make lab directory: %w", err)
	}
	err := checkStandingDir(dir)
	if err == nil {
		err = os.Chmod(dir, 0o700) // its owner's right only
	}
	if err != nil {
		return "", fmt.Errorf("make lab directory: %w", err)
	}
	return dir, nil
}

// checkStandingDir is nil for a directory that is no link and nobody else's.
func checkStandingDir(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is no directory", dir)
	}
	return statefile.CheckDir(dir)
}

// mostState is more than a lab's state has.
const mostState = 1 << 20

// List returns the labs of this user that stand or have left something, by
// name.
func List() ([]Standing, error) {
	entries, err := os.ReadDir(standingDir())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list labs: %w", err)
	}
	var all []Standing
	for _, e := range entries {
		if !e.IsDir() || CheckName(e.Name()) != nil {
			continue
		}
		s, err := Find(e.Name())
		if errors.Is(err, ErrNoLab) {
			continue // taken down meanwhile
		}
		if err != nil {
			s.Failed = oneLine(err)
		}
		all = append(all, s)
	}
	return all, nil
}

func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }

// Find reads one lab's state. ErrNoLab when nothing of that name is there; any
// other error comes with a Standing that has its name and can be ended.
func Find(name string) (Standing, error) {
	s := Standing{Name: name, dir: filepath.Join(standingDir(), name)}
	if err := CheckName(name); err != nil {
		return s, err
	}
	if err := checkStandingDir(standingDir()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return s, err
	}
	text, err := statefile.Read(filepath.Join(s.dir, stateFile), mostState)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Lstat(s.dir); errors.Is(err, fs.ErrNotExist) {
			return s, fmt.Errorf("find lab %s: %w", name, ErrNoLab)
		}
		return s, errors.New("its state is lost")
	}
	if err != nil {
		return s, fmt.Errorf("read lab %s: %w", name, err)
	}
	read, err := decodeStanding(text)
	if err == nil && read.Name != name {
		err = fmt.Errorf("its state is that of lab %q", read.Name)
	}
	if err != nil {
		return s, fmt.Errorf("its state is unreadable: %w", err)
	}
	read.dir = s.dir
	return read, nil
}

func decodeStanding(text []byte) (s Standing, err error) {
	err = json.Unmarshal(text, &s)
	return s, err
}

// save writes the state file whole or not at all.
func (s Standing) save() error {
	text, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("encode lab state: %w", err)
	}
	if err := statefile.Replace(filepath.Join(s.dir, stateFile), text, 0o600); err != nil {
		return fmt.Errorf("write lab state: %w", err)
	}
	return nil
}

// Hosts are the names of its hosts, the switch last.
func (s Standing) Hosts() []string {
	var names []string
	for _, m := range s.Members {
		names = append(names, m.Host)
	}
	return names
}

// Namespace is the namespace of one of its hosts, in its kernel. An unknown
// host is an error that names those there are.
func (s Standing) Namespace(host string) (string, error) {
	for _, m := range s.Members {
		if m.Host == host {
			return m.Namespace, nil
		}
	}
	return "", fmt.Errorf("lab %s has no host %s: it has %s", s.Name, host, strings.Join(s.Hosts(), ", "))
}

// Ruin is why it does not stand; empty for one that stands or is being
// started.
func (s Standing) Ruin() string {
	switch {
	case s.Failed != "":
		return s.Failed
	case !s.Keeper.ThisBoot():
		return "the machine was started again since"
	case !s.Up && !s.Keeper.Alive():
		return "its start was cut short"
	case s.BackEnd != Local && !s.Keeper.Alive():
		return fmt.Sprintf("the process that kept it (%d) was killed", s.Keeper.PID)
	case s.BackEnd == Local && s.Up:
		if gone := missingNamespace(s.Members); gone != "" {
			return "its namespace " + gone + " is gone"
		}
	}
	return ""
}

// Condition is "up", "starting" or "fallen: " and why.
func (s Standing) Condition() string {
	if why := s.Ruin(); why != "" {
		return "fallen: " + why
	}
	if s.Up {
		return "up"
	}
	return "starting"
}
