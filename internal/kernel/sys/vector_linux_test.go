package sys

import (
	"bytes"
	"io"
	"net"
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// connection is a TCP connection over loopback: a descriptor of each end.
func connection(t *testing.T) (a, b int, far net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	near, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	far, err = l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	fds := make([]int, 2)
	for i, c := range []net.Conn{near, far} {
		f, err := c.(*net.TCPConn).File() // blocking from now on
		if err != nil {
			t.Fatal(err)
		}
		fds[i] = int(f.Fd())
		t.Cleanup(func() { f.Close(); c.Close() })
	}
	return fds[0], fds[1], far
}

func pattern(n, from, size int) []byte {
	out := make([]byte, n)
	for i := range out {
		out[i] = byte((from + i) % size)
	}
	return out
}

// TestVectorGoesOn: calls of any length send the buffer in order, over and
// over, from where the vector begins.
func TestVectorGoesOn(t *testing.T) {
	const size, begin = 251, 20
	a, _, far := connection(t)
	v := NewVector(pattern(size, 0, size), 4*size, begin)
	sent := 0
	for i, most := range []uint64{1, 7, 230, 231, size, 600, 1 << 40, 3, 1 << 40} {
		send := v.Write
		if i%2 == 1 {
			send = func(fd int, most uint64) (int, error) { return v.Send(fd, most, 0) }
		}
		n, err := send(a, most)
		if err != nil || n <= 0 || uint64(n) > most || n > 4*size {
			t.Fatalf("call %d of %d bytes: %d, %v", i, most, n, err)
		}
		sent += n
	}
	got := make([]byte, sent)
	if _, err := io.ReadFull(far, got); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, pattern(sent, begin, size)) {
		t.Error("what came is not what was sent in order")
	}
}

// TestVectorReceives: a call fills the buffer over and over, and the last bytes
// of it stay.
func TestVectorReceives(t *testing.T) {
	const size, begin = 100, 20
	a, b, _ := connection(t)
	mem := make([]byte, size)
	v := NewVector(mem, 3*size, begin)
	const whole = 3*size - begin // the first piece begins behind
	out := NewVector(bytes.Repeat([]byte{'x'}, whole), whole, 0)
	if n, err := out.Write(a, whole); n != whole || err != nil {
		t.Fatalf("%d, %v", n, err)
	}
	if n, err := v.Receive(b, WaitAll); n != whole || err != nil {
		t.Fatalf("took in %d, %v, want %d", n, err, whole)
	}
	if !bytes.Equal(mem, bytes.Repeat([]byte{'x'}, size)) {
		t.Errorf("buffer holds %q", mem)
	}
}

// TestDrop: every byte is taken off, whether it waits already or not, and the
// end is the end.
func TestDrop(t *testing.T) {
	const all = 300_000
	a, b, _ := connection(t)
	go func() {
		out := NewVector(bytes.Repeat([]byte{1}, 1000), 1000, 0)
		for range all / 1000 {
			_, _ = out.Write(a, 1000)
		}
		_ = unix.Shutdown(a, unix.SHUT_WR)
	}()
	got, room := 0, make([]byte, 4096)
	for {
		n, err := Drop(b, room, 3)
		if err != nil || n > 4096 {
			t.Fatal(n, err)
		}
		if n == 0 {
			break
		}
		got += n
	}
	if got != all {
		t.Errorf("dropped %d bytes of %d", got, all)
	}
	if bytes.ContainsFunc(room, func(r rune) bool { return r != 0 }) {
		t.Error("something was copied")
	}
}

// TestIncoming: over loopback no card hands packets over.
func TestIncoming(t *testing.T) {
	a, b, far := connection(t)
	v := NewVector(make([]byte, 1000), 1000, 0)
	if _, err := v.Write(a, 1000); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(far, make([]byte, 1000)); err != nil {
		t.Fatal(err)
	}
	if core, card, ok := Incoming(b); ok && (card || core < 0) {
		t.Errorf("core %d, card %v", core, card)
	}
}

func TestPacing(t *testing.T) {
	a, _, _ := connection(t)
	if got := Pacing(a); got != 0 {
		t.Errorf("unpaced: %d", got)
	}
	for _, rate := range []uint64{1000, 1 << 31, 10e9} {
		if err := SetPacing(a, rate); err != nil {
			t.Fatal(err)
		}
		if got := Pacing(a); got != rate {
			t.Errorf("paced at %d, reads back %d", rate, got)
		}
	}
}

// A page file is whole, on a disk and in memory, and leaves nothing.
func TestPageFile(t *testing.T) {
	content := bytes.Repeat([]byte("linerate"), 1000)
	dir := t.TempDir()
	for _, dirs := range [][]string{{dir}, {dir + "/none", "/proc"}, nil} {
		fd, err := PageFile("source", content, dirs...)
		if err != nil {
			t.Fatal(err)
		}
		got := make([]byte, len(content)+1)
		n, err := unix.Pread(fd, got, 0)
		if err != nil || !bytes.Equal(got[:n], content) {
			t.Errorf("in %v: %d bytes of %d, %v", dirs, n, len(content), err)
		}
		unix.Close(fd)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left %v, %v", left, err)
	}
}
