package console

import "context"

// Beside computes what asks nobody and may take long, and gives it up when ctx
// ends: a judgement knows no context, and Ctrl-C must end the command all the same.
// What is left over goes with the process. Nothing that f writes may be read after
// an error.
func Beside[T any](ctx context.Context, f func() (T, error)) (T, error) {
	type answer struct {
		value T
		err   error
	}
	done := make(chan answer, 1)
	go func() {
		v, err := f()
		done <- answer{v, err}
	}()
	select {
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	case a := <-done:
		return a.value, a.err
	}
}
