package payload

import (
	"math/bits"
	"syscall"
	"time"

	"github.com/linerate/linerate/internal/traffic/socket"
)

// A reader that is woken for every packet costs both ends: the sender's core
// wakes it (a seventh of its time), and it contends for the socket. A reader of a
// fast stream sleeps until as much waits as arrives in wakeAfter: so little that
// neither the window nor a counter notices, and on a slow stream nothing at all. A
// reader that drops what it gets is always done at once and gains nothing by it.
const (
	wakeAfter = 300 * time.Microsecond
	wakeLeast = 64 << 10
	wakeMost  = 512 << 10
	// wakeShare is the part of the receive buffer that may wait at the most.
	wakeShare = 8
	// shortestSpan is how long a rate takes to be told.
	shortestSpan = 10 * time.Millisecond
)

// lowWater is how many bytes a reader should wait for at a rate; 1 is any.
func lowWater(bytesPerSecond float64, buffer int) int {
	most := min(wakeMost, buffer/wakeShare)
	n := min(int(min(bytesPerSecond, 1e12)*wakeAfter.Seconds()), most)
	if n < wakeLeast {
		return 1
	}
	return 1 << (bits.Len(uint(n)) - 1)
}

// alarm is what a socket's reader waits for, by the rate that it finds itself.
type alarm struct {
	fd    int
	off   bool // the socket is left as it is
	low   int
	since time.Time // zero before the first call
	bytes int       // come since
}

// came counts what a call has brought by now.
func (a *alarm) came(n int, now time.Time) {
	if a.since.IsZero() { // how long it had waited before is not known
		a.since = now
		return
	}
	a.bytes += n
	span := now.Sub(a.since)
	if span < shortestSpan {
		return
	}
	rate := float64(a.bytes) / span.Seconds()
	a.since, a.bytes = now, 0
	if a.off {
		return
	}
	buffer, err := syscall.GetsockoptInt(a.fd, syscall.SOL_SOCKET, syscall.SO_RCVBUF)
	if err != nil {
		return
	}
	a.wait(lowWater(rate, buffer))
}

// wait has the reader sleep until so many bytes wait, and no longer than patience:
// a stream that ends or stands still leaves less than that behind.
func (a *alarm) wait(low int) {
	if low == a.low {
		return
	}
	longest := time.Duration(0)
	if low > 1 {
		longest = socket.Patience
	}
	if socket.Timeout(a.fd, syscall.SO_RCVTIMEO, longest) == nil && syscall.SetsockoptInt(a.fd, syscall.SOL_SOCKET, syscall.SO_RCVLOWAT, low) == nil {
		a.low = low
	}
}
