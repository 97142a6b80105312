package sampling

import "github.com/linerate/linerate/internal/kernel/sys"

// Seconds is the processor time that a thread of this process used; zero also
// where the kernel does not say, or the id is zero.
func Seconds(id int) float64 {
	if id == 0 {
		return 0
	}
	used, err := sys.ThreadCPU(id)
	if err != nil {
		return 0
	}
	return used.Seconds()
}
