package guest

import (
	"errors"
	"io"
	"log/slog"
)

// ErrNoKernel means that no lab kernel is installed here.
var ErrNoKernel = errors.New("no lab kernel installed")

// Command is what to run inside a lab kernel: this very program with other
// arguments. The guest sees the host's file system read-only, and the
// directories of Writable as they are.
type Command struct {
	Args     []string
	Env      []string // added to a clean environment
	Dir      string   // working directory; writable in the guest
	Writable []string
	// Modules are kernel modules to load before the command starts; those they
	// need come with them.
	Modules []string
	// MemoryMiB is the guest's memory; zero is 1024.
	MemoryMiB int
	Stdout    io.Writer
	Stderr    io.Writer
	Logger    *slog.Logger // nil is silence
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
const envConfig = "LINERATE_GUEST_CONFIG"

// config is the orders of a guest's first process, as JSON in config.json.
type config struct {
	Args     []string `json:"args"`
	Env      []string `json:"env"`
	Dir      string   `json:"dir"`
	Writable []string `json:"writable"`
	Modules  []string `json:"modules"`
}
