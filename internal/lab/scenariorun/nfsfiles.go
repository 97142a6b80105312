package scenariorun

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"

	"github.com/linerate/linerate/unit"
)

// fileBlock is what a file is written and read by.
const fileBlock = 1 << 20

// content is a file's: every block of every file differs, so that one in the
// wrong place is found.
type content struct {
	file   uint64
	blocks int
	block  []byte
}

// newContent is of at least one block.
func newContent(file int, size unit.Bytes) *content {
	c := &content{file: uint64(file), blocks: max(1, int(size/fileBlock)), block: make([]byte, fileBlock)}
	random := rand.New(rand.NewPCG(c.file, fileBlock))
	for i := 0; i < len(c.block); i += 8 {
		binary.LittleEndian.PutUint64(c.block[i:], random.Uint64())
	}
	return c
}

func (c *content) length() int64 { return int64(c.blocks) * fileBlock }

// each calls f with block after block.
func (c *content) each(f func([]byte) error) error {
	for i := range c.blocks {
		binary.LittleEndian.PutUint64(c.block, uint64(i)<<32|c.file)
		if err := f(c.block); err != nil {
			return err
		}
	}
	return nil
}

// sum is the checksum that a reader must find.
func (c *content) sum() (sum [sha256.Size]byte) {
	h := sha256.New()
	_ = c.each(func(b []byte) error { _, err := h.Write(b); return err }) // a hash takes everything
	h.Sum(sum[:0])
	return sum
}

// write writes the file and waits until the server has it.
func (c *content) write(name string) (err error) {
	f, err := os.Create(name)
	if err != nil {
		return fmt.Errorf("write file: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := c.each(func(b []byte) error { _, err := f.Write(b); return err }); err != nil {
		return fmt.Errorf("write file: %w", err)
	}
	return f.Sync()
}

// errChecksum is a file that is not what was written.
var errChecksum = errors.New("the checksum is not that of what was written")

// verify reads all of a file and holds it against what was written.
func (c *content) verify(name string, f io.Reader) error {
	h := sha256.New()
	n, err := io.CopyBuffer(struct{ io.Writer }{h}, struct{ io.Reader }{f}, make([]byte, fileBlock))
	if err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	if want := c.sum(); n != c.length() || [sha256.Size]byte(h.Sum(nil)) != want {
		return fmt.Errorf("read %s: %d bytes of %d: %w", name, n, c.length(), errChecksum)
	}
	return nil
}
