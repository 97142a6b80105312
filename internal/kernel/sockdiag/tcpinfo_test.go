package sockdiag

import (
	"encoding/binary"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// captured is struct tcp_info as getsockopt(TCP_INFO) of Linux 6.18 on amd64
// returned it for the sender of a loopback connection whose receiver reads
// slowly: 200 reads of 64 KiB, a millisecond apart, after 228 ms.
func captured(t testing.TB) []byte {
	t.Helper()
	b, err := os.ReadFile("testdata/loopback-6.18-amd64.bin")
	if err != nil {
		t.Fatal(err)
	}
	if binary.NativeEndian.Uint16([]byte{1, 0}) != 1 {
		t.Skip("the capture is of a little-endian machine")
	}
	return b
}

const us = time.Microsecond

// whole is what the capture holds, read by eye.
var whole = Info{
	Length: 280, State: 1, Scaled: true, SndWscale: 10, RcvWscale: 10, SndMSS: 47616, RcvMSS: 536, PathMTU: 65535, SinceData: 228 * time.Millisecond,
	RTT: 1139 * us, MinRTT: 56 * us, SndSsthresh: 8, SndCwnd: 12, Reordering: 3, RcvSpace: 65495,
	PacingRate: 0x0665b62c * 8, BytesAcked: 0x92d7e6, SegsOut: 206, SegsIn: 202, NotSent: 0x2dec86,
	DataSegsOut: 204, DeliveryRate: 0x05161555 * 8, Busy: 228000 * us, RwndLimited: 188000 * us,
	Delivered: 205, BytesSent: 0x92d7e5, RcvWnd: 65536,
}

func TestParseInfo(t *testing.T) {
	got, err := ParseInfo(captured(t))
	if diff := cmp.Diff(whole, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
	if got.CAStateName() != "open" {
		t.Errorf("congestion state %q, want open", got.CAStateName())
	}
}

// TestOlderKernels: the same struct as kernels wrote it that knew less of it.
func TestOlderKernels(t *testing.T) {
	groups := []Field{FieldRetrans, FieldBytes, FieldDelivery, FieldBusy, FieldSent, FieldSndWnd, FieldRcvWnd, FieldTimeouts}
	b := captured(t)
	clear := []func(*Info){ // cumulative, newest first
		func(i *Info) { i.RcvWnd = 0 },
		func(i *Info) { i.SndWnd, i.RcvOutOfOrder = 0, 0 },
		func(i *Info) { i.Delivered, i.BytesSent, i.BytesRetrans, i.DSACKDups, i.ReordSeen = 0, 0, 0, 0, 0 },
		func(i *Info) { i.Busy, i.RwndLimited, i.SndbufLimited = 0, 0, 0 },
		func(i *Info) { i.DeliveryRate = 0 },
		func(i *Info) { i.NotSent, i.MinRTT, i.DataSegsIn, i.DataSegsOut = 0, 0, 0, 0 },
		func(i *Info) { i.SegsOut, i.SegsIn = 0, 0 },
		func(i *Info) { i.BytesAcked, i.BytesReceived = 0, 0 },
		func(i *Info) { i.PacingRate, i.MaxPacing = 0, 0 },
	}
	for _, c := range []struct {
		kernel string
		length int
		gone   int // how many of clear
		has    int // how many of groups
	}{
		{"6.18", 280, 0, 8},
		{"6.7", 248, 0, 8},
		{"6.2", 240, 0, 7},
		{"5.4", 232, 1, 6},
		{"4.19", 224, 2, 5},
		{"4.10", 192, 3, 4},
		{"4.9", 168, 4, 3},
		{"4.6", 160, 5, 2},
		{"4.2", 144, 6, 2},
		{"4.1", 136, 7, 2},
		{"3.15", 120, 8, 1},
		{"3.2", 104, 9, 1},
	} {
		want := whole
		want.Length = c.length
		for _, f := range clear[:c.gone] {
			f(&want)
		}
		got, err := ParseInfo(b[:c.length])
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got)\n%s", c.kernel, err, diff)
		}
		for i, f := range groups {
			if got.Has(f) != (i < c.has) {
				t.Errorf("%s: has the group up to byte %d: %v, want %v", c.kernel, f, got.Has(f), i < c.has)
			}
		}
	}
}

func TestShort(t *testing.T) {
	for _, n := range []int{0, 1, 103} {
		if got, err := ParseInfo(make([]byte, n)); !errors.Is(err, ErrShort) || got != (Info{}) {
			t.Errorf("%d bytes: %+v, %v; want ErrShort", n, got, err)
		}
	}
}

// TestPart: a field cut in the middle is absent, not a wrong number.
func TestPart(t *testing.T) {
	got, err := ParseInfo(captured(t)[:110]) // six of the pacing rate's eight bytes
	if err != nil || got.PacingRate != 0 {
		t.Errorf("pacing rate %v, %v; want none", got.PacingRate, err)
	}
}

