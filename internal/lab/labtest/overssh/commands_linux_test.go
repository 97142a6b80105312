package overssh

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/linerate/linerate/internal/lab/labtest/floor"
)

// Of the kernel's proc connector (include/uapi/linux/connector.h and cn_proc.h,
// 6.1): CN_IDX_PROC, CN_VAL_PROC, PROC_CN_MCAST_LISTEN, PROC_EVENT_EXEC, and where
// an event has its kind and its process, after struct nlmsghdr and struct cn_msg.
const (
	procIndex, procValue = 1, 1
	listenOperation      = 1
	execEvent            = 2

	connectorAt   = syscall.NLMSG_HDRLEN
	operationAt   = connectorAt + 20
	eventAt       = operationAt
	execProcessAt = eventAt + 4 + 4 + 8 + 4 // what, cpu, timestamp_ns, the thread
	execLength    = execProcessAt + 4

	// untold is what may wait unread: every process and thread that begins or ends is
	// an event, and one that has no room ends the watch.
	untold = 4 << 20
)

// watchCommands looks for tokens in the command line of each program that starts
// until it is ended; enrolled is whether it saw one enrol at all. The kernel tells
// of each: who only looks every now and then misses one that takes 20 ms.
func watchCommands(t *testing.T) (end func() (enrolled bool)) {
	t.Helper()
	starts := startsOfPrograms(t)
	seen := make(chan bool, 1)
	go func() {
		enrolled := false
		for event := make([]byte, 4096); ; {
			n, err := starts.Read(event)
			if err != nil {
				if !errors.Is(err, os.ErrDeadlineExceeded) && !errors.Is(err, os.ErrClosed) { // of a test that failed before
					t.Errorf("watch command lines: %v", err)
				}
				break
			}
			if n < execLength || binary.NativeEndian.Uint32(event[eventAt:]) != execEvent {
				continue
			}
			line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", binary.NativeEndian.Uint32(event[execProcessAt:]))) // it may have ended
			if aToken.Match(line) {
				t.Errorf("a token is in a command line: %.40q", line)
			}
			enrolled = enrolled || strings.Contains(string(line), "linerate\x00enroll\x00-\x00")
		}
		seen <- enrolled
	}()
	return func() bool {
		floor.Must(t, starts.SetReadDeadline(time.Now().Add(100*time.Millisecond))) // what is told late
		return <-seen
	}
}

// startsOfPrograms is a socket on which the kernel tells of each program that
// starts, until the test ends. It takes CONFIG_PROC_EVENTS, and root in the machine's
// own namespaces: elsewhere nothing is told.
func startsOfPrograms(t *testing.T) *os.File {
	t.Helper()
	fd, err := syscall.Socket(syscall.AF_NETLINK, syscall.SOCK_DGRAM|syscall.SOCK_NONBLOCK|syscall.SOCK_CLOEXEC, syscall.NETLINK_CONNECTOR)
	floor.Must(t, err)
	f := os.NewFile(uintptr(fd), "proc connector")
	t.Cleanup(func() { _ = f.Close() }) // nothing was written that could be lost
	floor.Must(t, syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_RCVBUFFORCE, untold))
	floor.Must(t, syscall.Bind(fd, &syscall.SockaddrNetlink{Family: syscall.AF_NETLINK, Groups: procIndex}))
	u16, u32 := binary.NativeEndian.AppendUint16, binary.NativeEndian.AppendUint32
	operation := u32(nil, listenOperation)
	connector := u32(u32(u32(u32(nil, procIndex), procValue), 0), 0) // sequence, acknowledgement
	connector = u16(u16(connector, uint16(len(operation))), 0)       // flags
	header := u32(nil, uint32(operationAt+len(operation)))
	header = u16(u16(header, syscall.NLMSG_DONE), 0)       // flags
	header = u32(u32(header, 0), uint32(syscall.Getpid())) // sequence
	_, err = f.Write(slices.Concat(header, connector, operation))
	floor.Must(t, err)
	return f
}
