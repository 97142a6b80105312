package sysctl

import (
	"os"

	"github.com/linerate/linerate/netstate"
)

func readLive(keys []string) (map[string]netstate.Sysctl, error) {
	return readWith(func(file string) ([]byte, error) { return os.ReadFile("/" + file) }, keys)
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
