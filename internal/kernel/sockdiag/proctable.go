package sockdiag

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"github.com/linerate/linerate/flow"
)

// tables are the files of /proc/thread-self/net that list sockets, for
// kernels that lack the diagnostic interface of the protocol.
func tables(p flow.Proto) []string { return []string{p.String(), p.String() + "6"} }

// parseTable reads /proc/net/tcp and its like (Documentation/networking/
// proc_net_tcp.rst): a heading, then a line a socket.
func parseTable(text string, proto flow.Proto) ([]Socket, error) {
	var sockets []Socket
	for i, line := range strings.Split(text, "\n") {
		if i == 0 || strings.TrimSpace(line) == "" {
			continue
		}
		s, err := parseRow(strings.Fields(line))
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
		s.Proto = proto
		sockets = append(sockets, s)
	}
	return sockets, nil
}

// parseRow reads "0: 0100007F:1F90 00000000:0000 0A tx:rx tr:when retr uid
// timeout inode ...".
func parseRow(f []string) (Socket, error) {
	var s Socket
	if len(f) < 10 {
		return s, fmt.Errorf("%d fields, want 10: %w", len(f), ErrUnreadable)
	}
	var errs [5]error
	s.Src, s.Sport, errs[0] = parseEnd(f[1])
	s.Dst, s.Dport, errs[1] = parseEnd(f[2])
	state, err := strconv.ParseUint(f[3], 16, 8)
	uid, errUID := strconv.ParseUint(f[7], 10, 32)
	inode, errInode := strconv.ParseUint(f[9], 10, 32)
	errs[2], errs[3], errs[4] = err, errUID, errInode
	for _, err := range errs {
		if err != nil {
			return Socket{}, fmt.Errorf("%w: %w", ErrUnreadable, err)
		}
	}
	s.State, s.UID, s.Inode = State(state), uint32(uid), uint32(inode)
	return s, nil
}

// parseEnd reads "0100007F:1F90": the address as words of the machine's byte
// order, the port in hexadecimal.
func parseEnd(word string) (netip.Addr, uint16, error) {
	digits, port, _ := strings.Cut(word, ":")
	p, err := strconv.ParseUint(port, 16, 16)
	if err != nil {
		return netip.Addr{}, 0, err
	}
	b, err := hex.DecodeString(digits)
	if err != nil {
		return netip.Addr{}, 0, err
	}
	if len(b) != 4 && len(b) != 16 {
		return netip.Addr{}, 0, fmt.Errorf("address of %d bytes", len(b))
	}
	for i := 0; i < len(b); i += 4 {
		binary.NativeEndian.PutUint32(b[i:], binary.BigEndian.Uint32(b[i:]))
	}
	a, _ := netip.AddrFromSlice(b)
	return a.Unmap(), uint16(p), nil
}
