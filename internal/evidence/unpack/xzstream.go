package unpack

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"hash/crc64"
	"io"

	"github.com/ulikunitz/xz/lzma"
)

// xzReader reads an .xz file (format 1.2.1 of tukaani.org) block by block. The library's
// own reader gives each block the dictionary that its header asks for, up to 4 GiB; here
// one above mostDictionary is refused. Its LZMA2 is the library's.
type xzReader struct {
	in    counting
	check byte // the kind of the blocks' checks
	sum   hash.Hash
	block io.Reader // nil between blocks
	asked uint64    // bytes of the dictionaries of all blocks
}

// mostAsked bounds the work that many small blocks with large dictionaries make: xz
// makes blocks of three dictionaries.
const mostAsked = 32 << 30

var (
	errXZ    = errors.New("it is no valid .xz file")
	errSum   = errors.New("a checksum in it does not match")
	errXZTwo = errors.New("it uses a filter of .xz beside LZMA2: unpack it with `xz -d` first")
)

// counting counts the bytes that were read.
type counting struct {
	from *bufio.Reader
	n    int64
}

func (c *counting) ReadByte() (byte, error) {
	b, err := c.from.ReadByte()
	if err == nil {
		c.n++
	}
	return b, err
}

func (c *counting) Read(p []byte) (int, error) {
	n, err := c.from.Read(p)
	c.n += int64(n)
	return n, err
}

// take reads so many bytes; an end before them is an early one.
func (c *counting) take(n int) ([]byte, error) {
	b := make([]byte, n)
	if _, err := io.ReadFull(c, b); err != nil {
		return nil, early(err)
	}
	return b, nil
}

func early(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

func newXZReader(from *bufio.Reader) (*xzReader, error) {
	x := &xzReader{in: counting{from: from}}
	return x, x.stream()
}

// stream reads a stream's header.
func (x *xzReader) stream() error {
	b, err := x.in.take(12)
	if err != nil {
		return err
	}
	if !bytes.HasPrefix(b, []byte("\xfd7zXZ\x00")) || b[6] != 0 || crc32.ChecksumIEEE(b[6:8]) != binary.LittleEndian.Uint32(b[8:]) {
		return errXZ
	}
	x.in.n = 0 // padding counts from the header's end
	x.check = b[7]
	return nil
}

// checkSizes are the bytes of each kind of check (2.1.1.2).
var checkSizes = [16]int{0, 4, 4, 4, 8, 8, 8, 16, 16, 16, 32, 32, 32, 64, 64, 64}

func (x *xzReader) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for {
		if x.block == nil {
			if err := x.next(); err != nil {
				return 0, err
			}
		}
		n, err := x.block.Read(p)
		if x.sum != nil {
			x.sum.Write(p[:n])
		}
		if errors.Is(err, io.EOF) {
			if err = x.end(); err == nil && n == 0 {
				continue
			}
		} else if err != nil {
			err = early(err)
		}
		if n > 0 || err != nil {
			return n, err
		}
	}
}

// next begins the next block; io.EOF is the end of the file.
func (x *xzReader) next() error {
	for {
		size, err := x.in.ReadByte()
		if err != nil {
			return early(err)
		}
		if size != 0 {
			return x.begin(int(size) + 1)
		}
		if err := x.index(); err != nil {
			return err
		}
		// Another stream may follow, behind zeros.
		for {
			b, err := x.in.from.Peek(1)
			if err != nil {
				return err // io.EOF
			}
			if b[0] != 0 {
				break
			}
			_, _ = x.in.from.Discard(1)
		}
		if err := x.stream(); err != nil {
			return err
		}
	}
}

// begin reads a block's header of so many words, the first byte of which was read
// (3.1).
func (x *xzReader) begin(words int) error {
	b, err := x.in.take(4*words - 1)
	if err != nil {
		return err
	}
	end := len(b) - 4
	sum := crc32.Update(crc32.ChecksumIEEE([]byte{byte(words - 1)}), crc32.IEEETable, b[:end])
	if sum != binary.LittleEndian.Uint32(b[end:]) {
		return errSum
	}
	flags, at := b[0], 1
	if flags&0x3f != 0 {
		return errXZTwo
	}
	for _, mark := range []byte{0x40, 0x80} { // the sizes, where they are said
		if flags&mark != 0 {
			_, n := binary.Uvarint(b[at:end])
			if n <= 0 {
				return errXZ
			}
			at += n
		}
	}
	if at+3 > end || b[at] != 0x21 || b[at+1] != 1 {
		return errXZTwo
	}
	bits := b[at+2]
	if bits > 40 {
		return errXZ
	}
	size := uint64(2|bits&1) << (bits/2 + 11)
	if size > mostDictionary {
		return fmt.Errorf("it wants %d MiB of memory to unpack, more than %d", size>>20, mostDictionary>>20)
	}
	if x.asked += size; x.asked > mostAsked {
		return errors.New("its blocks are too small for their dictionaries")
	}
	x.sum = nil
	switch x.check {
	case 1:
		x.sum = crc32.NewIEEE()
	case 4:
		x.sum = crc64.New(crc64.MakeTable(crc64.ECMA))
	case 10:
		x.sum = sha256.New()
	}
	x.block, err = lzma.Reader2Config{DictCap: max(int(size), lzma.MinDictCap)}.NewReader2(&x.in)
	return err
}

// end reads what stands behind a block: zeros up to four bytes, and its check.
func (x *xzReader) end() error {
	x.block = nil
	if err := x.pad(); err != nil {
		return err
	}
	want, err := x.in.take(checkSizes[x.check&15])
	if err != nil || x.sum == nil {
		return err
	}
	got := x.sum.Sum(nil)
	if x.check != 10 { // CRCs are in little endian
		for i, j := 0, len(got)-1; i < j; i, j = i+1, j-1 {
			got[i], got[j] = got[j], got[i]
		}
	}
	if !bytes.Equal(got, want) {
		return errSum
	}
	return nil
}

func (x *xzReader) pad() error {
	b, err := x.in.take(int(-x.in.n & 3))
	if err == nil && len(bytes.Trim(b, "\x00")) > 0 {
		return errXZ
	}
	return err
}

// index passes over a stream's index and footer (4 and 2.1.2).
func (x *xzReader) index() error {
	count, err := binary.ReadUvarint(&x.in)
	for range 2 * count {
		if err != nil {
			break
		}
		_, err = binary.ReadUvarint(&x.in)
	}
	if err != nil {
		return early(err)
	}
	if err := x.pad(); err != nil {
		return err
	}
	b, err := x.in.take(4 + 12)
	if err == nil && !bytes.HasSuffix(b, []byte("YZ")) {
		return errXZ
	}
	return err
}
