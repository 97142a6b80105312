package guest

import (
	"bytes"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// entry is what a reader of an archive sees.
type entry struct {
	Name         string
	Mode         uint32
	Major, Minor uint32
	Content      string
}

// readCPIO reads an archive the way the format's description says, and
// nothing the way the writer does it.
func readCPIO(archive []byte) (out []entry, err error) {
	inodes := make(map[uint64]bool)
	for at := 0; ; {
		if at%4 != 0 || len(archive) < at+110 || string(archive[at:at+6]) != "070701" {
			return out, fmt.Errorf("no header at %d", at)
		}
		var field [13]uint64
		for i := range field {
			if field[i], err = strconv.ParseUint(string(archive[at+6+8*i:at+14+8*i]), 16, 32); err != nil {
				return out, err
			}
		}
		mode, size, nameSize := field[1], int(field[6]), int(field[11])
		name := at + 110
		data := (name + nameSize + 3) &^ 3
		if archive[name+nameSize-1] != 0 {
			return out, fmt.Errorf("name at %d does not end", name)
		}
		e := entry{string(archive[name : name+nameSize-1]), uint32(mode), uint32(field[9]), uint32(field[10]), string(archive[data : data+size])}
		if inodes[field[0]] { // the same number would be a hard link
			return out, fmt.Errorf("%s has another's inode", e.Name)
		}
		inodes[field[0]] = true
		if e.Name == "TRAILER!!!" {
			return out, nil
		}
		out = append(out, e)
		at = (data + size + 3) &^ 3
	}
}

func writeTestArchive(t *testing.T) []byte {
	t.Helper()
	var archive bytes.Buffer
	w := newCPIOWriter(&archive)
	for _, err := range []error{
		w.directory("etc", 0o755),
		w.file("etc/empty", 0o600, 0, strings.NewReader("")),
		w.file("etc/a", 0o755, 5, strings.NewReader("hello")),
		w.symlink("link", "etc/a"),
		w.device("console", 0o600, 5, 1),
		w.file("four", 0o644, 4, strings.NewReader("4444")),
		w.close(),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return archive.Bytes()
}

func TestCPIORoundTrip(t *testing.T) {
	got, err := readCPIO(writeTestArchive(t))
	want := []entry{
		{"etc", 0o040755, 0, 0, ""},
		{"etc/empty", 0o100600, 0, 0, ""},
		{"etc/a", 0o100755, 0, 0, "hello"},
		{"link", 0o120777, 0, 0, "etc/a"},
		{"console", 0o020600, 5, 1, ""},
		{"four", 0o100644, 0, 0, "4444"},
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("archive reads back differently (%v):\n%s", err, diff)
	}
}

// TestCPIOAsOthersReadIt: the system's own program agrees.
func TestCPIOAsOthersReadIt(t *testing.T) {
	program, err := exec.LookPath("cpio")
	if err != nil {
		t.Skip(err)
	}
	cmd := exec.Command(program, "-t", "--quiet")
	cmd.Stdin = bytes.NewReader(writeTestArchive(t))
	out, err := cmd.CombinedOutput()
	if want := "etc\netc/empty\netc/a\nlink\nconsole\nfour\n"; string(out) != want || err != nil {
		t.Errorf("cpio -t: %q, %v; want %q", out, err, want)
	}
}

func TestCPIORefuses(t *testing.T) {
	w := newCPIOWriter(io.Discard)
	if err := w.file("big", 0o644, 1<<32, nil); err == nil {
		t.Error("a file of 4 GiB was taken")
	}
	if err := w.file("short", 0o644, 10, strings.NewReader("only")); err == nil {
		t.Error("a file that ended early was taken")
	}
}
