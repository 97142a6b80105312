package guest

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"

	"github.com/linerate/linerate/internal/kernel/sys"
)

// socketName is the socket of a lab that stands, in its directory.
const socketName = "socket"

// Listen makes the socket in a lab's directory that Attach calls. Who may
// enter the directory may use the lab.
func Listen(dir string) (net.Listener, error) {
	path, done, err := shortPath(dir)
	if err != nil {
		return nil, fmt.Errorf("listen for lab commands: %w", err)
	}
	defer done()
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, fmt.Errorf("listen for lab commands: %w", err)
	}
	l.SetUnlinkOnClose(false) // the short path is gone by then; the directory goes as a whole
	return l, nil
}

// shortPath names the socket by its open directory: a socket's path has room
// for 107 bytes.
func shortPath(dir string) (path string, done func(), err error) {
	d, err := os.Open(dir)
	if err != nil {
		return "", nil, err
	}
	return filepath.Join("/proc/self/fd", strconv.Itoa(int(d.Fd())), socketName), func() { d.Close() }, nil
}

// Streams are a command's streams here.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
}

// Attach runs a command in the lab whose directory it is given, and returns
// its exit status: 128 and the signal's number where one ended it. Signals
// that this program gets in the meantime are the command's: interrupt, quit,
// terminate, hang-up; the third hangs the command up. With Request.Terminal, In is this program's terminal,
// which is raw until Attach returns. The error is ErrRefused when the command
// could not be started.
func Attach(dir string, r Request, s Streams) (status int, err error) {
	path, done, err := shortPath(dir)
	if err != nil {
		return 1, fmt.Errorf("call lab: %w", err)
	}
	conn, err := net.Dial("unix", path)
	done()
	if err != nil {
		return 1, fmt.Errorf("call lab: %w", err)
	}
	defer conn.Close()
	if in, ok := s.In.(*os.File); ok && r.Terminal {
		r.Rows, r.Columns, _ = sys.TerminalSize(in)
		restore, err := sys.MakeRaw(in)
		if err != nil {
			return 1, err
		}
		defer restore()
	}
	up := &frameWriter{to: conn}
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGWINCH)
	defer signal.Stop(signals)
	if err := writeRequest(conn, r); err != nil {
		return 1, fmt.Errorf("call lab: %w", err)
	}
	ended := make(chan struct{})
	defer close(ended)
	go passSignals(signals, ended, up, conn, r.Terminal, s.In)
	room := newAllowance(inputWindow)
	defer room.end()
	go passInput(up, s.In, room)
	return hear(conn, s, room)
}

// hear passes the command's output on until it has ended.
func hear(conn io.Reader, s Streams, room *allowance) (int, error) {
	for {
		kind, payload, err := readFrame(conn)
		if errors.Is(err, io.EOF) {
			err = errors.New("the lab ended")
		}
		if err != nil {
			return 1, fmt.Errorf("run in lab: %w", err)
		}
		switch kind {
		case frameStdout:
			err = pass(s.Out, payload)
		case frameStderr:
			err = pass(s.Err, payload)
		case frameRoom:
			if len(payload) == 4 {
				room.add(int(binary.BigEndian.Uint32(payload)))
			}
		case frameRefused:
			return 1, fmt.Errorf("%w: %s", ErrRefused, payload)
		case frameExit:
			if len(payload) == 1 {
				return int(payload[0]), nil
			}
			return 1, errFrame
		}
		if err != nil {
			return 1, fmt.Errorf("pass output on: %w", err)
		}
	}
}

// passInput ends with the input, the command or the program: a read from a
// terminal cannot be called off. No more is on the way than inputWindow.
func passInput(up *frameWriter, in io.Reader, room *allowance) {
	buf := make([]byte, 16<<10)
	for in != nil {
		n, err := in.Read(buf)
		if n > 0 && (!room.take(n) || up.send(frameStdin, buf[:n]) != nil) {
			return
		}
		if err != nil {
			break
		}
	}
	_ = up.send(frameStdin, nil)
}

// allowance is how much may still be sent.
type allowance struct {
	mu    sync.Mutex
	grown *sync.Cond
	free  int
	over  bool
}

func newAllowance(free int) *allowance {
	a := &allowance{free: free}
	a.grown = sync.NewCond(&a.mu)
	return a
}

func (a *allowance) add(n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.free += n
	a.grown.Broadcast()
}

// take waits until n may be sent; false when nothing may any more.
func (a *allowance) take(n int) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	for a.free < n && !a.over {
		a.grown.Wait()
	}
	a.free -= n
	return !a.over
}

func (a *allowance) end() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.over = true
	a.grown.Broadcast()
}

func passSignals(signals <-chan os.Signal, ended <-chan struct{}, up *frameWriter, conn io.Closer, tty bool, in io.Reader) {
	for asked := 0; ; {
		select {
		case <-ended:
			return
		case s := <-signals:
			number, _ := s.(syscall.Signal)
			switch f, ok := in.(*os.File); {
			case number != syscall.SIGWINCH:
				if asked++; asked == 3 {
					conn.Close() // it does not listen: hang up
					return
				}
				_ = up.send(frameSignal, []byte{byte(number)})
			case ok && tty:
				if rows, columns, err := sys.TerminalSize(f); err == nil {
					_ = up.send(frameSize, sizeMessage(rows, columns))
				}
			}
		}
	}
}
