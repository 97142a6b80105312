// Package sockdiag reads what the kernel knows of sockets: struct tcp_info of
// a TCP connection, and the list of all sockets. The parsers trust nothing: a
// field that this kernel did not write is absent, never zero taken for a value.
package sockdiag

import (
	"encoding/binary"
	"errors"
	"math"
	"time"

	"github.com/linerate/linerate/unit"
)

// Info is struct tcp_info (include/uapi/linux/tcp.h). Fields beyond Length
// are absent and hold zero; Has tells.
type Info struct {
	Length         int // bytes the kernel wrote
	State, CAState uint8
	// Scaled: both ends agreed on scaling windows (TCPI_OPT_WSCALE).
	Scaled         bool
	SndWscale      uint8
	RcvWscale      uint8
	AppLimited     bool
	SndMSS, RcvMSS uint32
	// Segments sent and not acknowledged in order, of these those that arrived
	// (SACK), those held for lost, and those of the lost that were sent again.
	Unacked, Sacked, Lost, Retrans uint32
	PathMTU                        uint32
	// SinceData is the time since data came last (tcpi_last_data_recv), by the
	// kernel's ticks of 1 to 10 ms.
	SinceData   time.Duration
	RTT, MinRTT time.Duration
	// RcvRTT is the receiver's own estimate; zero before it has one.
	RcvRTT       time.Duration
	SndSsthresh  uint32
	SndCwnd      uint32 // packets
	Reordering   uint32
	RcvSpace     uint32 // bytes
	TotalRetrans uint32 // segments
	// PacingRate is zero before the first round trip.
	PacingRate unit.BitRate
	// MaxPacing is zero when the application set no limit.
	MaxPacing                        unit.BitRate
	BytesAcked, BytesReceived        uint64
	SegsOut, SegsIn                  uint32
	NotSent                          uint32
	DataSegsIn, DataSegsOut          uint32
	DeliveryRate                     unit.BitRate
	Busy, RwndLimited, SndbufLimited time.Duration
	// Delivered are segments that arrived, DeliveredCE those of them that a
	// router marked for congestion (ECN).
	Delivered, DeliveredCE  uint32
	BytesSent, BytesRetrans uint64
	DSACKDups, ReordSeen    uint32
	RcvOutOfOrder           uint32
	SndWnd                  uint32 // the peer's window, bytes after scaling
	RcvWnd                  uint32
	// Rehash counts new choices of the flow's transmit hash (6.2).
	Rehash uint32
	// TotalRTO are timeouts, TotalRTORecoveries the times that one or several in
	// a row ended, TotalRTOTime how long those took (6.7).
	TotalRTO, TotalRTORecoveries uint16
	TotalRTOTime                 time.Duration
}

// InFlight is how many segments are on the way now.
func (i Info) InFlight() int {
	return max(int(i.Unacked)+int(i.Retrans)-int(i.Sacked)-int(i.Lost), 0)
}

// Field names a group of fields by the offset behind its last byte: present
// when the kernel wrote that far. The numbers are the struct's layout, which
// only ever grows.
type Field int

// The groups that came with later kernels.
const (
	FieldRetrans  Field = 104 // total_retrans
	FieldBytes    Field = 136 // bytes_received, Linux 4.1
	FieldDelivery Field = 168 // delivery_rate, 4.9
	FieldBusy     Field = 192 // busy_time, rwnd_limited, sndbuf_limited, 4.10
	FieldSent     Field = 216 // bytes_sent, bytes_retrans, 4.19
	FieldSndWnd   Field = 232 // rcv_ooopack, snd_wnd, 5.4
	FieldRcvWnd   Field = 236 // rcv_wnd, 6.2
	FieldTimeouts Field = 248 // total_rto, total_rto_recoveries, total_rto_time, 6.7
)

// Has reports whether this kernel wrote the group.
func (i Info) Has(f Field) bool { return i.Length >= int(f) }

// optScaled is TCPI_OPT_WSCALE of tcpi_options.
const optScaled = 4

// ErrShort is a struct that ends before the fields every kernel has.
var ErrShort = errors.New("tcp_info too short")

// MaxInfo is more than any kernel's struct tcp_info.
const MaxInfo = 512

// ParseInfo reads struct tcp_info as getsockopt returned it, in the machine's
// byte order. Less than the part every kernel has is ErrShort.
func ParseInfo(b []byte) (Info, error) {
	if len(b) < int(FieldRetrans) {
		return Info{}, ErrShort
	}
	// A field that is not there whole is not there.
	u32 := func(off int) uint32 {
		if len(b) < off+4 {
			return 0
		}
		return binary.NativeEndian.Uint32(b[off:])
	}
	u64 := func(off int) uint64 {
		if len(b) < off+8 {
			return 0
		}
		return binary.NativeEndian.Uint64(b[off:])
	}
	u16 := func(off int) uint16 {
		if len(b) < off+2 {
			return 0
		}
		return binary.NativeEndian.Uint16(b[off:])
	}
	us32 := func(off int) time.Duration { return time.Duration(u32(off)) * time.Microsecond }
	us64 := func(off int) time.Duration { return time.Duration(min(u64(off), 1<<50)) * time.Microsecond }
	rate := func(off int) unit.BitRate {
		if u64(off) == math.MaxUint64 { // ~0 is the kernel's word for no limit
			return 0
		}
		return unit.BitRate(u64(off)) * 8
	}
	return Info{
		Length: len(b), State: b[0], CAState: b[1], Scaled: b[5]&optScaled != 0, SndWscale: b[6] & 0xf, RcvWscale: b[6] >> 4, AppLimited: b[7]&1 != 0,
		SinceData: time.Duration(u32(52)) * time.Millisecond,
		SndMSS:    u32(16), RcvMSS: u32(20), Unacked: u32(24), Sacked: u32(28), Lost: u32(32), Retrans: u32(36), PathMTU: u32(60),
		RTT: us32(68), SndSsthresh: u32(76), SndCwnd: u32(80), Reordering: u32(88),
		RcvRTT: us32(92), RcvSpace: u32(96), TotalRetrans: u32(100), PacingRate: rate(104), MaxPacing: rate(112),
		BytesAcked: u64(120), BytesReceived: u64(128), SegsOut: u32(136), SegsIn: u32(140), NotSent: u32(144),
		MinRTT: us32(148), DataSegsIn: u32(152), DataSegsOut: u32(156), DeliveryRate: rate(160),
		Busy: us64(168), RwndLimited: us64(176), SndbufLimited: us64(184),
		Delivered: u32(192), DeliveredCE: u32(196), BytesSent: u64(200), BytesRetrans: u64(208), DSACKDups: u32(216), ReordSeen: u32(220),
		RcvOutOfOrder: u32(224), SndWnd: u32(228), RcvWnd: u32(232), Rehash: u32(236),
		TotalRTO: u16(240), TotalRTORecoveries: u16(242), TotalRTOTime: time.Duration(u32(244)) * time.Millisecond,
	}, nil
}

// caStates is the one table of congestion states (enum tcp_ca_state).
var caStates = [...]string{"open", "disorder", "cwr", "recovery", "loss"}

// CAStateName is the congestion state's word, "" for a number not in the table.
func (i Info) CAStateName() string {
	if int(i.CAState) < len(caStates) {
		return caStates[i.CAState]
	}
	return ""
}
