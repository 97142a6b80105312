package web

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// Listen takes an address for the pages.
func Listen(ctx context.Context, address string) (net.Listener, error) {
	return (&net.ListenConfig{}).Listen(ctx, "tcp", address)
}

// mostHeader bounds what a request's headers may hold.
const mostHeader = 32 << 10

// Server serves the pages to whoever asks, and cuts off who asks slowly. Every
// request ends when ctx does: a stream of events would go on for as long as its
// reader.
func Server(ctx context.Context, pages http.Handler, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler: pages, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 30 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: mostHeader,
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug), BaseContext: func(net.Listener) context.Context { return ctx },
	}
}
