package unpack

import (
	"archive/tar"
	"archive/zip"
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"unicode"

	"github.com/linerate/linerate/internal/evidence/paste/archive"
	"github.com/linerate/linerate/internal/userfile"
)

// errEnough ends a walk at a bound; what was read before stays.
var errEnough = errors.New("enough was read")

// walk reads one archive.
type walk struct {
	ctx     context.Context
	name    string
	most    bounds
	members int
	kept    int64
	left    int64 // bytes that may still be unpacked
	zips    int64 // bytes of the zips that are being read
	found   map[slot]*found
	order   []*found
	names   map[string]named // by root
	capture bool
	single  *found
	notes   []string
	dropped struct{ names, cut, locked, empty, notes int }
}

type slot struct{ root, slot string }

// found is a member that is read.
type found struct {
	archive.Member
	name  string // within the archive
	text  []byte
	first int // number of its first line
}

type named struct {
	host string
	rank int
}

func newWalk(ctx context.Context, name string, most bounds) *walk {
	return &walk{ctx: ctx, name: name, most: most, left: most.unpacked, found: make(map[slot]*found), names: make(map[string]named)}
}

// mostNotes are enough for people; the others are counted.
const mostNotes = 8

func (w *walk) note(text string) {
	if len(w.notes) < mostNotes {
		w.notes = append(w.notes, text)
	} else {
		w.dropped.notes++
	}
}

// metered counts what is unpacked, and how many zero bytes stand at its end: a tar
// ends with two blocks of them.
type metered struct {
	w     *walk
	from  io.Reader
	zeros int
	count bool // against the bound of what is unpacked
}

func (m *metered) Read(b []byte) (int, error) {
	if err := m.w.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := m.from.Read(b)
	if end := len(bytes.TrimRight(b[:n], "\x00")); end > 0 {
		m.zeros = n - end
	} else {
		m.zeros += n
	}
	if m.count {
		if m.w.left -= int64(n); m.w.left < 0 {
			m.w.note(fmt.Sprintf("it unpacks to more than %d MiB: what comes later was not read", m.w.most.unpacked>>20))
			return 0, errEnough
		}
	}
	return n, err
}

// ended reports an error that ends the whole walk, not one archive within.
func (w *walk) ended(err error) bool {
	return err != nil && (errors.Is(err, errEnough) || w.ctx.Err() != nil)
}

// packed reads a stream: an archive, compressed or not, or a compressed text.
func (w *walk) packed(name string, from io.Reader, depth int) error {
	r := bufio.NewReaderSize(&metered{w: w, from: from}, 64<<10)
	head, _ := r.Peek(headBytes)
	switch f := formOf(head); f {
	case tarForm:
		return w.tar(name, r, depth)
	case zipForm:
		most := w.most.nested - w.zips
		text, err := io.ReadAll(io.LimitReader(r, most+1))
		if err != nil {
			return w.broken(name, err)
		}
		w.zips += int64(len(text))
		defer func() { w.zips -= int64(len(text)) }()
		if int64(len(text)) > most {
			w.note(fmt.Sprintf("%s is a zip of more than %d MiB within: unpack it, and name it", w.called(name), w.most.nested>>20))
			return nil
		}
		return w.zip(name, bytes.NewReader(text), int64(len(text)), depth)
	case gzipForm, bzip2Form, xzForm, zstdForm:
		return w.compressed(name, f, r, depth)
	}
	if err := foreign(cmp.Or(name, w.name), head); err != nil {
		if depth == 0 {
			return err
		}
		w.note(err.Error())
		return nil
	}
	return w.broken(name, errors.New("it is no archive"))
}

// called is what a note calls an archive: "it", or the one within.
func (w *walk) called(name string) string { return cmp.Or(name, "it") }

func (w *walk) compressed(name string, f form, from *bufio.Reader, depth int) error {
	z, done, err := expanded(f, from)
	if err != nil {
		return w.broken(name, err)
	}
	defer done()
	r := bufio.NewReaderSize(&metered{w: w, from: z, count: true}, 64<<10)
	head, err := r.Peek(headBytes)
	if formOf(head) == tarForm {
		return w.tar(name, r, depth)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return w.broken(name, err)
	}
	if depth > 0 || formOf(head) != noForm {
		return nil // a compressed file among others
	}
	text, first, err := w.text(r, w.most.single, false)
	if err != nil {
		return err
	}
	if notText(text) {
		return nil
	}
	w.single = &found{name: strings.TrimSuffix(path.Base(w.name), path.Ext(w.name)), text: text, first: first}
	return nil
}

