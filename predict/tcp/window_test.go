package tcp

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/unit"
)

// tuned is a host of a kernel with some sysctls: key, value, key, value.
func tuned(release string, sysctls ...string) netstate.Host {
	h := netstate.Host{Kernel: netstate.Kernel{OS: "linux", Release: release}, Sysctls: map[string]netstate.Sysctl{}}
	for i := 0; i+1 < len(sysctls); i += 2 {
		h.Sysctls[sysctls[i]] = netstate.Sysctl{Value: sysctls[i+1]}
	}
	return h
}

func TestWindow(t *testing.T) {
	const rmem, rmax, scale = "net.ipv4.tcp_rmem", "net.core.rmem_max", "net.ipv4.tcp_adv_win_scale"
	for _, c := range []struct {
		name  string
		host  netstate.Host
		asked unit.Bytes
		want  unit.Bytes
		why   string
	}{
		{"5.15 read", tuned("5.15", rmem, "4096 131072 6291456"), 0, 3 * unit.MiB, "tcp_rmem allows 6 MiB"},
		{"release unknown", tuned("", rmem, "4096 131072 6291456"), 0, 3 * unit.MiB, "half"},
		{"6.1 default", tuned("6.1.0-32-amd64"), 0, 3 * unit.MiB, "default"},
		{"6.15 default", tuned("6.15"), 0, 3 * unit.MiB, "from 6.6"},
		{"6.16 default", tuned("6.16"), 0, 16 * unit.MiB, "default"},
		{"6.6 starts low", tuned("6.6"), 0, 3 * unit.MiB, "quarter"},
		{"nothing known", tuned(""), 0, 0, "unknown"},
		{"another system", netstate.Host{Kernel: netstate.Kernel{OS: "aix", Release: "7.3"}}, 0, 0, "aix"},
		{"adv_win_scale 2", tuned("5.4", rmem, "4096 131072 8388608", scale, "2"), 0, 6 * unit.MiB, "tcp_adv_win_scale 2"},
		{"adv_win_scale -2", tuned("5.4", rmem, "4096 131072 8388608", scale, "-2"), 0, 2 * unit.MiB, "tcp_adv_win_scale -2"},
		{"adv_win_scale ignored from 6.6", tuned("6.12", rmem, "4096 131072 8388608", scale, "-2"), 0, 4 * unit.MiB, "from 6.6"},
		{"asked and granted", tuned("5.15", rmax, "16777216"), 8 * unit.MiB, 8 * unit.MiB, "gets 8 MiB"},
		{"asked and clamped", tuned("5.15", rmax, "212992"), 8 * unit.MiB, 212992, "grants 208 KiB"},
		{"asked, maximum unread", tuned("5.15"), 8 * unit.MiB, 8 * unit.MiB, "unknown"},
		{"no window scaling", tuned("5.15", rmem, "4096 131072 6291456", "net.ipv4.tcp_window_scaling", "0"), 0, 65535, "window field"},
		{"no autotuning", tuned("5.15", rmem, "4096 131072 6291456", "net.ipv4.tcp_moderate_rcvbuf", "0"), 0, 64 * unit.KiB, "tcp_moderate_rcvbuf 0"},
		{"no autotuning, sysctl unread", tuned("4.18", "net.ipv4.tcp_moderate_rcvbuf", "0"), 0, 43690, "85.3 KiB"},
		{"FreeBSD read", freebsd("net.inet.tcp.recvbuf_max", "4194304"), 0, 4 * unit.MiB, "recvbuf_max allows 4 MiB"},
		{"FreeBSD default", freebsd(), 0, 2 * unit.MiB, "FreeBSD's default"},
		{"FreeBSD asked", freebsd(), unit.MiB, unit.MiB, "asks for 1 MiB"},
		{"FreeBSD without autotuning", freebsd("net.inet.tcp.recvbuf_auto", "0", "net.inet.tcp.recvspace", "65536"), 0, 64 * unit.KiB, "recvbuf_auto 0"},
		{"FreeBSD without autotuning, size unread", freebsd("net.inet.tcp.recvbuf_auto", "0"), 0, 0, "unknown"},
		{"the start above the most", tuned("6.1", rmem, "4096 131072 49152"), 0, 64 * unit.KiB, "starts at 128 KiB"},
		{"garbled sysctl", tuned("5.15", rmem, "lots"), 0, 3 * unit.MiB, "default"},
	} {
		got, why := Window(c.host, c.asked)
		if got != c.want || !strings.Contains(why, c.why) {
			t.Errorf("%s: %v, %q; want %v with %q", c.name, got, why, c.want, c.why)
		}
	}
}

