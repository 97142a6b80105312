package procfs

// mountsFile is the calling thread's: namespaces of mounts differ.
const mountsFile = "/proc/thread-self/mounts"

// Mounts reads the file systems of the network that the calling thread sees.
func Mounts() ([]Mount, error) { return read(mountsFile, ParseMounts) }