// broken notes an archive that is cut or damaged. At the end of ctx or of a bound its
// error is that.
func (w *walk) broken(name string, err error) error {
	switch {
	case w.ctx.Err() != nil:
		return w.ctx.Err()
	case errors.Is(err, errEnough):
		return errEnough
	}
	why := err.Error()
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		why = "it ends early"
	}
	if n := len(w.order); n > 0 {
		w.note(fmt.Sprintf("%s is cut or damaged (%s): what comes before was read", w.called(name), why))
	} else {
		w.note(fmt.Sprintf("%s is cut or damaged (%s)", w.called(name), why))
	}
	return nil
}

func (w *walk) tar(name string, from io.Reader, depth int) error {
	end := &metered{w: w, from: from}
	t := tar.NewReader(end)
	for {
		h, err := t.Next()
		if errors.Is(err, io.EOF) && end.zeros >= 512 {
			return nil
		}
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF // tar takes the end between two members for the end
		}
		if err != nil && !errors.Is(err, tar.ErrInsecurePath) {
			return w.broken(name, err)
		}
		if err := w.counted(); err != nil {
			return err
		}
		if h.Typeflag != tar.TypeReg {
			continue // links, devices, directories: nothing is made or followed
		}
		if err := w.member(path.Join(name, clean(h.Name)), h.Name, depth, func() (io.Reader, error) { return t, nil }); err != nil {
			if w.ended(err) {
				return err
			}
			return w.broken(name, err)
		}
	}
}

// errZipList is a list of members that is too long.
var errZipList = errors.New("the list of members is too long")

// zipList is a zip whose list of members, which is read whole before the first member
// is, has a bound: each becomes a few hundred bytes.
type zipList struct {
	from io.ReaderAt
	left int64
	read bool // the list was read
}

func (z *zipList) ReadAt(b []byte, at int64) (int, error) {
	if !z.read {
		if z.left -= int64(len(b)); z.left < 0 {
			return 0, errZipList
		}
	}
	return z.from.ReadAt(b, at)
}

func (w *walk) zip(name string, from io.ReaderAt, size int64, depth int) error {
	list := &zipList{from: from, left: w.most.listed}
	z, err := zip.NewReader(list, size)
	list.read = true
	if errors.Is(err, errZipList) {
		w.note(fmt.Sprintf("%s is a zip whose list of members has more than %d MiB: unpack it, and name it", w.called(name), w.most.listed>>20))
		return nil
	}
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		if errors.Is(err, zip.ErrFormat) {
			err = io.ErrUnexpectedEOF // its directory stands at its end
		}
		return w.broken(name, err)
	}
	for _, f := range z.File {
		if err := w.counted(); err != nil {
			return err
		}
		if !f.Mode().IsRegular() {
			continue
		}
		if f.Flags&1 != 0 {
			w.dropped.locked++
			continue
		}
		err := w.member(path.Join(name, clean(f.Name)), f.Name, depth, func() (io.Reader, error) {
			r, err := f.Open()
			return &metered{w: w, from: r, count: true}, err
		})
		if w.ended(err) {
			return err
		}
		if err != nil {
			if err := w.broken(path.Join(name, clean(f.Name)), err); err != nil {
				return err
			}
		}
	}
	return nil
}

// counted counts a member, and looks whether to go on.
func (w *walk) counted() error {
	if err := w.ctx.Err(); err != nil {
		return err
	}
	if w.members++; w.members > w.most.members {
		w.note(fmt.Sprintf("it has more than %d members: what comes later was not read", w.most.members))
		return errEnough
	}
	return nil
}

// clean is a member's path below the archive; "" of one that leads out of it, or that
// a terminal would obey.
func clean(name string) string {
	if strings.IndexFunc(name, func(r rune) bool { return r == '\\' || unicode.IsControl(r) }) >= 0 {
		return ""
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == ".." {
			return ""
		}
	}
	if name = path.Clean(strings.TrimLeft(name, "/")); name == "." || !fs.ValidPath(name) {
		return ""
	}
	return name
}

