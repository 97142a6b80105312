package act

import (
	"errors"
	"fmt"
	"syscall"

	"github.com/vishvananda/netlink/nl"
)

// dumpAttempts is how often a list is asked for that changes while it is read.
const dumpAttempts = 8

// ask sends one rtnetlink request in the namespace of the calling thread and
// returns the answers' bodies. A refusal is the kernel's errno with the words
// that the kernel sends along (NLMSGERR_ATTR_MSG, Linux 4.12).
func ask(kind, answer, flags int, payload ...[]byte) (answers [][]byte, err error) {
	for range dumpAttempts {
		if answers, err = askOnce(kind, answer, flags, payload...); !errors.Is(err, nl.ErrDumpInterrupted) {
			break
		}
	}
	return answers, err
}

func askOnce(kind, answer, flags int, payload ...[]byte) ([][]byte, error) {
	socket, err := nl.Subscribe(syscall.NETLINK_ROUTE) // to no group: a plain socket on this thread
	if err != nil {
		return nil, fmt.Errorf("open rtnetlink: %w", err)
	}
	defer socket.Close()
	if err := errors.Join(socket.SetSendTimeout(&nl.SocketTimeoutTv), socket.SetReceiveTimeout(&nl.SocketTimeoutTv)); err != nil {
		return nil, fmt.Errorf("open rtnetlink: %w", err)
	}
	_ = socket.SetExtAck(true) // an older kernel sends no words
	r := nl.NewNetlinkRequest(kind, flags)
	r.Sockets = map[int]*nl.SocketHandle{syscall.NETLINK_ROUTE: {Socket: socket}}
	for _, p := range payload {
		r.AddRawData(p)
	}
	return r.Execute(syscall.NETLINK_ROUTE, uint16(answer))
}

// change sends one request that changes something.
func change(kind, flags int, payload ...[]byte) error {
	_, err := ask(kind, 0, flags|syscall.NLM_F_ACK, payload...)
	return err
}
