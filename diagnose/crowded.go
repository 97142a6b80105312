package diagnose

import (
	"slices"

	"github.com/linerate/linerate/record"
)

// allCores is the share of a host's cores from which none is free.
const allCores = 0.97

// crowdedOut reports a host without a free core whose streams' threads had
// little of it, where nobody counted how long they waited for one. One core that
// both ends share is busy with their own packets.
func crowdedOut(use record.CPUUse) bool {
	waited := slices.ContainsFunc(use.Threads, func(t record.ThreadUse) bool { return t.Waited > 0 })
	return !waited && use.Cores > 0 && !(use.Shared && use.Cores == 1) && sound(use.Busy) >= allCores*float64(use.Cores) && ratio(use.BusiestThread) < busyCore
}

// lateAt reports an end that TCP waited for: a sender that left his socket
// empty, a receiver that left his window full.
func (v *wayView) lateAt(cause record.Cause) bool {
	w := v.waits
	if cause == record.SenderCPU {
		return max(w.idle(), w.starved) >= limitedShare
	}
	return w.unheeded >= unreadMost
}
