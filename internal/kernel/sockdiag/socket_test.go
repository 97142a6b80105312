package sockdiag

import (
	"encoding/binary"
	"errors"
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/linerate/linerate/flow"
)

// message builds a struct inet_diag_msg.
func message(family uint8, s Socket) []byte {
	b := make([]byte, messageLen)
	b[0], b[1] = family, uint8(s.State)
	binary.BigEndian.PutUint16(b[4:], s.Sport)
	binary.BigEndian.PutUint16(b[6:], s.Dport)
	if family == familyIPv4 {
		src, dst := s.Src.As4(), s.Dst.As4()
		copy(b[8:], src[:])
		copy(b[24:], dst[:])
	} else {
		src, dst := s.Src.As16(), s.Dst.As16()
		copy(b[8:], src[:])
		copy(b[24:], dst[:])
	}
	binary.NativeEndian.PutUint32(b[64:], s.UID)
	binary.NativeEndian.PutUint32(b[68:], s.Inode)
	return b
}

func socket(src, dst string, state State) Socket {
	from, to := netip.MustParseAddrPort(src), netip.MustParseAddrPort(dst)
	return Socket{
		Tuple: flow.Tuple{Proto: flow.TCP, Src: from.Addr(), Sport: from.Port(), Dst: to.Addr(), Dport: to.Port()},
		State: state, UID: 1000, Inode: 4711,
	}
}

var comparable = cmpopts.EquateComparable(netip.Addr{})

func TestParse(t *testing.T) {
	v4 := socket("10.0.0.1:40000", "10.0.0.2:2049", Established)
	v6 := socket("[2001:db8::1]:40000", "[2001:db8::2]:2049", TimeWait)
	for _, tt := range []struct {
		name string
		b    []byte
		want Socket
		err  bool
	}{
		{"IPv4", message(familyIPv4, v4), v4, false},
		{"IPv6", message(familyIPv6, v6), v6, false},
		{"IPv4 in a socket of both families", message(familyIPv6, v4), v4, false},
		{"attributes behind it", append(message(familyIPv4, v4), 1, 2, 3), v4, false},
		{"short", message(familyIPv4, v4)[:messageLen-1], Socket{}, true},
		{"empty", nil, Socket{}, true},
		{"other family", message(1, v6), Socket{}, true},
	} {
		got, err := parse(tt.b, flow.TCP)
		if errors.Is(err, ErrUnreadable) != tt.err {
			t.Errorf("%s: %v", tt.name, err)
		}
		if d := cmp.Diff(tt.want, got, comparable); d != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, d)
		}
	}
}

func TestQueryWants(t *testing.T) {
	connected, waiting := socket("10.0.0.1:1", "10.0.0.2:2049", FinWait2), socket("0.0.0.0:22", "0.0.0.0:0", Listen)
	for _, tt := range []struct {
		q    Query
		s    Socket
		want bool
	}{
		{Query{}, connected, true},
		{Query{Dport: 2049}, connected, true},
		{Query{Dport: 2050}, connected, false},
		{Query{}, waiting, false},
		{Query{Listening: true}, waiting, true},
		{Query{Listening: true, Dport: 2049}, waiting, false},
	} {
		if got := tt.q.wants(tt.s); got != tt.want {
			t.Errorf("%+v wants %v: %t, want %t", tt.q, tt.s, got, tt.want)
		}
	}
}

func TestStateWords(t *testing.T) {
	seen := map[string]bool{}
	for s := Established; s <= Bound; s++ {
		if w := s.String(); w == "" || seen[w] {
			t.Errorf("state %d is called %q", s, w)
		}
		seen[s.String()] = true
	}
	if got := State(99).String(); got != "state-99" {
		t.Errorf("an unknown state is called %q", got)
	}
}

// A row of a little-endian and of a big-endian machine differ in the order of
// the address's bytes; the test builds what this machine's kernel prints.
func TestParseTable(t *testing.T) {
	word := func(b ...byte) string {
		const digits = "0123456789ABCDEF"
		v := binary.NativeEndian.Uint32(b)
		out := make([]byte, 8)
		for i := range out {
			out[i] = digits[v>>(28-4*i)&15]
		}
		return string(out)
	}
	zero := word(0, 0, 0, 0)
	mapped := zero + zero + word(0, 0, 0xff, 0xff)
	text := "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n" +
		"   0: " + word(10, 0, 0, 1) + ":9C40 " + word(10, 0, 0, 2) + ":0801 01 00000000:00000000 00:00000000 00000000  1000        0 4711 1 0000000000000000 20 4 0 10 -1\n" +
		"   1: " + mapped + word(10, 0, 0, 1) + ":9C40 " + mapped + word(10, 0, 0, 2) + ":0801 06 00000000:00000000 03:00001743 00000000  1000        0 4711 3 0\n" +
		"   2: " + word(0x20, 1, 0x0d, 0xb8) + zero + zero + word(0, 0, 0, 1) + ":0016 " + zero + zero + zero + zero + ":0000 0A 0:0 0:0 0 1000 0 4711 1\n"
	got, err := parseTable(text, flow.TCP)
	want := []Socket{
		socket("10.0.0.1:40000", "10.0.0.2:2049", Established), socket("10.0.0.1:40000", "10.0.0.2:2049", TimeWait),
		socket("[2001:db8::1]:22", "[::]:0", Listen),
	}
	if d := cmp.Diff(want, got, comparable); err != nil || d != "" {
		t.Errorf("%v (-want +got):\n%s", err, d)
	}
	for _, bad := range []string{
		"h\n0: 0 0\n", "h\n0: 00000000:0000 00000000:0000 0A 0:0 0:0 0 x 0 1\n", "h\n0: 000000:0000 00000000:0000 0A 0:0 0:0 0 0 0 1\n",
		"h\n0: 00000000:10000 00000000:0000 0A 0:0 0:0 0 0 0 1\n", "h\n0: 00000000 00000000:0000 0A 0:0 0:0 0 0 0 1\n",
		"h\n0: zz000000:0000 00000000:0000 0A 0:0 0:0 0 0 0 1\n", "h\n0: 00000000:0000 00000000:0000 1FF 0:0 0:0 0 0 0 1\n",
	} {
		if got, err := parseTable(bad, flow.TCP); !errors.Is(err, ErrUnreadable) {
			t.Errorf("%q read as %v, %v", bad, got, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(message(familyIPv4, socket("10.0.0.1:40000", "10.0.0.2:2049", Established)))
	f.Add(message(familyIPv6, socket("[2001:db8::1]:40000", "[2001:db8::2]:2049", Listen)))
	f.Add([]byte{familyIPv4})
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := parse(b, flow.UDP)
		if (err == nil) != (len(b) >= messageLen && (b[0] == familyIPv4 || b[0] == familyIPv6)) {
			t.Fatalf("%d bytes: %v", len(b), err)
		}
		if err == nil && (!s.Src.IsValid() || !s.Dst.IsValid() || s.Src.Is4In6() || s.State.String() == "") {
			t.Fatalf("%+v", s)
		}
	})
}

func FuzzParseTable(f *testing.F) {
	f.Add("h\n 0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000 0 0 1 1\n")
	f.Fuzz(func(t *testing.T, text string) {
		sockets, err := parseTable(text, flow.TCP)
		if err != nil && sockets != nil {
			t.Fatal("both an error and sockets")
		}
		for _, s := range sockets {
			if !s.Src.IsValid() || !s.Dst.IsValid() {
				t.Fatalf("%+v", s)
			}
		}
	})
}
