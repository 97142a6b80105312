package mptcp

import (
	"encoding/binary"
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/kernel/nlattr"
	"github.com/linerate/linerate/netstate"
)

var compareAddr = cmp.Comparer(func(a, b netip.Addr) bool { return a == b })

func TestEndpointRoundTrip(t *testing.T) {
	for _, want := range []netstate.MPTCPEndpoint{
		{Addr: netip.MustParseAddr("10.0.0.11"), Flags: netstate.MPTCPSubflow},
		{ID: 255, Addr: netip.MustParseAddr("fd00::1"), Port: 5201, Flags: netstate.MPTCPSignal | 1<<31, Index: 7},
	} {
		got, err := parseEndpoint(append(head(cmdGetAddr, familyVersion), encodeAddr(want)...))
		if diff := cmp.Diff(want, got, compareAddr); err != nil || diff != "" {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
	}
}

func TestMalformedMessages(t *testing.T) {
	whole := append(head(cmdGetAddr, familyVersion), encodeAddr(netstate.MPTCPEndpoint{Addr: netip.MustParseAddr("10.0.0.11")})...)
	long := append([]byte(nil), whole...)
	binary.NativeEndian.PutUint16(long[genericHead:], 200)
	inner := append([]byte(nil), whole...)
	binary.NativeEndian.PutUint16(inner[genericHead+nlattr.Head:], 3)
	for name, b := range map[string][]byte{"nothing": nil, "no attributes": whole[:4], "longer than it is": long, "nest too short": inner, "cut": whole[:len(whole)-2]} {
		if e, err := parseEndpoint(b); err == nil {
			t.Errorf("endpoint, %s: read as %+v", name, e)
		}
		if a, s, err := parseLimits(b); err == nil {
			t.Errorf("limits, %s: read as %d, %d", name, a, s)
		}
	}
	for _, b := range [][]byte{nil, whole[:4], long, append(head(1, 2), nlattr.Encode(ctrlFamilyID, []byte{1})...)} {
		if id, err := parseFamily(b); err == nil {
			t.Errorf("family of % x: read as %d", b, id)
		}
	}
	half := append(head(cmdGetLimits, familyVersion), attribute32(attrSubflows, 3)...)
	if _, _, err := parseLimits(half); err == nil {
		t.Error("one limit of two was enough")
	}
}

func TestParseInfo(t *testing.T) {
	b := make([]byte, 48)
	b[0] = 3
	binary.NativeEndian.PutUint32(b[infoFlags:], 3)
	binary.NativeEndian.PutUint64(b[infoRcvNxt:], 1<<40)
	got, err := ParseInfo(b)
	if want := (Info{Extra: 3, Fallback: true, RcvNxt: 1 << 40}); err != nil || got != want {
		t.Errorf("%+v, %v, want %+v", got, err, want)
	}
	if _, err := ParseInfo(b[:39]); err == nil {
		t.Error("a short structure was read")
	}
}

func TestParseSubflows(t *testing.T) {
	b := SubflowHeader()
	v4 := make([]byte, 2*storageSize)
	binary.NativeEndian.PutUint16(v4, familyIPv4)
	copy(v4[2:], []byte{0x9c, 0x40, 10, 0, 0, 1})
	binary.NativeEndian.PutUint16(v4[storageSize:], familyIPv4)
	copy(v4[storageSize+2:], []byte{0x14, 0x51, 10, 0, 0, 2})
	v6 := make([]byte, 2*storageSize)
	for i, last := range []byte{1, 2} {
		s := v6[i*storageSize:]
		binary.NativeEndian.PutUint16(s, familyIPv6)
		s[3], s[8], s[23] = last, 0xfd, last
	}
	unknown := make([]byte, 2*storageSize)
	whole := append(append(append(b, v4...), v6...), unknown...)
	want := []flow.Tuple{
		{Proto: flow.TCP, Src: netip.MustParseAddr("10.0.0.1"), Dst: netip.MustParseAddr("10.0.0.2"), Sport: 40000, Dport: 5201},
		{Proto: flow.TCP, Src: netip.MustParseAddr("fd00::1"), Dst: netip.MustParseAddr("fd00::2"), Sport: 1, Dport: 2},
	}
	got, err := ParseSubflows(whole)
	if diff := cmp.Diff(want, got, compareAddr); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	for n := range 16 {
		if _, err := ParseSubflows(whole[:n]); err == nil {
			t.Errorf("%d bytes were read", n)
		}
	}
	if got, err := ParseSubflows(whole[:len(whole)-len(unknown)-1]); err != nil || len(got) != 1 {
		t.Errorf("a subflow cut short: %v, %v", got, err)
	}
}

// FuzzMessages: whatever the bytes, an answer or an error, and no address
// taken from nothing.
func FuzzMessages(f *testing.F) {
	f.Add(append(head(cmdGetAddr, familyVersion), encodeAddr(netstate.MPTCPEndpoint{ID: 3, Addr: netip.MustParseAddr("10.0.0.11"), Flags: 2})...))
	f.Add(append(append(head(cmdGetLimits, familyVersion), attribute32(attrSubflows, 3)...), attribute32(attrRcvAddAddrs, 1)...))
	f.Add(append(SubflowHeader(), make([]byte, 4*storageSize)...))
	f.Fuzz(func(t *testing.T, b []byte) {
		if e, err := parseEndpoint(b); err == nil && !e.Addr.IsValid() {
			t.Errorf("endpoint without address: %+v", e)
		}
		_, _, _ = parseLimits(b)
		_, _ = parseFamily(b)
		_, _ = ParseInfo(b)
		flows, _ := ParseSubflows(b)
		for _, x := range flows {
			if !x.Src.IsValid() || !x.Dst.IsValid() {
				t.Errorf("subflow without address: %+v", x)
			}
		}
	})
}
