//go:build unix

package apply

import (
	"io/fs"
	"syscall"
)

// ownerOf is the user and group that a file belongs to.
func ownerOf(info fs.FileInfo) (uid, gid int) {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(st.Uid), int(st.Gid)
	}
	return 0, 0
}
