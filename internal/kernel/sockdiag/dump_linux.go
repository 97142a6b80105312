package sockdiag

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"time"

	"github.com/vishvananda/netlink/nl"

	"github.com/linerate/linerate/flow"
)

// netlinkSockDiag is NETLINK_SOCK_DIAG (include/uapi/linux/netlink.h).
const netlinkSockDiag = 4

// Sockets lists the sockets of the calling thread's network namespace, IPv4
// and IPv6, that answer the query. It needs no privilege. Where the kernel has no SOCK_DIAG_BY_FAMILY for the protocol (before 3.3,
// or a module that is not there) it reads /proc/net instead.
func Sockets(q Query) ([]Socket, error) {
	if q.Proto != flow.TCP && q.Proto != flow.UDP {
		return nil, fmt.Errorf("list %s sockets: want tcp or udp", q.Proto)
	}
	all, err := dump(q)
	// ENOENT is a protocol without its diagnostic module, EINVAL one that the
	// kernel does not know at all.
	if errors.Is(err, syscall.ENOENT) || errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.EPROTONOSUPPORT) {
		all, err = readTables(q)
	}
	if err != nil {
		return nil, fmt.Errorf("list %s sockets: %w", q.Proto, err)
	}
	wanted := all[:0]
	for _, s := range all {
		if q.wants(s) {
			wanted = append(wanted, s)
		}
	}
	return wanted, nil
}

// attempts is how often a dump is asked for that a change cut short.
const attempts = 4

func dump(q Query) ([]Socket, error) {
	var all []Socket
	for _, family := range [...]uint8{familyIPv4, familyIPv6} {
		messages, err := ask(q.request(family))
		// A kernel without IPv6 has none of its sockets.
		if family == familyIPv6 && errors.Is(err, syscall.ENOENT) {
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, m := range messages {
			s, err := parse(m, q.Proto)
			if err != nil {
				return nil, err
			}
			all = append(all, s)
		}
	}
	return all, nil
}

func ask(request []byte) (messages [][]byte, err error) {
	for attempt := range attempts {
		time.Sleep(time.Duration(attempt) * 5 * time.Millisecond)
		r := nl.NewNetlinkRequest(nl.SOCK_DIAG_BY_FAMILY, syscall.NLM_F_DUMP)
		r.AddRawData(request)
		messages, err = r.Execute(netlinkSockDiag, nl.SOCK_DIAG_BY_FAMILY)
		if !errors.Is(err, nl.ErrDumpInterrupted) {
			return messages, err
		}
	}
	return messages, nil // complete but for what came and went meanwhile
}

// readTables lists sockets from /proc of the calling thread.
func readTables(q Query) ([]Socket, error) {
	var all []Socket
	for i, name := range tables(q.Proto) {
		text, err := os.ReadFile("/proc/thread-self/net/" + name)
		if i > 0 && errors.Is(err, fs.ErrNotExist) {
			continue // no IPv6
		}
		if err != nil {
			return nil, err
		}
		sockets, err := parseTable(string(text), q.Proto)
		if err != nil {
			return nil, fmt.Errorf("read /proc/net/%s: %w", name, err)
		}
		all = append(all, sockets...)
	}
	return all, nil
}
