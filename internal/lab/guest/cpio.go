package guest

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
)

// cpioWriter writes an archive in the form that the kernel unpacks as its
// first root file system: "newc", Documentation/driver-api/early-userspace/
// buffer-format.rst. Parents must be written before what is in them.
type cpioWriter struct {
	w     *bufio.Writer
	inode uint32
	size  int64 // written so far
}

func newCPIOWriter(w io.Writer) *cpioWriter { return &cpioWriter{w: bufio.NewWriterSize(w, 1<<20)} }

// File type bits of an archive's mode (inode(7)).
const (
	cpioDirectory = 0o040000
	cpioDevice    = 0o020000
	cpioRegular   = 0o100000
	cpioSymlink   = 0o120000
)

// errCPIOSize means a file larger than the format's 32 bits.
var errCPIOSize = errors.New("file too large for a cpio archive")

// header starts an entry. Names have no leading slash.
func (c *cpioWriter) header(name string, mode uint32, size int64, major, minor uint32) error {
	if size < 0 || size > 1<<32-1 {
		return fmt.Errorf("archive %s: %w", name, errCPIOSize)
	}
	c.inode++
	links, mtime := 1, 0
	n, err := fmt.Fprintf(c.w, "070701%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%s\x00",
		c.inode, mode, 0, 0, links, mtime, size, 0, 0, major, minor, len(name)+1, 0, name)
	c.size += int64(n)
	if err != nil {
		return fmt.Errorf("archive %s: %w", name, err)
	}
	return c.pad()
}

// pad fills up to a multiple of four, where the next part begins.
func (c *cpioWriter) pad() error {
	n := int(-c.size & 3)
	c.size += int64(n)
	_, err := c.w.Write(make([]byte, n))
	return err
}

func (c *cpioWriter) directory(name string, perm fs.FileMode) error {
	return c.header(name, cpioDirectory|uint32(perm.Perm()), 0, 0, 0)
}

func (c *cpioWriter) symlink(name, target string) error {
	if err := c.header(name, cpioSymlink|0o777, int64(len(target)), 0, 0); err != nil {
		return err
	}
	n, err := c.w.WriteString(target)
	c.size += int64(n)
	return errors.Join(err, c.pad())
}

// device is a character device.
func (c *cpioWriter) device(name string, perm fs.FileMode, major, minor uint32) error {
	return c.header(name, cpioDevice|uint32(perm.Perm()), 0, major, minor)
}

// file writes size bytes of r; fewer are an error.
func (c *cpioWriter) file(name string, perm fs.FileMode, size int64, r io.Reader) error {
	if err := c.header(name, cpioRegular|uint32(perm.Perm()), size, 0, 0); err != nil {
		return err
	}
	n, err := io.CopyN(c.w, r, size)
	c.size += n
	if err != nil {
		return fmt.Errorf("archive %s: %w", name, err)
	}
	return c.pad()
}

// close ends the archive; the writer below stays open.
func (c *cpioWriter) close() error {
	if err := c.header("TRAILER!!!", 0, 0, 0, 0); err != nil {
		return err
	}
	return c.w.Flush()
}
