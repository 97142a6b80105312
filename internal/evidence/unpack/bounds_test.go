package unpack

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/linerate/linerate/internal/evidence/paste"
)

// TestTricks: names that lead out, links and devices are passed over, and what is
// beside them is read.
func TestTricks(t *testing.T) {
	secret := file(t, "secret", []byte(noPartner))
	var packed bytes.Buffer
	w := tar.NewWriter(&packed)
	add := func(h tar.Header, text string) {
		h.Size, h.Mode = int64(len(text)), 0o600
		must(t, w.WriteHeader(&h))
		_, err := io.WriteString(w, text)
		must(t, err)
	}
	for _, name := range []string{"../proc/net/bonding/bond0", "a/../../proc/net/bonding/bond0", "a\\..\\proc/net/bonding/bond0", "a/\x1b[31m/proc/net/bonding/bond0"} {
		add(tar.Header{Name: name, Typeflag: tar.TypeReg}, noPartner)
	}
	for _, link := range []byte{tar.TypeSymlink, tar.TypeLink} {
		add(tar.Header{Name: "proc/net/bonding/bond1", Typeflag: link, Linkname: secret}, "")
	}
	add(tar.Header{Name: "proc/net/dev", Typeflag: tar.TypeChar, Devmajor: 1, Devminor: 5}, "")
	add(tar.Header{Name: "proc/interrupts", Typeflag: tar.TypeFifo}, "")
	add(tar.Header{Name: "/proc/net/bonding/bond2", Typeflag: tar.TypeReg}, onLayer2)
	must(t, w.Close())
	got, err := Open(context.Background(), file(t, "h.tar", packed.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Texts) != 1 || got.Texts[0].Path != "/proc/net/bonding/bond2" {
		t.Errorf("%d texts: %+v", len(got.Texts), got.Texts)
	}
	if len(got.Notes) != 1 || !strings.Contains(got.Notes[0], "4 members left out: the path leads out") {
		t.Errorf("%q", got.Notes)
	}

	dir := directory(t, "h", []member{{"proc/net/bonding/bond2", onLayer2}})
	must(t, os.Symlink(secret, filepath.Join(dir, "proc/net/bonding/bond1")))
	must(t, os.Symlink(filepath.Dir(secret), filepath.Join(dir, "etc")))
	got, err = Open(context.Background(), dir)
	if err != nil || len(got.Texts) != 1 || got.Texts[0].Host != "h" {
		t.Errorf("%v %+v", err, got.Texts)
	}
}

// TestBombs: what unpacks to far more than it is, is left at a bound, in little memory.
func TestBombs(t *testing.T) {
	var zeros bytes.Buffer
	z := gzip.NewWriter(&zeros)
	w := tar.NewWriter(z)
	const huge = 256 << 20
	must(t, w.WriteHeader(&tar.Header{Name: "proc/net/bonding/bond0", Size: huge, Mode: 0o600, Typeflag: tar.TypeReg}))
	block := []byte(strings.Repeat("Slave Interface: eno1\n", 48_000))[:1<<20]
	for range huge / len(block) {
		_, err := w.Write(block)
		must(t, err)
	}
	must(t, w.WriteHeader(&tar.Header{Name: "proc/net/dev", Size: 1, Mode: 0o600, Typeflag: tar.TypeReg}))
	_, err := w.Write([]byte("x"))
	must(t, errors.Join(err, w.Close(), z.Close()))
	for _, c := range []struct {
		name     string
		unpacked int64
		texts    int
		note     string
	}{
		{"one large member", usual.unpacked, 2, "1 file larger than 8 MiB"},
		{"too much in all", 100 << 20, 1, "unpacks to more than 100 MiB"},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		b := usual
		b.unpacked = c.unpacked
		walk := newWalk(context.Background(), "bomb.tgz", b)
		got, err := walk.contents(walk.packed("", bytes.NewReader(zeros.Bytes()), 0))
		runtime.ReadMemStats(&after)
		if err != nil || len(got.Texts) != c.texts || !strings.Contains(strings.Join(got.Notes, " "), c.note) {
			t.Errorf("%s: %v, %d texts, notes %q", c.name, err, len(got.Texts), got.Notes)
		}
		if grown := after.TotalAlloc - before.TotalAlloc; grown > 128<<20 {
			t.Errorf("%s: %d MiB were asked for", c.name, grown>>20)
		}
	}
}

// TestZipBombs: a small archive within which a zip has a list of millions of members, or
// another zip, is left at a bound.
func TestZipBombs(t *testing.T) {
	entry := append([]byte("PK\x01\x02"), make([]byte, 42)...)
	const entries = 1 << 19
	list := bytes.Repeat(entry, entries)
	end := append([]byte("PK\x05\x06"), make([]byte, 18)...)
	binary.LittleEndian.PutUint32(end[12:], uint32(len(list)))
	bomb := append(list, end...)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	w := newWalk(context.Background(), "bomb.zip", usual)
	got, err := w.contents(w.zip("", bytes.NewReader(bomb), int64(len(bomb)), 0))
	runtime.ReadMemStats(&after)
	if err != nil || len(got.Notes) != 1 || !strings.Contains(got.Notes[0], "list of members has more than 16 MiB") {
		t.Errorf("%v, notes %q", err, got.Notes)
	}
	if grown := (after.TotalAlloc - before.TotalAlloc) >> 20; grown > 100 {
		t.Errorf("%d MiB were asked for", grown)
	}

	inner := zipOf(t, []member{{"proc/net/bonding/bond0", noPartner}})
	outer := zipOf(t, []member{{"in/more.zip", string(inner)}})
	for add, texts := range map[int64]int{0: 1, -1: 0} {
		b := usual
		b.nested = int64(len(inner)+len(outer)) + add
		w := newWalk(context.Background(), "a.zip", b)
		got, err := w.contents(w.packed("", bytes.NewReader(outer), 0))
		if err != nil || len(got.Texts) != texts || len(got.Notes) != 1-texts {
			t.Errorf("%d bytes more: %v, %d texts, notes %q", add, err, len(got.Texts), got.Notes)
		}
	}
}

// TestBounds: each bound ends the reading with a note, and what was read stays.
func TestBounds(t *testing.T) {
	var many []member
	for _, n := range strings.Fields("bond0 bond1 bond2 bond3 bond4 bond5 bond6 bond7") {
		many = append(many, member{"proc/net/bonding/" + n, noPartner})
	}
	for name, set := range map[string]func(*bounds){
		"members": func(b *bounds) { b.members = 3 },
		"texts":   func(b *bounds) { b.texts = 3 },
		"kept":    func(b *bounds) { b.kept = int64(2*len(noPartner) + 1) },
	} {
		b := usual
		set(&b)
		w := newWalk(context.Background(), "a.tar", b)
		got, err := w.contents(w.packed("", bytes.NewReader(tarOf(t, many)), 0))
		if err != nil || len(got.Texts) != 3 || len(got.Notes) != 1 || !strings.Contains(got.Notes[0], "what comes later was not read") {
			t.Errorf("%s: %v, %d texts, %q", name, err, len(got.Texts), got.Notes)
		}
	}
	// Archives in archives: one level.
	inner := gzipOf(t, tarOf(t, []member{{"proc/net/bonding/bond0", noPartner}}))
	for depth := range 3 {
		got, err := Open(context.Background(), file(t, "a.tgz", inner))
		if want := map[bool]int{true: 1, false: 0}[depth < 2]; err != nil || len(got.Texts) != want {
			t.Errorf("depth %d: %v, %d texts", depth, err, len(got.Texts))
		}
		inner = gzipOf(t, tarOf(t, []member{{"in/more.tgz", string(inner)}}))
	}
}

// TestCut: an archive that is cut anywhere is read as far as it goes, and this is
// said wherever something is lost.
func TestCut(t *testing.T) {
	whole := len(unpackedTexts(t, "a.tar", tarOf(t, newSos)).Texts)
	for ending, pack := range containers {
		full := pack(t, newSos)
		for at := 0; at < len(full); at += max(len(full)/97, 1) {
			got := unpackedTexts(t, "a"+ending, full[:at])
			if len(got.Texts) > whole {
				t.Fatalf("%s at %d: %d texts", ending, at, len(got.Texts))
			}
			if len(got.Texts) < whole && len(got.Notes) == 0 {
				t.Errorf("%s at %d of %d: %d of %d texts, and nobody says so", ending, at, len(full), len(got.Texts), whole)
			}
			paste.Parse(got.Texts)
		}
		if got := unpackedTexts(t, "a"+ending, full); len(got.Texts) != whole || len(got.Notes) > 0 {
			t.Errorf("%s: %d texts, %q", ending, len(got.Texts), got.Notes)
		}
	}
}

func unpackedTexts(t *testing.T, name string, text []byte) Contents {
	t.Helper()
	got, err := Open(context.Background(), file(t, name, text))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return got
}

// TestDamaged: bytes that were changed are noted or left out; nothing breaks.
func TestDamaged(t *testing.T) {
	for ending, pack := range containers {
		full := pack(t, newSos)
		for at := 20; at < len(full); at += max(len(full)/61, 1) {
			damaged := bytes.Clone(full)
			damaged[at] ^= 0x55
			if got, err := Open(context.Background(), file(t, "a"+ending, damaged)); err == nil {
				paste.Parse(got.Texts)
			}
		}
	}
}

// TestForms: what is encrypted, or packed by a program that is not known, says so.
func TestForms(t *testing.T) {
	for _, c := range []struct{ name, text, form string }{
		{"a.tar.xz.gpg", "\x85\x02\x0c\x03abc", "encrypted"},
		{"a.asc", "-----BEGIN PGP MESSAGE-----\n\nhQ", "encrypted"},
		{"a.7z", "7z\xbc\xaf\x27\x1c\x00\x04", "a 7z archive"},
		{"a.rar", "Rar!\x1a\x07\x01\x00", "a RAR archive"},
	} {
		_, err := Open(context.Background(), file(t, c.name, []byte(c.text)))
		var form *FormError
		if !errors.As(err, &form) || form.Form != c.form || form.Hint == "" || !Is(c.name, []byte(c.text)) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	for _, text := range []string{"", "hello\n", noPartner, "BZ is no archive", strings.Repeat("\x00", 600)} {
		if Is("thread.txt", []byte(text)) {
			t.Errorf("%.20q is taken for an archive", text)
		}
	}
	var locked bytes.Buffer
	w := zip.NewWriter(&locked)
	f, err := w.CreateHeader(&zip.FileHeader{Name: "proc/net/bonding/bond0", Flags: 1})
	must(t, err)
	_, err = io.WriteString(f, noPartner)
	must(t, errors.Join(err, w.Close()))
	got := unpackedTexts(t, "a.zip", locked.Bytes())
	if len(got.Texts) != 0 || len(got.Notes) != 1 || !strings.Contains(got.Notes[0], "1 encrypted member left out") {
		t.Errorf("%d texts, %q", len(got.Texts), got.Notes)
	}
}

// TestEnd: the end of a context ends the reading; a file that is not there is an error.
func TestEnd(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, path := range []string{file(t, "a.tgz", gzipOf(t, tarOf(t, newSos))), directory(t, "a", newSos), file(t, "a.zip", zipOf(t, newSos))} {
		if _, err := Open(ctx, path); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if _, err := Open(context.Background(), filepath.Join(t.TempDir(), "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
}

// TestLarge: 200 MB of a report, most of it logs and what processes have, in seconds.
func TestLarge(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: it packs 200 MB")
	}
	line := "May 06 10:00:00 nas app[812]: a request of 192.0.2.7 took 12 ms and 4711 bytes\n"
	sos := slices.DeleteFunc(slices.Clone(newSos), func(m member) bool {
		return strings.Contains(m.name, "dmesg") || strings.Contains(m.name, "journalctl")
	})
	all := append(below("sosreport-nas-2024-05-06-abcdefg", sos),
		member{"sosreport-nas-2024-05-06-abcdefg/var/log/messages", strings.Repeat(line, 100<<20/len(line))},
		member{"sosreport-nas-2024-05-06-abcdefg/sos_commands/rpm/package-data", strings.Repeat(line, 100<<20/len(line))})
	path := file(t, "a.tgz", gzipOf(t, tarOf(t, all)))
	all = nil
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	began := time.Now()
	got, err := Open(context.Background(), path)
	took := time.Since(began)
	runtime.ReadMemStats(&after)
	if err != nil || len(got.Texts) < 5 {
		t.Fatalf("%v, %d texts", err, len(got.Texts))
	}
	t.Logf("%v, %d MiB asked for", took, (after.TotalAlloc-before.TotalAlloc)>>20)
	if asked := after.TotalAlloc - before.TotalAlloc; asked > 200<<20 {
		t.Errorf("%d MiB were asked for", asked>>20)
	}
}
