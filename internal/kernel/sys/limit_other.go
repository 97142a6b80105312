//go:build !linux

package sys

// OpenFiles is not asked elsewhere.
func OpenFiles() uint64 { return 0 }
