package iperf3server

import (
	"fmt"
	"net"
	"net/netip"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/linerate/linerate/internal/kernel/sys"
	"github.com/linerate/linerate/internal/traffic/iperf3"
)

// flooder opens TCP connections by system calls alone, so that what this
// process grows by is the listener's. Sockets stay open until the test ends.
type flooder struct {
	t   *testing.T
	to  syscall.Sockaddr
	fds []int
}

func newFlooder(t *testing.T, r *running) *flooder {
	f := &flooder{t: t, to: &syscall.SockaddrInet4{Port: int(r.port), Addr: [4]byte{127, 0, 0, 1}}}
	t.Cleanup(func() {
		for _, fd := range f.fds {
			syscall.Close(fd)
		}
	})
	return f
}

// connect says something from an address of loopback, and does not wait for
// an answer.
func (f *flooder) connect(from [4]byte, say []byte) {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		f.t.Fatal(err)
	}
	f.fds = append(f.fds, fd)
	_ = syscall.SetsockoptLinger(fd, syscall.SOL_SOCKET, syscall.SO_LINGER, &syscall.Linger{Onoff: 1})
	if err := syscall.Bind(fd, &syscall.SockaddrInet4{Addr: from}); err != nil {
		f.t.Fatal(err)
	}
	for {
		err := syscall.Connect(fd, f.to)
		if err == syscall.EINTR || err == syscall.EALREADY {
			continue
		}
		if err != nil && err != syscall.EISCONN && err != syscall.ECONNRESET { // pushed out already
			f.t.Fatalf("connection %d: %v", len(f.fds), err)
		}
		break
	}
	if len(say) > 0 {
		_, _ = syscall.Write(fd, say)
	}
}

func memory(t *testing.T) (resident, heap uint64) {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(status), "VmRSS:")
	kb, err := strconv.ParseUint(strings.Fields(after)[0], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return kb << 10, m.HeapInuse + m.StackInuse
}

func openFilesNow(t *testing.T) int {
	t.Helper()
	names, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(names)
}

// TestFlood: ten thousand connections, from one address and from many, silent
// and not. Memory and files stay within their bounds, and a client that means
// well is served all the while.
func TestFlood(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: it takes seconds")
	}
	const (
		connections  = 10000
		memoryGrowth = 64 << 20
		filesGrowth  = maxStrangers + DefaultClients + 64
	)
	if sys.OpenFiles() < connections+filesGrowth+512 {
		t.Skipf("only %d files may be open here", sys.OpenFiles())
	}
	one := func(int) [4]byte { return [4]byte{127, 0, 0, 1} }
	many := func(i int) [4]byte { return [4]byte{127, 1, byte(i >> 8), byte(i)} }
	cookie := func(i int) []byte {
		b := make([]byte, iperf3.CookieLength)
		copy(b, fmt.Sprintf("flood%d", i))
		return b
	}
	for name, tt := range map[string]struct {
		from func(int) [4]byte
		say  func(int) []byte
		long bool // only where time is no matter
	}{
		"one address, silent":      {from: one, say: func(int) []byte { return nil }, long: true},
		"many addresses, silent":   {from: many, say: func(int) []byte { return nil }},
		"one address, garbage":     {from: one, say: func(int) []byte { return []byte(strings.Repeat("GET / ", 100)) }, long: true},
		"one address, cookies":     {from: one, say: cookie, long: true},
		"many addresses, cookies":  {from: many, say: cookie},
		"one address, half cookie": {from: one, say: func(i int) []byte { return cookie(i)[:20] }},
	} {
		if tt.long && os.Getenv("PROVE_RUNS") == "" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			cfg := Config{cookie: 2 * time.Second, answer: 500 * time.Millisecond}
			r := serve(t, cfg)
			good(t, r, small("before"))
			runtime.GC()
			resident, heap := memory(t)
			files := openFilesNow(t)
			f := newFlooder(t, r)
			most := 0
			for i := range connections {
				f.connect(tt.from(i), tt.say(i))
				if i%1000 == 999 {
					most = max(most, openFilesNow(t)-files-len(f.fds))
				}
			}
			residentAfter, heapAfter := memory(t)
			t.Logf("%d connections: resident %+d KiB, heap and stacks %+d KiB, at most %d files", connections,
				(int64(residentAfter)-int64(resident))>>10, (int64(heapAfter)-int64(heap))>>10, most)
			if residentAfter > resident+memoryGrowth {
				t.Errorf("memory grew by %d MiB, bound is %d", (residentAfter-resident)>>20, memoryGrowth>>20)
			}
			if most > filesGrowth {
				t.Errorf("%d files more, bound is %d", most, filesGrowth)
			}
			// Cookies take places, for as long as a client may take to answer.
			eventually(t, "a place", func() bool {
				r.slots.mu.Lock()
				defer r.slots.mu.Unlock()
				return r.slots.taken < DefaultClients/2
			})
			good(t, r, small("after"))
		})
	}
}

