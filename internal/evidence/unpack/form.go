package unpack

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/bzip2"
	"compress/gzip"
	"errors"
	"io"
	"path"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// form is how a file is packed, by its first bytes.
type form int

const (
	noForm form = iota
	tarForm
	zipForm
	gzipForm
	bzip2Form
	xzForm
	zstdForm
	foreignForm // known, and not read
)

// headBytes are what tells a file's form: tar's mark is in its first block.
const headBytes = 512

var marks = []struct {
	at   int
	mark string
	form form
	name string // of a form that is not read
	hint string
}{
	{0, "\x1f\x8b\x08", gzipForm, "", ""},
	{0, "BZh", bzip2Form, "", ""},
	{0, "\xfd7zXZ\x00", xzForm, "", ""},
	{0, "\x28\xb5\x2f\xfd", zstdForm, "", ""},
	{0, "PK\x03\x04", zipForm, "", ""},
	{0, "PK\x05\x06", zipForm, "", ""},
	{257, "ustar", tarForm, "", ""},
	{0, "7z\xbc\xaf\x27\x1c", foreignForm, "a 7z archive", "unpack it with `7z x`, then name the directory"},
	{0, "Rar!\x1a\x07", foreignForm, "a RAR archive", "unpack it with `unrar x`, then name the directory"},
	{0, "LZIP", foreignForm, "compressed by lzip", "unpack it with `lzip -d` first"},
	{0, "\x04\x22\x4d\x18", foreignForm, "compressed by lz4", "unpack it with `lz4 -d` first"},
	{0, "-----BEGIN PGP MESSAGE", foreignForm, "encrypted", encryptedHint},
	{0, "Salted__", foreignForm, "encrypted by openssl", "decrypt it with `openssl enc -d` and its password first"},
	{0, "age-encryption.org/", foreignForm, "encrypted by age", "decrypt it with `age -d` first"},
}

const encryptedHint = "decrypt it with `gpg -d` first: sos report writes such with --encrypt"

func formOf(head []byte) form {
	for _, m := range marks {
		if len(head) >= m.at+len(m.mark) && string(head[m.at:m.at+len(m.mark)]) == m.mark {
			return m.form
		}
	}
	if oldTar(head) {
		return tarForm
	}
	return noForm
}

// oldTar reports a block whose checksum is a tar header's: those before POSIX have no
// mark.
func oldTar(head []byte) bool {
	if len(head) < 512 || head[0] == 0 {
		return false
	}
	_, err := tar.NewReader(bytes.NewReader(head[:512])).Next()
	return err == nil
}

// Is reports the beginning of an archive, of a compressed file, or of what is known
// to be one in a form that is not read.
func Is(name string, head []byte) bool {
	return formOf(head) != noForm || encrypted(name)
}

// HeadBytes are enough of a file's beginning for Is.
const HeadBytes = headBytes

// encrypted reports a name that encrypted files have: their contents have no mark.
func encrypted(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".gpg", ".pgp":
		return true
	}
	return false
}

// foreign is the error of a form that is not read.
func foreign(name string, head []byte) error {
	for _, m := range marks {
		if m.form == foreignForm && len(head) >= len(m.mark) && string(head[:len(m.mark)]) == m.mark {
			return &FormError{name, m.name, m.hint}
		}
	}
	if encrypted(name) {
		return &FormError{name, "encrypted", encryptedHint}
	}
	return nil
}

// mostDictionary bounds what a stream may ask a decompressor to keep: xz -9 asks for
// 64 MiB, zstd --ultra for 128 MiB.
const mostDictionary = 128 << 20

// expanded is a compressed stream's content, and what ends the decompressor.
func expanded(f form, from *bufio.Reader) (io.Reader, func(), error) {
	none := func() {}
	switch f {
	case gzipForm:
		z, err := gzip.NewReader(from)
		return z, none, err
	case bzip2Form:
		return bzip2.NewReader(from), none, nil
	case xzForm:
		z, err := newXZReader(from)
		return z, none, err
	case zstdForm:
		z, err := zstd.NewReader(from, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(mostDictionary), zstd.WithDecoderLowmem(true))
		if err != nil {
			return nil, none, err
		}
		return z, z.Close, nil
	}
	return nil, none, errors.New("it is not compressed")
}
