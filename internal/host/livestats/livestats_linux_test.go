package livestats

import (
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/kernel/netns"
	"github.com/linerate/linerate/internal/kernel/procfs"
	"github.com/linerate/linerate/internal/kernel/sockdiag"
	"github.com/linerate/linerate/unit"
)

// TestMeter follows a connection over loopback: rate, unread bytes, program.
func TestMeter(t *testing.T) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	near, err := net.Dial("tcp4", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer near.Close()
	far, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer far.Close()
	sport, dport := near.LocalAddr().(*net.TCPAddr).Port, near.RemoteAddr().(*net.TCPAddr).Port
	out := func() sockdiag.Detail {
		all, err := sockdiag.ConnectionsAt(0, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range all {
			if int(d.Sport) == sport && int(d.Dport) == dport { // others may have had that port
				return d
			}
		}
		t.Fatal("the connection is not listed")
		return sockdiag.Detail{}
	}
	tr := &track{first: out()}
	if _, err := near.Write([]byte("a greeting")); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(far, make([]byte, len("a greeting"))); err != nil {
		t.Fatal(err)
	}
	greeted := out()
	for end := time.Now().Add(5 * time.Second); greeted.Unacked > 0 && time.Now().Before(end); greeted = out() {
	}
	// Until more than a greeting has moved the connection has not begun.
	tr.look(greeted, time.Second)
	const piece = 50000
	if _, err := near.Write(make([]byte, piece)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(far, make([]byte, piece)); err != nil {
		t.Fatal(err)
	}
	d := out()
	for end := time.Now().Add(5 * time.Second); d.Info.BytesAcked < tr.first.Info.BytesAcked+piece && time.Now().Before(end); d = out() {
	}
	tr.look(d, 2*time.Second)
	f := tr.flow()
	if want := unit.FromBytes(piece, 1); f.Span != time.Second || f.Sent != want || f.Received != 0 || !tr.moving() {
		t.Errorf("sent %v and received %v, want %v and nothing", f.Sent, f.Received, want)
	}
	p := newPrograms()
	p.begin([]*track{tr})
	p.end([]*track{tr})
	if who := p.of(tr); who.PID != os.Getpid() || who.Name == "" || who.Hidden || who.Kernel != "" {
		t.Errorf("held by %+v", who)
	}
	if lines := p.unseen([]*track{tr}); len(lines) != 0 {
		t.Errorf("unseen: %q", lines)
	}
}

// TestUnanswered: a server that accepts nothing has a queue of one; who comes later hears
// nothing, and is told.
func TestUnanswered(t *testing.T) {
	server, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(server)
	if err := errors.Join(unix.Bind(server, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}), unix.Listen(server, 0)); err != nil {
		t.Fatal(err)
	}
	at, err := unix.Getsockname(server)
	if err != nil {
		t.Fatal(err)
	}
	for range 5 {
		s, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer unix.Close(s)
		if err := unix.Connect(s, at); err != nil && !errors.Is(err, unix.EINPROGRESS) {
			t.Fatal(err)
		}
	}
	seen, err := Watch(t.Context(), Config{Span: 3500 * time.Millisecond, Flows: 5})
	if err != nil {
		t.Fatal(err)
	}
	peer := netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), uint16(at.(*unix.SockaddrInet4).Port))
	for _, u := range seen.Unanswered {
		if u.Peer == peer && u.Connections >= 3 {
			return
		}
	}
	t.Errorf("waiting for %v, five connections: %+v", peer, seen.Unanswered)
}

func TestKernelUse(t *testing.T) {
	server := netip.MustParseAddr("10.0.0.2")
	mounts := []procfs.Mount{
		{Kind: "nfs4", Point: "/data", Servers: []netip.Addr{server}},
		{Kind: "cifs", Point: "/share", Servers: []netip.Addr{server}},
	}
	for _, tt := range []struct {
		sport, dport uint16
		mounts       []procfs.Mount
		want         string
		mounted      bool
	}{
		{700, 2049, mounts, "NFS mount /data of 10.0.0.2", true},
		{700, 445, mounts, "SMB mount /share of 10.0.0.2", true},
		{700, 2049, nil, "NFS of 10.0.0.2", false},
		{700, 2049, append(mounts, procfs.Mount{Kind: "nfs", Point: "/b", Servers: []netip.Addr{server}}), "NFS mounts /data, /b of 10.0.0.2", true},
		{2049, 700, nil, "NFS server", false},
		{700, 4420, nil, "NVMe over TCP of 10.0.0.2", false},
		{700, 443, mounts, "", false},
	} {
		got, mounted := kernelUse(flow.Tuple{Dst: server, Sport: tt.sport, Dport: tt.dport}, tt.mounts)
		if got != tt.want || mounted != tt.mounted {
			t.Errorf("%d to %d: %q, %v, want %q", tt.sport, tt.dport, got, mounted, tt.want)
		}
	}
}

