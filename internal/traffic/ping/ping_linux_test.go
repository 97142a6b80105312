package ping

import (
	"errors"
	"io/fs"
	"net/netip"
	"os"
	"testing"
	"time"

	"github.com/linerate/linerate/internal/agent/agentapi"
)

func TestKernelLoopback(t *testing.T) {
	for _, dst := range []string{"127.0.0.1", "::1"} {
		t.Run(dst, func(t *testing.T) {
			reply, err := Run(t.Context(), agentapi.PingRequest{Dst: netip.MustParseAddr(dst), Count: 5, Interval: 5 * time.Millisecond, Packet: 1400, DontFragment: true})
			if errors.Is(err, fs.ErrPermission) && os.Getuid() != 0 {
				t.Skip("sending ICMP needs root, or a group of net.ipv4.ping_group_range")
			}
			if err != nil {
				t.Fatal(err)
			}
			if reply.Sent != 5 || len(reply.RTTs) != 5 {
				t.Errorf("sent %d, %d came back", reply.Sent, len(reply.RTTs))
			}
			for _, rtt := range reply.RTTs {
				if rtt <= 0 || rtt > time.Second {
					t.Errorf("round trip of %v on loopback", rtt)
				}
			}
		})
	}
}

func TestRequestsAreBounded(t *testing.T) {
	lo := netip.MustParseAddr("127.0.0.1")
	for what, r := range map[string]agentapi.PingRequest{
		"no destination": {Count: 1}, "no count": {Dst: lo}, "flood": {Dst: lo, Count: 1, Interval: time.Microsecond},
		"endless": {Dst: lo, Count: 1 << 20}, "too small": {Dst: lo, Count: 1, Packet: 20}, "too big": {Dst: lo, Count: 1, Packet: 1 << 17},
		"no such port": {Dst: lo, Count: 1, TCP: 65536}, "negative port": {Dst: lo, Count: 1, TCP: -1},
		"flood of connections":  {Dst: lo, Count: 1, TCP: 80, Interval: time.Millisecond},
		"connection to a group": {Dst: netip.MustParseAddr("224.0.0.1"), Count: 1, TCP: 80},
		"connection to nobody":  {Dst: netip.MustParseAddr("0.0.0.0"), Count: 1, TCP: 80},
	} {
		if _, err := Run(t.Context(), r); !errors.Is(err, ErrRequest) {
			t.Errorf("%s: %v, want ErrRequest", what, err)
		}
	}
}

func TestEchoAndReply(t *testing.T) {
	b := echo(true, 0x1234, 7, 64)
	if checksum(b) != 0 {
		t.Error("checksum of a checksummed packet is not zero")
	}
	b[0] = echoReply4
	withIP := append(make([]byte, 20), b...)
	withIP[0] = 0x45
	for _, c := range []struct {
		name   string
		packet []byte
		header bool
		ok     bool
	}{{"plain", b, false, true}, {"with header", withIP, true, true}, {"cut", withIP[:25], true, false}, {"empty", nil, true, false}, {"bad length", []byte{0x4f, 0, 0}, true, false}} {
		id, seq, ok := parseReply(c.packet, true, c.header)
		if ok != c.ok || ok && (id != 0x1234 || seq != 7) {
			t.Errorf("%s: id %x seq %d ok %v", c.name, id, seq, ok)
		}
	}
}

func FuzzParseReply(f *testing.F) {
	f.Add(echo(true, 1, 2, 64), true, true)
	f.Fuzz(func(t *testing.T, b []byte, v4, header bool) { parseReply(b, v4, header) })
}
