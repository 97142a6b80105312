package sockdiag

import (
	"errors"
	"fmt"
	"net/netip"
	"syscall"

	"github.com/vishvananda/netlink/nl"
)

// ConnectionsAt lists the TCP connections of the calling thread's network
// namespace, IPv4 and IPv6, whose own port is sport and whose peer's is dport, as the
// kernel picks them out; zero is any. It comes with what the kernel knows of each, and
// needs no privilege. A kernel without the interface is errors.ErrUnsupported: there is
// no other way to see into other programs' sockets.
func ConnectionsAt(sport, dport uint16) (all []Detail, err error) {
	err = each(allRequest(sport, dport), func(m Message) error {
		d, err := m.Detail()
		all = append(all, d)
		return err
	})
	return all, err
}

// ConnectionsBut visits the connections of the calling thread's network namespace
// whose peers are in none of the prefixes, and those that wait for the answer to their
// SYN: the kernel leaves those out before it tells
// anything of them (the first thousand prefixes). A message holds until visit returns.
// Errors are those of ConnectionsAt.
// Where brief is set only their tcp_info comes with it, of all that Detail holds.
func ConnectionsBut(peers []netip.Prefix, brief bool, visit func(Message)) error {
	tell := uint8(everything)
	if brief {
		tell = onlyInfo
	}
	return each(pickingRequest(peers, false, tell), func(m Message) error {
		visit(m)
		return nil
	})
}

// CountTo counts the ends of connections whose peers are in one of the prefixes.
func CountTo(peers []netip.Prefix) (n int, err error) {
	if len(peers) == 0 {
		return 0, nil
	}
	err = each(pickingRequest(peers, true, 0), func(Message) error {
		n++
		return nil
	})
	return n, err
}

// Unanswered lists the connections of the calling thread's network namespace that wait for
// the answer to their SYN, which the kernel picks out: of each the ends and its cookie.
// Errors are those of ConnectionsAt.
func Unanswered() (all []Detail, err error) {
	err = each(askedRequest(), func(m Message) error {
		d, err := m.Detail()
		all = append(all, d)
		return err
	})
	return all, err
}

func each(request []byte, visit func(Message) error) error {
	err := walk(getTCP, request, visit)
	switch {
	case errors.Is(err, syscall.ENOENT), errors.Is(err, syscall.EINVAL), errors.Is(err, syscall.EPROTONOSUPPORT):
		return fmt.Errorf("list connections: %w: %w", errors.ErrUnsupported, err)
	case err != nil:
		return fmt.Errorf("list connections: %w", err)
	}
	return nil
}

// Follower asks for single connections, by one socket that stays open.
type Follower struct{ socket *nl.NetlinkSocket }

// Follow opens a Follower in the calling thread's network namespace; Close ends it.
func Follow() (*Follower, error) {
	s, err := nl.Subscribe(netlinkSockDiag)
	if err == nil {
		err = s.SetReceiveTimeout(&nl.SocketTimeoutTv)
	}
	if err != nil {
		return nil, fmt.Errorf("follow connections: %w", err)
	}
	return &Follower{s}, nil
}

// Close closes the socket.
func (f *Follower) Close() { f.socket.Close() }

// Look is the connection now; false when it is gone, or carries nothing any more.
func (f *Follower) Look(d Detail) (Detail, bool, error) {
	r := nl.NewNetlinkRequest(nl.SOCK_DIAG_BY_FAMILY, 0)
	r.Sockets = map[int]*nl.SocketHandle{netlinkSockDiag: {Socket: f.socket, Seq: r.Seq}}
	r.AddRawData(singleRequest(d))
	messages, err := r.Execute(netlinkSockDiag, nl.SOCK_DIAG_BY_FAMILY)
	switch {
	case errors.Is(err, syscall.ENOENT), errors.Is(err, syscall.ESTALE):
		return Detail{}, false, nil
	case err != nil:
		return Detail{}, false, fmt.Errorf("follow connection: %w", err)
	case len(messages) == 0:
		return Detail{}, false, nil
	}
	now, err := parseDetail(messages[0])
	if err != nil {
		return Detail{}, false, fmt.Errorf("follow connection: %w", err)
	}
	return now, now.Cookie == d.Cookie && now.Info != nil && 1<<now.State&carrying != 0, nil
}
