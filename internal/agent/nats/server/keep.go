//go:build !aix

package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/linerate/linerate/internal/agent/nats/authority"
	"github.com/linerate/linerate/internal/agent/nats/claim"
	"github.com/linerate/linerate/internal/agent/nats/storage"
	"github.com/linerate/linerate/internal/agent/nats/wire"
)

// Push tells the servers at url of the account as it is now, with its
// revocations, and hosts of the list of these. Whoever was revoked is
// disconnected, and hosts end what it has begun.
func Push(a *authority.Authority, url, ca string) error {
	return push(a, url, nats.RootCAs(ca))
}

func push(a *authority.Authority, url string, options ...nats.Option) error {
	conn, err := own(a.System, url, options...)
	if err != nil {
		return err
	}
	defer conn.Close()
	// Whoever else revokes tells the servers too, and they keep what was said
	// last: said again until nothing newer was written meanwhile.
	for said := []byte(nil); ; {
		account, err := a.Account()
		if err != nil {
			return err
		}
		if bytes.Equal(account, said) {
			return pushList(a, url, options...)
		}
		if _, err := conn.Request("$SYS.REQ.CLAIMS.UPDATE", account, 10*time.Second); err != nil {
			return fmt.Errorf("tell the servers: %w", err)
		}
		said = account
	}
}

// pushList says the list of revocations to whoever verifies claims.
func pushList(a *authority.Authority, url string, options ...nats.Option) error {
	list, err := a.Revocations()
	if err != nil {
		return fmt.Errorf("tell hosts: %w", err)
	}
	conn, err := own(a.Service, url, options...)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := errors.Join(conn.Publish(wire.Revoked(), []byte(list)), conn.FlushTimeout(5*time.Second)); err != nil {
		return fmt.Errorf("tell hosts: %w", err)
	}
	return nil
}

// own connects with credentials of the server's own.
func own(creds func() ([]byte, error), url string, options ...nats.Option) (*nats.Conn, error) {
	text, err := creds()
	if err != nil {
		return nil, err
	}
	conn, err := nats.Connect(url, append(options, nats.UserCredentialBytes(text), nats.Timeout(5*time.Second), nats.Name("linerate serve"))...)
	if err != nil {
		return nil, fmt.Errorf("connect to the servers: %w", err)
	}
	return conn, nil
}

// StoreConfig is a run store for the servers of some fleet.
type StoreConfig struct {
	// Service and Store are the credentials of its two connections: to the account
	// of hosts and people, and to that which JetStream is in.
	Service, Store func() ([]byte, error)
	// Revocations is the newest signed list that is known here; nil is none.
	Revocations func() (string, error)
	Replicas    int   // servers that keep each result; zero is one
	PerUser     int64 // bytes of each user's results; zero is storage.DefaultPerUser
	Logger      *slog.Logger
}

// StoreOf is a run store of an authority's fleet.
func StoreOf(a *authority.Authority) StoreConfig {
	return StoreConfig{Service: a.Service, Store: a.Store, Revocations: a.Revocations}
}

// Keep runs a run store on the servers at url until end; ca is a file with their
// certificate authority, "" the system's. It waits until the servers of a
// cluster agree.
func Keep(ctx context.Context, cfg StoreConfig, url, ca string) (s *storage.Storage, end func(), err error) {
	var options []nats.Option
	if ca != "" {
		options = append(options, nats.RootCAs(ca))
	}
	return keep(ctx, cfg, url, options...)
}

func keep(ctx context.Context, cfg StoreConfig, url string, options ...nats.Option) (s *storage.Storage, end func(), err error) {
	var conns []*nats.Conn
	end = func() {
		if s != nil {
			s.Close()
		}
		for _, c := range conns {
			c.Close()
		}
	}
	defer func() {
		if err != nil {
			end()
		}
	}()
	options = append(options, nats.MaxReconnects(-1), nats.RetryOnFailedConnect(true), nats.ReconnectWait(100*time.Millisecond))
	for _, creds := range []func() ([]byte, error){cfg.Service, cfg.Store} {
		conn, err := own(creds, url, options...)
		if err != nil {
			return nil, nil, err
		}
		conns = append(conns, conn)
	}
	text, err := cfg.Service()
	if err != nil {
		return nil, nil, err
	}
	signer, err := claim.NewSigner(text)
	if err != nil {
		return nil, nil, err
	}
	// Those whom the account has signed for that answers for the store.
	trust := claim.NewTrust(signer.Who.Authority, time.Now)
	s, err = storage.Start(ctx, storage.Config{
		Service: conns[0], Store: conns[1], Trust: trust, Revocations: cfg.Revocations,
		Replicas: cfg.Replicas, PerUser: cfg.PerUser, Logger: cfg.Logger,
	})
	return s, end, err
}