// TestFields: fields that the captured connection held at zero, one by one.
func TestFields(t *testing.T) {
	put := func(off int, n uint64, size int) func([]byte) {
		return func(b []byte) {
			if size == 1 {
				b[off] = byte(n)
			} else if size == 4 {
				binary.NativeEndian.PutUint32(b[off:], uint32(n))
			} else {
				binary.NativeEndian.PutUint64(b[off:], n)
			}
		}
	}
	for _, c := range []struct {
		name string
		set  func([]byte)
		want func(*Info)
	}{
		{"ca_state", put(1, 4, 1), func(i *Info) { i.CAState = 4 }},
		{"options", put(5, 4, 1), func(i *Info) { i.Scaled = true }},
		{"wscale", put(6, 0x7e, 1), func(i *Info) { i.SndWscale, i.RcvWscale = 14, 7 }},
		{"delivery_rate_app_limited", put(7, 1, 1), func(i *Info) { i.AppLimited = true }},
		{"fastopen_client_fail", put(7, 6, 1), func(*Info) {}},
		{"unacked", put(24, 7, 4), func(i *Info) { i.Unacked = 7 }},
		{"sacked", put(28, 8, 4), func(i *Info) { i.Sacked = 8 }},
		{"lost", put(32, 8, 4), func(i *Info) { i.Lost = 8 }},
		{"retrans", put(36, 8, 4), func(i *Info) { i.Retrans = 8 }},
		{"rcv_rtt", put(92, 9, 4), func(i *Info) { i.RcvRTT = 9 * us }},
		{"total_retrans", put(100, 9, 4), func(i *Info) { i.TotalRetrans = 9 }},
		{"pacing_rate none", put(104, 1<<64-1, 8), func(i *Info) { i.PacingRate = 0 }},
		{"max_pacing_rate", put(112, 125000, 8), func(i *Info) { i.MaxPacing = 1e6 }},
		{"bytes_received", put(128, 10, 8), func(i *Info) { i.BytesReceived = 10 }},
		{"data_segs_in", put(152, 11, 4), func(i *Info) { i.DataSegsIn = 11 }},
		{"sndbuf_limited", put(184, 12, 8), func(i *Info) { i.SndbufLimited = 12 * us }},
		{"a time beyond reason", put(168, 1<<64-1, 8), func(i *Info) { i.Busy = 1 << 50 * us }},
		{"delivered", put(192, 18, 4), func(i *Info) { i.Delivered = 18 }},
		{"delivered_ce", put(196, 19, 4), func(i *Info) { i.DeliveredCE = 19 }},
		{"bytes_retrans", put(208, 13, 8), func(i *Info) { i.BytesRetrans = 13 }},
		{"dsack_dups", put(216, 14, 4), func(i *Info) { i.DSACKDups = 14 }},
		{"reord_seen", put(220, 15, 4), func(i *Info) { i.ReordSeen = 15 }},
		{"rcv_ooopack", put(224, 16, 4), func(i *Info) { i.RcvOutOfOrder = 16 }},
		{"snd_wnd", put(228, 17, 4), func(i *Info) { i.SndWnd = 17 }},
		{"rehash", put(236, 20, 4), func(i *Info) { i.Rehash = 20 }},
		{"total_rto", put(240, 2|3<<16, 4), func(i *Info) { i.TotalRTO, i.TotalRTORecoveries = 2, 3 }},
		{"total_rto_time", put(244, 21, 4), func(i *Info) { i.TotalRTOTime = 21 * time.Millisecond }},
	} {
		b := captured(t)
		c.set(b)
		want := whole
		c.want(&want)
		got, err := ParseInfo(b)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got)\n%s", c.name, err, diff)
		}
	}
}

func TestCAStateName(t *testing.T) {
	for i, want := range []string{"open", "disorder", "cwr", "recovery", "loss", "", ""} {
		if got := (Info{CAState: uint8(i)}).CAStateName(); got != want {
			t.Errorf("state %d: %q, want %q", i, got, want)
		}
	}
	if got := (Info{CAState: 255}).CAStateName(); got != "" {
		t.Errorf("state 255: %q", got)
	}
}

func FuzzParseInfo(f *testing.F) {
	b, err := os.ReadFile("testdata/loopback-6.18-amd64.bin")
	if err != nil {
		f.Fatal(err)
	}
	for _, n := range []int{0, 103, 104, 110, 136, 192, 236, 280} {
		f.Add(b[:n])
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		i, err := ParseInfo(b)
		if (err != nil) != (len(b) < 104) {
			t.Fatalf("%d bytes: %v", len(b), err)
		}
		for _, d := range []time.Duration{i.RTT, i.MinRTT, i.Busy, i.RwndLimited, i.SndbufLimited} {
			if d < 0 {
				t.Fatalf("negative time in %+v", i)
			}
		}
		if i.PacingRate < 0 || i.MaxPacing < 0 || i.DeliveryRate < 0 {
			t.Fatalf("negative rate in %+v", i)
		}
		// More bytes of a newer kernel change nothing that was there.
		more, err := ParseInfo(append(append([]byte(nil), b...), 1, 2, 3))
		if len(b) >= int(FieldRcvWnd) && err == nil {
			more.Length = i.Length
			if more != i {
				t.Fatalf("a longer struct reads otherwise:\n%+v\n%+v", i, more)
			}
		}
	})
}