func TestSendWindow(t *testing.T) {
	share := func(b unit.Bytes) unit.Bytes { return unit.Bytes(sendShare * float64(b)) }
	for _, c := range []struct {
		name  string
		host  netstate.Host
		asked unit.Bytes
		want  unit.Bytes
	}{
		{"read", tuned("6.1", "net.ipv4.tcp_wmem", "4096 16384 1048576"), 0, share(unit.MiB)},
		{"default", tuned("6.18"), 0, share(4 * unit.MiB)},
		{"unknown", tuned(""), 0, 0},
		{"asked", tuned("6.1", "net.core.wmem_max", "212992"), 8 * unit.MiB, inPieces(2 * 212992)},
	} {
		if got, why := SendWindow(c.host, c.asked); got != c.want {
			t.Errorf("%s: %v, %q; want %v", c.name, got, why, c.want)
		}
	}
}

// TestSmallSendBuffers holds the model to what a 6.1 kernel kept in flight over
// netem.
func TestSmallSendBuffers(t *testing.T) {
	for _, c := range []struct{ buffer, flight unit.Bytes }{{68, 143}, {136, 157}, {200, 220}} {
		h := tuned("6.1", "net.ipv4.tcp_wmem", fmt.Sprintf("4096 16384 %d", c.buffer*unit.KiB))
		s := SendFlight(h, 0, sendPiece)
		if off := float64(s.Bytes)/float64(c.flight*unit.KiB) - 1; math.Abs(off) > 0.11 || s.Low > c.flight*unit.KiB || s.High < c.flight*unit.KiB || s.Open == "" {
			t.Errorf("buffer of %d KiB: %v (%v to %v), measured %d KiB", c.buffer, s.Bytes, s.Low, s.High, c.flight)
		}
	}
	var last unit.Bytes
	for b := 4 * unit.KiB; b < unit.MiB; b += 4 * unit.KiB {
		s := SendFlight(tuned("6.1", "net.ipv4.tcp_wmem", fmt.Sprintf("4096 16384 %d", b)), 0, sendPiece)
		if s.Bytes < last || s.High > 0 && (s.Bytes < s.Low || s.Bytes > s.High) {
			t.Errorf("buffer of %v: %v (%v to %v) after %v", b, s.Bytes, s.Low, s.High, last)
		}
		last = s.Bytes
	}
}

// TestSinglePieces holds the model to what a 6.1 kernel kept in flight over netem by a link
// that takes its segments one at a time.
func TestSinglePieces(t *testing.T) {
	t.Parallel()
	single := netstate.Link{Extra: map[string]string{"gso_max_segs": "1"}}
	for _, c := range []struct {
		buffer  unit.Bytes
		payload int
		flight  float64 // KB
	}{
		{14336, 1448, 8.7}, {24000, 1448, 12.8}, {48000, 1448, 25.1}, {96000, 1448, 52.4}, {200000, 1448, 105.5},
		{14336, 3948, 11.7}, {24000, 3948, 19.6}, {48000, 3948, 39.2}, {96000, 3948, 73.7},
		{14336, 8948, 17.7}, {24000, 8948, 26.7}, {48000, 8948, 44.3}, {96000, 8948, 88.9},
	} {
		mean, most := SendFilled(c.buffer, Piece(c.payload, netstate.Link{}, single))
		if off := float64(mean)/1000/c.flight - 1; math.Abs(off) > 0.06 || float64(most) < 970*c.flight {
			t.Errorf("buffer of %v, %d bytes each: %v, at most %v; measured %.1f KB", c.buffer, c.payload, mean, most, c.flight)
		}
		if s := SendFlight(tuned("6.1"), c.buffer/2, Piece(c.payload, single)); s.Bytes != mean {
			t.Errorf("a socket that asks for %v: %+v, want %v", c.buffer/2, s, mean)
		}
	}
	if p := Piece(1448, netstate.Link{Extra: map[string]string{"gso_max_segs": "65535"}}); p != sendPiece {
		t.Errorf("a link that takes all: %v", p)
	}
}

