package rtnl

import (
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/vishvananda/netlink/nl"
)

// Handle reads the network namespace of the thread that opened it, and may
// then be used from any thread and by several goroutines at once.
type Handle struct {
	socket  *nl.NetlinkSocket
	sockets map[int]*nl.SocketHandle
}

// Open opens an rtnetlink socket in the calling thread's network namespace.
// Reading needs no privilege.
func Open() (*Handle, error) {
	// Subscribing to no group opens a plain socket on this thread.
	s, err := nl.Subscribe(syscall.NETLINK_ROUTE)
	if err != nil {
		return nil, fmt.Errorf("open rtnetlink: %w", err)
	}
	if err := errors.Join(s.SetSendTimeout(&nl.SocketTimeoutTv), s.SetReceiveTimeout(&nl.SocketTimeoutTv)); err != nil {
		s.Close()
		return nil, fmt.Errorf("open rtnetlink: %w", err)
	}
	return &Handle{
		socket:  s,
		sockets: map[int]*nl.SocketHandle{syscall.NETLINK_ROUTE: {Socket: s}},
	}, nil
}

// Close closes the socket; the handle must not be used afterwards.
func (h *Handle) Close() { h.socket.Close() }

// A dump that a change cut short is asked for again: on a host where
// containers come and go that is common, and more than a few in a row is not.
const (
	dumpAttempts = 8
	dumpPause    = 5 * time.Millisecond
)

// dump asks for every object of a kind; request is the fixed part of the
// message and its attributes. When every attempt was interrupted, the last
// one's messages come with an error that is nl.ErrDumpInterrupted.
func (h *Handle) dump(kind, answer uint16, request []byte) (messages [][]byte, err error) {
	for attempt := range dumpAttempts {
		if attempt > 0 {
			time.Sleep(dumpPause << attempt)
		}
		messages, err = h.ask(kind, answer, syscall.NLM_F_DUMP, request)
		if !errors.Is(err, nl.ErrDumpInterrupted) {
			break
		}
	}
	return messages, err
}

func (h *Handle) ask(kind, answer uint16, flags int, request []byte) ([][]byte, error) {
	r := nl.NewNetlinkRequest(int(kind), flags)
	r.Sockets = h.sockets
	r.AddRawData(request)
	return r.Execute(syscall.NETLINK_ROUTE, answer)
}
