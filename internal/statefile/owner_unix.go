//go:build unix

package statefile

import (
	"io/fs"
	"syscall"
)

// Owner is the user and group that a file belongs to.
func Owner(info fs.FileInfo) (uid, gid int) {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(st.Uid), int(st.Gid)
	}
	return 0, 0
}

// Names is how many names a file has (hard links).
func Names(info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Nlink)
	}
	return 1
}
