package sys

import "syscall"

// OpenFiles is how many files this process may open; zero is not known. The runtime has
// raised the soft limit to the hard one.
func OpenFiles() uint64 {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil {
		return 0
	}
	return limit.Cur
}