// member reads a member that is known, and an archive within.
func (w *walk) member(name, given string, depth int, open func() (io.Reader, error)) error {
	if clean(given) == "" || len(name) > w.most.name {
		if _, known := archive.Of(strings.ReplaceAll(given, `\`, "/")); known {
			w.dropped.names++
		}
		return nil
	}
	m, known := archive.Of(name)
	if !known {
		if depth < w.most.depth && archive.Nested(name) {
			r, err := open()
			if err != nil {
				return err
			}
			return w.packed(name, r, depth+1)
		}
		return nil
	}
	at := slot{m.Root, m.Slot}
	before := w.found[at]
	if m.Capture {
		w.capture = true
		return nil
	}
	if before != nil && before.Rank <= m.Rank {
		return nil
	}
	if len(w.order) >= w.most.texts || w.kept > w.most.kept {
		w.note("more is known of it than is read at once: what comes later was not read")
		return errEnough
	}
	r, err := open()
	if err != nil {
		return err
	}
	f := &found{Member: m, name: name}
	most := w.most.member
	if m.Log {
		most = w.most.log
	}
	f.text, f.first, err = w.text(r, most, m.Log)
	f.text = bytes.TrimRight(f.text, "\x00") // tar fills a file of /sys up to the size that it claims
	if len(f.text) == 0 && strings.HasPrefix(m.Path, "/proc/") {
		w.dropped.empty++
	}
	if len(f.text) == 0 || notText(f.text) {
		return err
	}
	if host, rank := archive.NameIn(m, f.text); host != "" {
		if now, ok := w.names[m.Root]; !ok || rank < now.rank {
			w.names[m.Root] = named{host, rank}
		}
	}
	if before != nil {
		w.kept -= int64(len(before.text))
		before.text = nil // its place is the new one's
		*before = *f
	} else {
		w.found[at] = f
		w.order = append(w.order, f)
	}
	w.kept += int64(len(f.text))
	return err
}

// notText reports what is no text: a NUL in its first bytes that is no half of UTF-16.
func notText(text []byte) bool {
	head := text[:min(len(text), 512)]
	return bytes.IndexByte(head, 0) >= 0 && !bytes.HasPrefix(head, []byte{0xff, 0xfe}) && !bytes.HasPrefix(head, []byte{0xfe, 0xff})
}

// text reads at most so many bytes, of a log the last ones, and the number of its
// first line. What was read before an error is kept.
func (w *walk) text(from io.Reader, most int64, end bool) (text []byte, first int, err error) {
	if !end {
		text, err = io.ReadAll(io.LimitReader(from, most+1))
		if int64(len(text)) > most {
			text = text[:most]
			w.dropped.cut++
		}
		return text, 1, err
	}
	first = 1
	chunk := make([]byte, 64<<10)
	for err == nil {
		var n int
		n, err = from.Read(chunk)
		text = append(text, chunk[:n]...)
		if int64(len(text)) > 2*most {
			text, first = tail(text, first, most)
		}
	}
	text, first = tail(text, first, most)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return text, first, err
}

// tail is the end of a log from the beginning of a line on.
func tail(text []byte, first int, most int64) ([]byte, int) {
	cut := int64(len(text)) - most
	if cut <= 0 {
		return text, first
	}
	next := bytes.IndexByte(text[cut:], '\n')
	if next < 0 {
		next = 0
	} else {
		next++
	}
	from := cut + int64(next)
	first += bytes.Count(text[:from], []byte{'\n'})
	return append(text[:0], text[from:]...), first
}

// enter says whether a walk goes into a directory.
func (w *walk) enter(dir string) error {
	if archive.Passed(dir) {
		return fs.SkipDir
	}
	return w.counted()
}

// below reads a file below a directory.
func (w *walk) below(root *os.Root, name string) error {
	if err := w.counted(); err != nil {
		return err
	}
	var opened *os.File
	defer func() {
		if opened != nil {
			opened.Close()
		}
	}()
	return w.member(name, name, 0, func() (io.Reader, error) {
		f, err := userfile.OpenIn(root, name)
		if err != nil {
			return nil, err
		}
		opened = f
		info, err := f.Stat()
		if err == nil && !info.Mode().IsRegular() {
			err = fs.ErrNotExist // it is another file now
		}
		return &metered{w: w, from: f, count: true}, err
	})
}
