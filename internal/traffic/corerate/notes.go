package corerate

import "fmt"

// aloneNote is said where sender and receiver had one core between them.
const aloneNote = "only one core was free to use: it did the sender's work and the receiver's, so each alone is faster"

func busyNote(core int, share float64) string {
	return fmt.Sprintf("other work took %.0f %% of the busy time of core %d: caches were shared with it", 100*share, core)
}

func spreadNote(spread float64) string {
	return fmt.Sprintf("the rounds lie %.0f %% apart: the host was not quiet, or its clock is not steady; the best one counts", 100*spread)
}