// TestMeasuredWindows holds the model to what a 6.1 kernel did over netem at a
// pinged 9.14 ms: one stream against a small buffer at one end.
func TestMeasuredWindows(t *testing.T) {
	const rtt = 9253 * time.Microsecond // with what the hosts add
	for _, c := range []struct {
		window   unit.Bytes
		measured float64
	}{
		{window(tuned("6.1", "net.ipv4.tcp_rmem", "4096 131072 1048576")), 448e6},
		{window(tuned("6.1", "net.ipv4.tcp_rmem", "4096 131072 524288")), 226e6},
		{sendWindow(tuned("6.1", "net.ipv4.tcp_wmem", "4096 16384 524288")), 451e6},
		{sendWindow(tuned("6.1", "net.ipv4.tcp_wmem", "4096 16384 1048576")), 884e6},
		{sendWindow(tuned("6.1", "net.ipv4.tcp_wmem", "4096 16384 2097152")), 1740e6},
	} {
		if got := unit.FromBytes(float64(c.window), rtt.Seconds()); math.Abs(float64(got)/c.measured-1) > 0.05 {
			t.Errorf("window %v: %v; measured %v", c.window, got, unit.BitRate(c.measured))
		}
	}
}

func window(h netstate.Host) unit.Bytes     { w, _ := Window(h, 0); return w }
func sendWindow(h netstate.Host) unit.Bytes { w, _ := SendWindow(h, 0); return w }

func freebsd(sysctls ...string) netstate.Host {
	h := tuned("14.1-RELEASE", sysctls...)
	h.Kernel.OS = "freebsd"
	return h
}

// TestUncertainWindows: what an unknown leaves open is a range with a reason.
func TestUncertainWindows(t *testing.T) {
	const rmem, rmax = "net.ipv4.tcp_rmem", "net.core.rmem_max"
	mib := func(n float64) unit.Bytes { return unit.Bytes(n * float64(unit.MiB)) }
	for _, c := range []struct {
		name             string
		host             netstate.Host
		asked            unit.Bytes
		carded           bool
		middle, low, top unit.Bytes
		open             string
	}{
		{"5.15 is certain", tuned("5.15"), 0, true, mib(3), 0, 0, ""},
		{"6.12, a card", tuned("6.12", rmem, "4096 131072 8388608"), 0, true, mib(4), mib(8 * .31), mib(8 * .81), "scaling_ratio"},
		{"6.12, virtual", tuned("6.12", rmem, "4096 131072 8388608"), 0, false, mib(8 * .9), mib(8 * .77), mib(8 * .98), "scaling_ratio"},
		{"6.6, fixed", tuned("6.6.9", rmax, "8388608"), 4 * unit.MiB, true, mib(4), mib(8 * 65. / 256), mib(4), "point release"},
		{"6.10, fixed", tuned("6.10", rmax, "8388608"), 4 * unit.MiB, true, mib(4), 0, 0, ""},
		{"6.11, fixed", tuned("6.11", rmax, "8388608"), 4 * unit.MiB, false, mib(8 * .9), mib(8 * .77), mib(8 * .98), "scaling_ratio"},
		{"rmem_max unread", tuned("5.15"), 4 * unit.MiB, true, mib(4), 208 * unit.KiB, 0, "rmem_max is unknown"},
		{"rmem_max unread, 6.18", tuned("6.18"), 8 * unit.MiB, true, mib(8), mib(8 * .31), mib(16 * .81), "rmem_max is unknown"},
		{"rmem_max unread, but little asked", tuned("5.15"), 64 * unit.KiB, true, 64 * unit.KiB, 0, 0, ""},
		{"FreeBSD", freebsd(), 0, true, mib(2), mib(2), mib(8), "FreeBSD 14"},
	} {
		s := ReceiveFlight(c.host, c.asked, c.carded)
		if s.Bytes != c.middle || s.Low != c.low || s.High != c.top || (c.open == "") != (s.Open == "") || !strings.Contains(s.Open, c.open) {
			t.Errorf("%s: %v, %v to %v, %q; want %v, %v to %v, %q", c.name, s.Bytes, s.Low, s.High, s.Open, c.middle, c.low, c.top, c.open)
		}
	}
}
