package ping

import (
	"syscall"
	"time"
	"unsafe"
)

// arrival is when the kernel took a packet in (SCM_TIMESTAMPNS, socket(7)), by
// the wall clock; zero where the control message does not say.
func arrival(control []byte) time.Time {
	messages, err := syscall.ParseSocketControlMessage(control)
	if err != nil {
		return time.Time{}
	}
	for _, m := range messages {
		var ts syscall.Timespec
		if m.Header.Level == syscall.SOL_SOCKET && m.Header.Type == syscall.SCM_TIMESTAMPNS && len(m.Data) >= int(unsafe.Sizeof(ts)) {
			copy(unsafe.Slice((*byte)(unsafe.Pointer(&ts)), unsafe.Sizeof(ts)), m.Data)
			return time.Unix(ts.Unix())
		}
	}
	return time.Time{}
}

// roundTrip is the time from sent to the packet's arrival. The monotonic clock
// says how long it was at the most, until this thread had it; a wall clock
// that was set in between is not believed.
func roundTrip(sent, read, arrived time.Time) time.Duration {
	most := read.Sub(sent)
	if arrived.IsZero() {
		return most
	}
	if d := arrived.Sub(sent.Round(0)); d > 0 && d < most { // Round drops the monotonic reading
		return d
	}
	return most
}
