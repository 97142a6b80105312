package payload

import (
	"runtime"
	"time"
)

// The runtime's monitor takes the slot (P) of a goroutine that was not scheduled
// for 10 ms out of every system call in which it finds it, and it looks every 20 µs
// as long as it does so (sysmon and retake, runtime/proc.go, Go 1.26): thousands of
// times a second, on the core that a stream sends on, a fifth of it. It leaves
// those alone that give way now and then, as long as there is a slot to spare.

// turn gives way now and then.
type turn struct{ last, call time.Time }

const (
	turnAfter = 5 * time.Millisecond
	// turnCall is how long a call takes at most of whom it may cost: a slower one
	// waits for the link.
	turnCall = time.Millisecond
)

// over ends a call.
func (t *turn) over(now time.Time) {
	quick := now.Sub(t.call) < turnCall
	t.call = now
	if quick && now.Sub(t.last) >= turnAfter {
		t.last = now
		runtime.Gosched()
	}
}

// mostSlots bounds what Room asks for: each slot costs the collector a little.
const mostSlots = 64

// Room has the runtime hold a slot for each of so many streams, at both ends, and
// some to spare. What it has once it keeps.
func Room(streams int) {
	want := min(runtime.NumCPU()+2*streams, mostSlots)
	if runtime.GOMAXPROCS(0) < want {
		runtime.GOMAXPROCS(want)
	}
}
