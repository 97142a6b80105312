package sys

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// OpenUncached opens a file for reading past the page cache (O_DIRECT): what is
// read is what the file system has, over the network where it is there. Reads
// must be of whole pages, into memory that begins at one.
func OpenUncached(name string) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_RDONLY|unix.O_DIRECT, 0)
	if err != nil {
		return nil, fmt.Errorf("open uncached: %w", err)
	}
	return f, nil
}
