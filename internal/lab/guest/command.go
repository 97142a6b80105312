package guest

import (
	"errors"
	"io"
	"log/slog"
	"net"

	"github.com/linerate/linerate/internal/lab/guest/early"
)

// Errors of Installed, Emulator and OpenKernel.
var (
	// ErrNoKernel means that User-Mode Linux is not installed here.
	ErrNoKernel = errors.New("no lab kernel installed")
	// ErrNoEmulator means that no distribution kernel can be emulated here: the
	// emulator or the kernel is missing.
	ErrNoEmulator = errors.New("no kernel can be emulated here")
	// ErrCut is Run's error for a kernel that Command.Cut ended.
	ErrCut = errors.New("lab kernel cut off")
)

// Command is what to run inside a lab kernel: this very program with other
// arguments.
//
// Under User-Mode Linux the guest sees the host's file system read-only, and
// Dir and Writable as they are. An emulated kernel shares no file system: the
// guest has a file system in memory with this program, Files, and Dir and
// Writable, empty but for what Files puts there. What the command makes or
// changes in Dir and Writable is written to the host's when it has ended.
type Command struct {
	Args []string
	Env  []string // added to a clean environment
	Dir  string   // working directory, absolute; writable in the guest
	// Writable are more directories that are writable in the guest, absolute.
	Writable []string
	// Kernel is the directory of an unpacked distribution kernel, see
	// OpenKernel, to run under the emulator; empty is User-Mode Linux.
	Kernel string
	// Files are files and directories of the host, absolute, that an emulated
	// kernel's guest finds where they are here; of a program also the libraries
	// it needs. User-Mode Linux shows them without being told.
	Files []string
	// Modules are kernel modules to load before the command starts; those they
	// need come with them. A name that the kernel has no module for is taken
	// for built in.
	Modules []string
	// Disk is an image of an ext4 file system, for User-Mode Linux: what the
	// guest writes outside Dir and Writable is kept there, over the host's file
	// system, and systemd is its first process, in a target that has the
	// system's initialisation and Units; the command runs when they have. The
	// same image again is the same machine booted again.
	Disk  string
	Units []string
	// Cut ends the kernel at once when it is closed, as a power cut does: what
	// the guest had not synced is lost. Run returns ErrCut.
	Cut <-chan struct{}
	// MemoryMiB is the guest's memory; zero is 1024.
	MemoryMiB int
	// Calls, which may be nil, is where Attach calls: each call is a command
	// that runs beside this one. Run closes it.
	Calls net.Listener
	// Orders is the directory for what User-Mode Linux is told and what it
	// makes, absolute and there; empty is one that goes with the kernel.
	Orders string
	// Started, which may be nil, is told the kernel's process, which leads a
	// group of its own with all that belongs to it.
	Started func(pid int)
	Stdout  io.Writer
	Stderr  io.Writer
	Logger  *slog.Logger // nil is silence
}

// memory is the guest's memory in MiB.
func (c Command) memory() int {
	if c.MemoryMiB == 0 {
		return 1024
	}
	return c.MemoryMiB
}

// shared are the directories whose content the host gets.
func (c Command) shared() []string {
	if c.Dir == "" {
		return c.Writable
	}
	return append([]string{c.Dir}, c.Writable...)
}

// Exit is how the command in the guest ended.
type Exit struct {
	Status int
	Kernel string // release of the kernel it ran on
}

// EnvGuest is set in every process inside a lab guest; its value is the
// kernel's release.
const EnvGuest = "LINERATE_LAB_GUEST"

// envConfig is the variable by which the lab kernel hands its first process
// the directory of its orders.
const envConfig = early.EnvConfig

// config is the orders of a guest's first process, as JSON in config.json.
type config struct {
	Args     []string `json:"args"`
	Env      []string `json:"env"`
	Dir      string   `json:"dir"`
	Writable []string `json:"writable"`
	Modules  []string `json:"modules"`
	// Systemd is to be the first process, with Units beside the orders.
	Systemd bool     `json:"systemd"`
	Units   []string `json:"units"`
	// Sessions says that more commands will come over the line.
	Sessions bool `json:"sessions"`
	// Line is the serial line to the host.
	Line string `json:"line"`
	// ModuleDirs is the directory of directories of modules, by release.
	ModuleDirs string `json:"module_dirs"`
	// SendHome says that the host sees no file of ours unless we send it.
	SendHome bool `json:"send_home"`
}

func (c Command) orders() config {
	return config{Args: c.Args, Env: c.Env, Dir: c.Dir, Writable: c.Writable, Modules: c.Modules,
		Systemd: c.Disk != "", Units: c.Units, Sessions: c.Calls != nil}
}

func (c config) shared() []string {
	return Command{Dir: c.Dir, Writable: c.Writable}.shared()
}
