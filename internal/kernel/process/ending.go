package process

import (
	"context"
	"errors"
	"time"
)

// ErrStays is a program that was killed and does not end: the kernel keeps it while it
// waits for a disk that does not answer, or for its control group to be thawed.
var ErrStays = errors.New("it was killed and does not end: it is frozen, or waits for a disk that does not answer")

// LeaveTime is how long a program that was killed is waited for. It is more than its pipes
// may stay open (exec.Cmd's WaitDelay).
const LeaveTime = 3 * time.Second

// Leave waits for a killed program until ended is closed, or ErrStays.
func Leave(ended <-chan struct{}) error {
	timer := time.NewTimer(LeaveTime)
	defer timer.Stop()
	select {
	case <-ended:
		return nil
	case <-timer.C:
		return ErrStays
	}
}

// Await returns what run does, which waits for a program that is killed when ctx ends. Of a
// program that stays nonetheless it is ErrStays: run goes on then, unheard.
func Await[T any](ctx context.Context, run func() (T, error)) (T, error) {
	var out T
	var err error
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		out, err = run()
	}()
	select {
	case <-ended:
		return out, err
	case <-ctx.Done():
	}
	if stays := Leave(ended); stays != nil {
		var none T
		return none, stays
	}
	return out, err
}
