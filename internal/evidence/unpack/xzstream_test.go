package unpack

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"io"
	"strings"
	"testing"

	"github.com/ulikunitz/xz"
)

// blocks is an .xz of several blocks with a kind of check.
func blocks(t testing.TB, text []byte, c xz.WriterConfig) []byte {
	return through(t, text, func(w io.Writer) (io.WriteCloser, error) { return c.NewWriter(w) })
}

func readXZ(packed []byte) ([]byte, error) {
	r, err := newXZReader(bufio.NewReader(bytes.NewReader(packed)))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}

// TestXZ: blocks, checks and streams behind each other come out as they went in; what
// is cut or changed is an error.
func TestXZ(t *testing.T) {
	text := []byte(strings.Repeat("a line of a log, with a number 4711\n", 60) + "the end\n")
	for name, c := range map[string]xz.WriterConfig{
		"crc32": {CheckSum: xz.CRC32}, "crc64": {CheckSum: xz.CRC64}, "sha256": {CheckSum: xz.SHA256}, "none": {NoCheckSum: true}, "blocks": {BlockSize: 500},
	} {
		c.DictCap = 4096
		packed := blocks(t, text, c)
		if got, err := readXZ(packed); err != nil || !bytes.Equal(got, text) {
			t.Errorf("%s: %v, %d of %d bytes", name, err, len(got), len(text))
		}
		two := append(append(bytes.Clone(packed), 0, 0, 0, 0), packed...)
		if got, err := readXZ(two); err != nil || len(got) != 2*len(text) {
			t.Errorf("%s, two streams: %v, %d bytes", name, err, len(got))
		}
		for at := range packed {
			if got, err := readXZ(packed[:at]); err == nil || !bytes.HasPrefix(text, got) {
				t.Errorf("%s, cut at %d: %v, %d bytes", name, at, err, len(got))
			}
			if c.NoCheckSum {
				continue
			}
			changed := bytes.Clone(packed)
			changed[at] ^= 0x10
			if got, err := readXZ(changed); err == nil && !bytes.Equal(got, text) {
				t.Errorf("%s, changed at %d: read as if it were right", name, at)
			}
		}
	}
}

// TestDictionary: a block that asks for 1.5 GiB is refused, also behind others.
func TestDictionary(t *testing.T) {
	packed := xzOf(t, []byte(noPartner))
	at := 12 // of the block's header
	size := 4 * (int(packed[at]) + 1)
	filter := at + bytes.IndexByte(packed[at:at+size], 0x21)
	packed[filter+2] = 37
	binary.LittleEndian.PutUint32(packed[at+size-4:], crc32.ChecksumIEEE(packed[at:at+size-4]))
	for _, before := range [][]byte{nil, xzOf(t, []byte("x"))} {
		if _, err := readXZ(append(before, packed...)); err == nil || !strings.Contains(err.Error(), "1536 MiB of memory") {
			t.Errorf("%v", err)
		}
	}
}

func FuzzXZ(f *testing.F) {
	f.Add(xzOf(f, []byte(noPartner)))
	f.Add(blocks(f, []byte(noPartner), xz.WriterConfig{BlockSize: 200, DictCap: 4096}))
	f.Fuzz(func(t *testing.T, packed []byte) {
		r, err := newXZReader(bufio.NewReader(bytes.NewReader(packed)))
		if err == nil {
			_, _ = io.Copy(io.Discard, io.LimitReader(r, 1<<20))
		}
	})
}
