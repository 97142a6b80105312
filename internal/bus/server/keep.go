//go:build !aix

package server

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/linerate/linerate/internal/bus"
	"github.com/linerate/linerate/internal/bus/authority"
)

// How long results are kept, and how long the same trial published again is
// known for the same.
const (
	keepResults = 400 * 24 * time.Hour
	knowAgain   = time.Hour
)

// Keep makes the streams and buckets of linerate, or brings those that are
// there to as many replicas. It waits until the servers of a cluster agree.
// The connection must be allowed to: on a cluster of one's own it is an
// administrator's.
func Keep(ctx context.Context, conn *nats.Conn, replicas int) error {
	js, err := jetstream.New(conn)
	if err != nil {
		return err
	}
	steps := []func(context.Context) error{
		func(ctx context.Context) error {
			// Read at the leader: no copy that lags makes a run measure again.
			_, err := js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{
				Name: bus.TrialsStream, Description: "every trial that linerate measured", Subjects: []string{bus.Trials()},
				Storage: jetstream.FileStorage, Replicas: replicas, MaxAge: keepResults, Duplicates: knowAgain, DenyDelete: true,
			})
			return err
		},
		func(ctx context.Context) error { return bucket(ctx, js, bus.HostsBucket, replicas, 0) },
		func(ctx context.Context) error { return bucket(ctx, js, bus.RunsBucket, replicas, keepResults) },
	}
	deadline := time.Now().Add(agreesWithin)
	for _, step := range steps {
		for {
			try, cancel := context.WithTimeout(ctx, 10*time.Second)
			err := step(try)
			cancel()
			if err == nil {
				break
			}
			if ctx.Err() != nil || time.Now().After(deadline) {
				return fmt.Errorf("make streams: %w", err)
			}
			select {
			case <-ctx.Done():
			case <-time.After(500 * time.Millisecond):
			}
		}
	}
	return nil
}

func bucket(ctx context.Context, js jetstream.JetStream, name string, replicas int, ttl time.Duration) error {
	_, err := js.CreateOrUpdateKeyValue(ctx, jetstream.KeyValueConfig{Bucket: name, Storage: jetstream.FileStorage, Replicas: replicas, History: 1, TTL: ttl})
	return err
}

// Push tells the servers at url of the account as it is now: with its
// revocations. Whoever was revoked is disconnected.
func Push(a *authority.Authority, url, ca string) error {
	token, seed, err := a.System()
	if err != nil {
		return err
	}
	return push(a, url, nats.UserJWTAndSeed(token, seed), nats.RootCAs(ca))
}

func push(a *authority.Authority, url string, options ...nats.Option) error {
	conn, err := nats.Connect(url, append(options, nats.Timeout(5*time.Second))...)
	if err != nil {
		return fmt.Errorf("tell the servers: %w", err)
	}
	defer conn.Close()
	// Whoever else revokes tells the servers too, and they keep what was said
	// last: said again until nothing newer was written meanwhile.
	for said := []byte(nil); ; {
		account, err := a.Account()
		if err != nil || bytes.Equal(account, said) {
			return err
		}
		if _, err := conn.Request("$SYS.REQ.CLAIMS.UPDATE", account, 10*time.Second); err != nil {
			return fmt.Errorf("tell the servers: %w", err)
		}
		said = account
	}
}
