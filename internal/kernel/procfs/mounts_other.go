//go:build !linux

package procfs

// Mounts is errors.ErrUnsupported.
func Mounts() ([]Mount, error) { return nil, unsupported("/proc/mounts") }
