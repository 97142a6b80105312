package sys

import (
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// MakeRaw is Raw for a person's terminal: restore puts it back as it was.
func MakeRaw(f *os.File) (restore func(), err error) {
	was, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	if err != nil {
		return nil, fmt.Errorf("read terminal settings: %w", err)
	}
	if err := Raw(f); err != nil {
		return nil, err
	}
	return func() { _ = unix.IoctlSetTermios(int(f.Fd()), unix.TCSETS, was) }, nil
}

// TerminalSize is a terminal's size in characters; an error says that the file
// is no terminal.
func TerminalSize(f *os.File) (rows, columns uint16, err error) {
	size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0, 0, fmt.Errorf("read terminal size: %w", err)
	}
	return size.Row, size.Col, nil
}

// SetTerminalSize sets a terminal's size; its programs get SIGWINCH.
func SetTerminalSize(f *os.File, rows, columns uint16) error {
	connection, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	err = connection.Control(func(fd uintptr) {
		failed = unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ, &unix.Winsize{Row: rows, Col: columns})
	})
	if err != nil {
		return err
	}
	return failed
}

// OpenTerminal makes a pseudo-terminal (pts(4)): near is the master, far what a
// program uses as its terminal. Reads of near can be given a deadline.
func OpenTerminal() (near, far *os.File, err error) {
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("open /dev/ptmx: %w", err)
	}
	near = os.NewFile(uintptr(fd), "/dev/ptmx")
	number, err := unix.IoctlGetUint32(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		far, err = os.OpenFile("/dev/pts/"+strconv.Itoa(int(number)), os.O_RDWR|unix.O_NOCTTY, 0)
	}
	if err != nil {
		near.Close()
		return nil, nil, fmt.Errorf("open pseudo-terminal: %w", err)
	}
	return near, far, nil
}
