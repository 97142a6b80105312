package web

import (
	"context"
	"net"
)

// Listen takes an address for the pages.
func Listen(ctx context.Context, address string) (net.Listener, error) {
	return (&net.ListenConfig{}).Listen(ctx, "tcp", address)
}

// Within makes every request end when ctx does: a stream of events would go on
// for as long as its reader.
func Within(ctx context.Context) func(net.Listener) context.Context {
	return func(net.Listener) context.Context { return ctx }
}