// TestDatagramsOfStrangers: what comes to the UDP port is answered only when
// a test of that address awaits its streams, and with no more than came.
func TestDatagramsOfStrangers(t *testing.T) {
	r := serve(t, Config{})
	dial := func(from string) *net.UDPConn {
		c, err := net.DialUDP("udp", net.UDPAddrFromAddrPort(netip.AddrPortFrom(netip.MustParseAddr(from), 0)),
			net.UDPAddrFromAddrPort(netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), r.port)))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		return c
	}
	hello := iperf3.NewHello()
	// An answer that is to come takes moments; one that must not is waited
	// for a little longer than that.
	silent := func(c *net.UDPConn, said []byte) {
		t.Helper()
		if _, err := c.Write(said); err != nil {
			t.Fatal(err)
		}
		_ = c.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
		if n, err := c.Read(make([]byte, 2048)); !isTimeout(err) {
			t.Errorf("%q was answered with %d bytes, %v", said, n, err)
		}
	}
	silent(dial("127.0.0.1"), hello[:])

	p := newPeer(t, r)
	p.ask(iperf3.Parameters{UDP: true, Parallel: 2, Time: 1, Block: 1000, Title: "UDP"})
	p.want(iperf3.CreateStreams)
	silent(dial("127.0.0.2"), hello[:])
	silent(dial("127.0.0.1"), []byte("nonsense"))
	silent(dial("127.0.0.1"), make([]byte, 1400))
	for range 2 {
		c := dial("127.0.0.1")
		if _, err := c.Write(hello[:]); err != nil {
			t.Fatal(err)
		}
		_ = c.SetReadDeadline(time.Now().Add(30 * time.Second))
		buf := make([]byte, 2048)
		n, err := c.Read(buf)
		if err != nil || n > len(hello) || !iperf3.Answers(buf[:n]) {
			t.Fatalf("answer %q, %v", buf[:n], err)
		}
	}
	p.want(iperf3.TestStart, iperf3.TestRunning)
	silent(dial("127.0.0.1"), hello[:]) // all streams are there
	theirs := p.finish(0, 0)
	if len(theirs.Streams) != 2 {
		t.Errorf("results of %d streams", len(theirs.Streams))
	}
}

// TestAnswersFromWhereItWasAsked: a host has several addresses, and a client's
// connected socket hears nobody but the one it asked.
func TestAnswersFromWhereItWasAsked(t *testing.T) {
	r := serve(t, Config{Bind: []netip.Addr{netip.IPv6Unspecified()}})
	for _, at := range []string{"127.0.0.1", "127.0.0.5"} {
		p := newPeer(t, r)
		p.ask(iperf3.Parameters{UDP: true, Parallel: 1, Time: 1, Block: 1000, Reverse: true, Title: at})
		p.want(iperf3.CreateStreams)
		c, err := net.DialUDP("udp", net.UDPAddrFromAddrPort(netip.MustParseAddrPort("127.0.0.1:0")),
			net.UDPAddrFromAddrPort(netip.AddrPortFrom(netip.MustParseAddr(at), r.port)))
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		hello := iperf3.NewHello()
		if _, err := c.Write(hello[:]); err != nil {
			t.Fatal(err)
		}
		_ = c.SetReadDeadline(time.Now().Add(30 * time.Second))
		buf := make([]byte, 2048)
		n, err := c.Read(buf)
		if err != nil || !iperf3.Answers(buf[:n]) {
			t.Fatalf("asked %s: %q, %v", at, buf[:n], err)
		}
		p.want(iperf3.TestStart, iperf3.TestRunning)
		if n, err = c.Read(buf); err != nil || n != 1000 {
			t.Fatalf("asked %s: %d bytes, %v", at, n, err)
		}
		if d, err := iperf3.ParseDatagram(buf[:n], false); err != nil || d.Counter != 1 {
			t.Errorf("first datagram is %+v, %v", d, err)
		}
		p.finish(0)
	}
}
