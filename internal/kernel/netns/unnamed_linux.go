package netns

import (
	"fmt"
	"os"
	"runtime"

	"github.com/linerate/linerate/internal/kernel/sys"
)

// Unnamed makes a namespace without a name, and what lets go of it. The kernel
// removes it with its links once it is let go of and no thread or socket is in
// it any more; also when the process ends, however that ends: nothing is left
// to clean up. Needs CAP_SYS_ADMIN, else fs.ErrPermission.
func Unnamed() (Namespace, func(), error) {
	var held *os.File
	result := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // never unlocked: the runtime ends the thread
		if err := sys.NewNetNS(); err != nil {
			result <- err
			return
		}
		f, err := os.Open("/proc/thread-self/ns/net")
		held = f
		result <- err
	}()
	if err := <-result; err != nil {
		return Namespace{}, nil, fmt.Errorf("make a namespace: %w", err)
	}
	n := Namespace{file: fmt.Sprintf("/proc/self/fd/%d", held.Fd())}
	return n, func() { held.Close() }, nil
}
