package sockdiag

import (
	"encoding/binary"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/linerate/linerate/internal/kernel/nlattr"
	"github.com/linerate/linerate/unit"
)

func words(n ...uint32) []byte {
	var b []byte
	for _, v := range n {
		b = binary.NativeEndian.AppendUint32(b, v)
	}
	return b
}

// detailed is a message of a paced BBR subflow with everything in it.
func detailed() []byte {
	b := message(familyIPv4, socket("10.0.0.1:40000", "10.0.0.2:2049", Established))
	binary.NativeEndian.PutUint32(b[offsetIf:], 7)
	binary.NativeEndian.PutUint64(b[offsetCookie:], 1<<40|5)
	binary.NativeEndian.PutUint32(b[offsetRQueue:], 11)
	binary.NativeEndian.PutUint32(b[offsetWQueue:], 22)
	info := make([]byte, FieldSndWnd)
	binary.NativeEndian.PutUint32(info[68:], 9000)         // rtt, µs
	binary.NativeEndian.PutUint32(info[rcvRTTOffset:], 12) // µs
	for _, a := range []struct {
		kind  uint16
		value []byte
	}{
		{diagInfo, info}, {diagCong, []byte("bbr\x00")}, {diagSKMemInfo, words(1, 2, 3, 4, 5, 6, 7, 8, 9)},
		{diagMark, words(16)}, {diagBBR, words(1000, 0, 0, 0, 0)},
		{diagULP, nlattr.Encode(ulpMPTCP, nlattr.Encode(subflowToken, words(77)))},
	} {
		b = append(b, nlattr.Encode(a.kind, a.value)...)
	}
	return b
}

func TestParseDetail(t *testing.T) {
	d, err := parseDetail(detailed())
	if err != nil || d.Info == nil || d.Info.RTT != 9*time.Millisecond || d.Info.Length != int(FieldSndWnd) {
		t.Fatalf("%+v, %v", d, err)
	}
	d.Info = nil
	want := Detail{
		Socket: socket("10.0.0.1:40000", "10.0.0.2:2049", Established), Cookie: 1<<40 | 5, Link: 7, Unread: 11, Unacked: 22,
		RcvRTT: 12 * time.Microsecond, Memory: Memory{Received: 1, RcvBuf: 2, SndBuf: 4, Queued: 6, Drops: 9},
		Congestion: "bbr", Bandwidth: 8 * unit.Kbps, Mark: 16, Token: 77,
	}
	if diff := cmp.Diff(want, d, comparable); diff != "" {
		t.Error(diff)
	}
}

// TestParseDetailCut: a message that ends anywhere is refused or read as far
// as it goes; what is not there is not there.
func TestParseDetailCut(t *testing.T) {
	whole := detailed()
	for n := range whole {
		d, err := parseDetail(whole[:n])
		if n < messageLen && !errors.Is(err, ErrUnreadable) {
			t.Errorf("%d bytes: %+v, %v", n, d, err)
		}
		if n >= messageLen && n < messageLen+nlattr.Head+int(FieldSndWnd) && d.Info != nil {
			t.Errorf("%d bytes: made up %+v", n, d.Info)
		}
	}
	short := append(whole[:messageLen:messageLen], nlattr.Encode(diagMark, []byte{1})...)
	short = append(short, nlattr.Encode(diagBBR, words(1))...)
	if d, err := parseDetail(short); err != nil || d.Mark != 0 || d.Bandwidth != 0 {
		t.Errorf("short attributes: %+v, %v", d, err)
	}
}
