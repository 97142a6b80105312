package apply

import "github.com/linerate/linerate/internal/kernel/sys"

// exchange lets two files take each other's name at once;
// errors.ErrUnsupported where the file system cannot.
func exchange(a, b string) error { return sys.Exchange(a, b) }

// copyAttributes gives a file the extended attributes of another.
func copyAttributes(from, to string) error { return sys.CopyAttributes(from, to) }
