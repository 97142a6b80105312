package sysctl

import (
	"errors"
	"os"

	"github.com/linerate/linerate/internal/kernel/sys"
	"github.com/linerate/linerate/netstate"
)

func readLive(keys []string) (map[string]netstate.Sysctl, error) {
	buf := make([]byte, 4096) // a page is what most handlers write at most
	return readWith(func(file string) ([]byte, error) {
		n, err := sys.ReadAtOnce("/"+file, buf)
		if errors.Is(err, sys.ErrFilled) {
			return os.ReadFile("/" + file)
		}
		return buf[:n], err
	}, keys)
}

// writeLive writes in one call: the kernel takes each write for the whole
// value (kernel.sysctl_writes_strict).
func writeLive(file, value string) error {
	f, err := os.OpenFile("/"+file, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	if _, err := f.WriteString(value + "\n"); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}
