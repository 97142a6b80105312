package observe

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
)

// ErrArchive is a file that is no archive of a host, or one beyond the bounds
// below.
var ErrArchive = errors.New("not a usable archive of a host")

// Bounds of an archive that is read. A capture of a host with 500 links has
// some 30000 files and 40 MB.
const (
	mostArchiveFiles = 200_000
	mostArchiveBytes = 128 << 20
	mostFileBytes    = 32 << 20
	mostPackedBytes  = mostArchiveBytes // packed it is smaller
	mostNameBytes    = 4096
)

// archiveBounds are the most that is unpacked: files, bytes in all and of one.
type archiveBounds struct {
	files       int
	bytes, file int64
}

var defaultBounds = archiveBounds{mostArchiveFiles, mostArchiveBytes, mostFileBytes}

// readArchive unpacks a tar.gz into memory. Files alone count: links, devices
// and what else a tar holds are passed over, so that nothing outside is read.
// A name that leads out of the archive is an error. Errors are ErrArchive.
func readArchive(from io.Reader) (fs.FS, error) {
	files, err := unpack(from, defaultBounds)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrArchive, err)
	}
	// A zip that is stored in memory is a file system of the standard library's.
	var packed bytes.Buffer
	w := zip.NewWriter(&packed)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		f, err := w.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store})
		if err == nil {
			_, err = f.Write(files[name])
		}
		if err != nil {
			return nil, fmt.Errorf("%w: %s: %w", ErrArchive, name, err)
		}
		delete(files, name)
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrArchive, err)
	}
	tree, err := zip.NewReader(bytes.NewReader(packed.Bytes()), int64(packed.Len()))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrArchive, err)
	}
	return tree, nil
}

func unpack(from io.Reader, most archiveBounds) (map[string][]byte, error) {
	z, err := gzip.NewReader(from)
	if err != nil {
		return nil, err
	}
	files := make(map[string][]byte)
	// One byte more than allowed tells a full archive from one that is cut.
	left := &io.LimitedReader{R: z, N: most.bytes + 1}
	t := tar.NewReader(left)
	for {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if left.N <= 0 {
			return nil, fmt.Errorf("it unpacks to more than %d bytes", most.bytes)
		}
		if err != nil {
			return nil, err
		}
		if h.Typeflag != tar.TypeReg {
			continue
		}
		name, err := archiveName(h.Name)
		if err != nil {
			return nil, err
		}
		if h.Size > most.file || len(files) >= most.files {
			return nil, fmt.Errorf("%.80q is too large, or one file too many", name)
		}
		content, err := io.ReadAll(t)
		if err != nil {
			return nil, fmt.Errorf("%.80q: %w", name, err)
		}
		files[name] = content
	}
	if err := clash(files); err != nil {
		return nil, err
	}
	return files, nil
}

// archiveName is a file's name in the archive, relative to the host's root.
// "./proc/cpuinfo" and "/proc/cpuinfo" are as tar(1) writes them.
func archiveName(name string) (string, error) {
	clean := path.Clean(strings.TrimLeft(name, "/"))
	if len(name) > mostNameBytes || !fs.ValidPath(clean) || clean == "." || strings.ContainsAny(name, "\\\x00") || slices.Contains(strings.Split(name, "/"), "..") {
		return "", fmt.Errorf("it holds the name %.80q", name)
	}
	return clean, nil
}

// clash finds a file that is another's directory.
func clash(files map[string][]byte) error {
	for name := range files {
		for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
			if _, file := files[dir]; file {
				return fmt.Errorf("%.80q is a file and a directory", dir)
			}
		}
	}
	return nil
}

// packer writes an archive.
type packer struct {
	packed bytes.Buffer
	zip    *gzip.Writer
	tar    *tar.Writer
	files  int
}

func newPacker() *packer {
	p := &packer{}
	p.zip = gzip.NewWriter(&p.packed)
	p.tar = tar.NewWriter(p.zip)
	return p
}

func (p *packer) add(name string, content []byte) error {
	p.files++
	err := p.tar.WriteHeader(&tar.Header{Name: name, Size: int64(len(content)), Mode: 0o644, Typeflag: tar.TypeReg, Format: tar.FormatPAX})
	if err == nil {
		_, err = p.tar.Write(content)
	}
	if err != nil {
		return fmt.Errorf("pack %s: %w", name, err)
	}
	return nil
}

func (p *packer) close() ([]byte, error) {
	if err := errors.Join(p.tar.Close(), p.zip.Close()); err != nil {
		return nil, fmt.Errorf("pack: %w", err)
	}
	return p.packed.Bytes(), nil
}
