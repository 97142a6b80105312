package console

import (
	"context"
	"errors"
	"testing"
)

// What computes without end is given up; what has an answer gives it.
func TestBeside(t *testing.T) {
	if n, err := Beside(t.Context(), func() (int, error) { return 7, nil }); n != 7 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	endless := make(chan struct{})
	defer close(endless)
	_, err := Beside(ctx, func() (int, error) { cancel(); <-endless; return 7, nil })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
}
