package sockdiag

import (
	"io"
	"net"
	"net/netip"
	"testing"
)

// dialled is a listener at an address and a connection to it, until the test ends.
func dialled(t *testing.T, at string) (net.Listener, net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", at)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	near, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { near.Close() })
	return l, near
}

// TestConnections moves bytes over loopback and finds them in both ends'
// details.
func TestConnections(t *testing.T) {
	const written, read = 30000, 10000
	for _, at := range []string{"127.0.0.1:0", "[::1]:0"} {
		l, near := dialled(t, at)
		far, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		defer far.Close()
		if _, err := near.Write(make([]byte, written)); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(far, make([]byte, read)); err != nil {
			t.Fatal(err)
		}
		all, err := ConnectionsAt(0, 0)
		if err != nil {
			t.Fatal(err)
		}
		ends := map[uint16]Detail{}
		for _, d := range all {
			if d.State == Listen {
				t.Errorf("a listener is listed: %+v", d)
			}
			ends[d.Sport] = d
		}
		of, to := portOf(near.LocalAddr()), portOf(l.Addr())
		for _, q := range [][2]uint16{{of, 0}, {0, of}, {of, to}} {
			picked, err := ConnectionsAt(q[0], q[1])
			if err != nil || len(picked) != 1 || (picked[0].Sport == of) != (q[0] == of) {
				t.Errorf("%s: at the ports %v: %+v, %v", at, q, picked, err)
			}
		}
		out, in := ends[portOf(near.LocalAddr())], ends[portOf(l.Addr())]
		if out.Info == nil || in.Info == nil || out.Cookie == in.Cookie || out.Cookie == 0 {
			t.Fatalf("%s: the ends are %+v and %+v", at, out, in)
		}
		if in.Info.BytesReceived != written || in.Unread != written-read {
			t.Errorf("%s: received %d, unread %d, want %d and %d", at, in.Info.BytesReceived, in.Unread, written, written-read)
		}
		if out.Memory.SndBuf == 0 || in.Memory.RcvBuf == 0 || out.Congestion == "" {
			t.Errorf("%s: memory %+v and %+v, congestion control %q", at, out.Memory, in.Memory, out.Congestion)
		}
	}
}

// TestPicked: the kernel leaves out the peers that it is told to, or counts only them;
// and a connection is found by itself until it ends.
func TestPicked(t *testing.T) {
	for _, tt := range []struct{ at, within, beside string }{
		{"127.0.0.1:0", "127.0.0.0/8", "127.0.0.0/32"}, {"[::1]:0", "::1/128", "::2/127"},
	} {
		l, near := dialled(t, tt.at)
		within, beside := netip.MustParsePrefix(tt.within), netip.MustParsePrefix(tt.beside)
		other := netip.MustParsePrefix("192.0.2.0/25")
		at := func(peers ...netip.Prefix) (found *Detail) {
			if err := ConnectionsBut(peers, false, func(m Message) {
				d, err := m.Detail()
				if err != nil {
					t.Fatal(err)
				}
				if d.Sport == portOf(near.LocalAddr()) && d.Dport == portOf(l.Addr()) {
					found = &d
				}
			}); err != nil {
				t.Fatal(err)
			}
			return found
		}
		if at() == nil || at(beside) == nil || at(other, beside) == nil {
			t.Errorf("%s: left out where it was not to be", tt.at)
		}
		if at(within) != nil || at(other, within) != nil || at(within, other) != nil {
			t.Errorf("%s: listed where it was to be left out", tt.at)
		}
		for _, c := range []struct {
			peers []netip.Prefix
			some  bool
		}{{nil, false}, {[]netip.Prefix{other}, false}, {[]netip.Prefix{other, within}, true}, {[]netip.Prefix{within, other}, true}} {
			if n, err := CountTo(c.peers); err != nil || (n >= 2) != c.some {
				t.Errorf("%s: %d to %v, %v", tt.at, n, c.peers, err)
			}
		}
		d := at()
		if d == nil {
			t.Fatalf("%s: not listed", tt.at)
		}
		f, err := Follow()
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		for range 3 {
			if now, there, err := f.Look(*d); err != nil || !there || now.Tuple != d.Tuple || now.Memory.SndBuf == 0 {
				t.Errorf("%s: looked at %+v, %v, %v", tt.at, now, there, err)
			}
		}
		gone := *d
		gone.Cookie++
		if _, there, err := f.Look(gone); there || err != nil {
			t.Errorf("%s: another's cookie: %v, %v", tt.at, there, err)
		}
		gone = *d
		gone.Sport, gone.Dport = 1, 1
		if _, there, err := f.Look(gone); there || err != nil {
			t.Errorf("%s: nobody's ports: %v, %v", tt.at, there, err)
		}
	}
}
