package sockdiag

import (
	"io"
	"net"
	"testing"
)

// TestConnections moves bytes over loopback and finds them in both ends'
// details.
func TestConnections(t *testing.T) {
	const written, read = 30000, 10000
	for _, at := range []string{"127.0.0.1:0", "[::1]:0"} {
		l, err := net.Listen("tcp", at)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		near, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer near.Close()
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