// TestOthers: where the followed connections sent all that TCP did, the last sample lists no
// other; where another did, it is found.
func TestOthers(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("making a network namespace needs root")
	}
	const space = "linerate-test-others"
	_ = netns.Delete(space) // of a test that was killed
	if _, err := netns.Create(space); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = netns.Delete(space) }()
	for _, line := range []string{"link set lo up", "addr add 192.0.2.1/32 dev lo"} {
		if out, err := exec.Command("ip", append([]string{"-n", space}, strings.Fields(line)...)...).CombinedOutput(); err != nil {
			t.Fatalf("ip %s: %v: %s", line, err, out)
		}
	}
	if err := netns.Named(space).Do(func() error {
		l, err := net.Listen("tcp4", "192.0.2.1:0")
		if err != nil {
			return err
		}
		defer l.Close()
		var move [2]func()
		for i := range move {
			near, err := net.Dial("tcp4", l.Addr().String())
			if err != nil {
				return err
			}
			defer near.Close()
			far, err := l.Accept()
			if err != nil {
				return err
			}
			defer far.Close()
			move[i] = func() {
				const piece = 100_000
				go func() { _, _ = near.Write(make([]byte, piece)) }()
				if _, err := io.ReadFull(far, make([]byte, piece)); err != nil {
					t.Error(err)
				}
			}
		}
		time.Sleep(lately + interval) // what has only been opened is idle
		for _, crowded := range []bool{false, true} {
			m, err := newMeter(Config{Span: time.Minute})
			if err != nil {
				return err
			}
			defer m.close()
			first := m.look(true)
			m.crowded, m.cost = crowded, time.Hour
			if err := errors.Join(first, m.look(false)); err != nil {
				return err
			}
			if listed := m.lists == 2; listed != crowded {
				t.Errorf("more move than are followed %v: %d lists", crowded, m.lists)
			}
		}
		for _, other := range []bool{false, true} {
			m, err := newMeter(Config{Span: time.Minute})
			if err != nil {
				return err
			}
			defer m.close()
			move[0]()
			looks := []error{m.look(true)}
			m.cost = time.Hour // of a host with many connections
			move[0]()
			looks = append(looks, m.look(false))
			move[0]()
			if other {
				move[1]()
			}
			if err := errors.Join(append(looks, m.look(true))...); err != nil {
				return err
			}
			lists, flows := 1, 2 // each has two ends here
			if other {
				lists, flows = 2, 4
			}
			if m.lists != lists || len(m.flows) != flows || m.inside != 0 {
				t.Errorf("another moves %v: %d lists and %d flows, want %d and %d; %d inside", other, m.lists, len(m.flows), lists, flows, m.inside)
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

// TestDue: a list that took long is followed by a time without that keeps its share of
// a core, and none is made shortly before the last.
func TestDue(t *testing.T) {
	for _, tt := range []struct {
		cost, since, left time.Duration
		want              bool
	}{
		{time.Millisecond, interval, interval, true},
		{16 * time.Millisecond, 2 * time.Second, 30 * time.Second, false},
		{16 * time.Millisecond, 4 * time.Second, 30 * time.Second, true},
		{16 * time.Millisecond, 4 * time.Second, time.Second, false},
	} {
		if got := (&meter{cost: tt.cost, lists: 1, last: tt.since}).due(tt.left); got != tt.want {
			t.Errorf("%v after a list that took %v, %v before the end: %v, want %v", tt.since, tt.cost, tt.left, got, tt.want)
		}
	}
}

// TestApart: what is no connection is said when there is enough of it.
func TestApart(t *testing.T) {
	count := func(out, in, forwarded int64) map[string]map[string]int64 {
		return map[string]map[string]int64{"Udp": {"OutDatagrams": out, "InDatagrams": in}, "Ip": {"ForwDatagrams": forwarded}}
	}
	for _, tt := range []struct {
		name string
		a, b map[string]map[string]int64
		want []string
	}{
		{"quiet", count(100, 100, 100), count(140, 140, 190), nil},
		{"UDP", count(100, 100, 0), count(2100, 300, 0), []string{"UDP: 1000 datagrams a second out and 100 in"}},
		{"a router", count(0, 0, 7), count(0, 0, 2007), []string{"forwarded: 1000 packets a second"}},
		{"both", count(0, 0, 0), count(400, 0, 400), []string{"UDP", "forwarded"}},
		{"not read", nil, count(4000, 0, 4000), nil},
		{"rolled back", count(9000, 0, 0), count(100, 0, 0), nil},
	} {
		got := apart(tt.a, tt.b, 2*time.Second)
		ok := len(got) == len(tt.want)
		for i := range min(len(got), len(tt.want)) {
			ok = ok && strings.HasPrefix(got[i], tt.want[i])
		}
		if !ok {
			t.Errorf("%s: said %q, want %q", tt.name, got, tt.want)
		}
	}
}
