package storage

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/linerate/linerate/internal/agent/nats/wire"
)

// agreesWithin is how long a cluster may take to agree.
const agreesWithin = 2 * time.Minute

// prepare makes the buckets and reads what is in them.
func (s *Storage) prepare(ctx context.Context) error {
	for _, step := range []func(context.Context) error{
		func(ctx context.Context) (err error) {
			s.kv, err = s.bucket(ctx, hostsBucket)
			return err
		},
		func(ctx context.Context) error {
			fleet, err := s.bucket(ctx, fleetBucket)
			if err == nil {
				err = s.followRevocations(ctx, fleet)
			}
			return err
		},
		s.followStates,
	} {
		if err := agreed(ctx, step); err != nil {
			return fmt.Errorf("prepare the run store: %w", err)
		}
	}
	return nil
}

// agreed does a step, again until a cluster has agreed on a leader.
func agreed(ctx context.Context, step func(context.Context) error) error {
	for deadline := time.Now().Add(agreesWithin); ; {
		try, cancel := context.WithTimeout(ctx, 10*time.Second)
		err := step(try)
		cancel()
		if err == nil || ctx.Err() != nil || time.Now().After(deadline) {
			return err
		}
		select {
		case <-ctx.Done():
		case <-time.After(500 * time.Millisecond):
		}
	}
}

func (s *Storage) bucket(ctx context.Context, name string) (jetstream.KeyValue, error) {
	return s.js.CreateOrUpdateKeyValue(ctx, jetstream.KeyValueConfig{Bucket: name, Storage: jetstream.FileStorage, Replicas: s.cfg.Replicas, History: 1, MaxValueSize: 1 << 20})
}

// followStates keeps the hosts' states in memory.
func (s *Storage) followStates(ctx context.Context) error {
	return s.follow(ctx, s.kv, func(host string, text []byte, heard time.Time) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if text == nil {
			delete(s.states, host)
		} else if wire.CheckName("host", host) == nil {
			if !json.Valid(text) {
				text = jsonOf("what is kept is no JSON") // whoever reads it refuses that
			}
			s.states[host] = told{text, heard}
		}
	})
}

// followRevocations keeps the newest list, of this server's directory, of the bus
// and of the bucket, in all of them.
func (s *Storage) followRevocations(ctx context.Context, fleet jetstream.KeyValue) error {
	err := s.follow(ctx, fleet, func(key string, text []byte, _ time.Time) {
		if key == revokedKey {
			s.learn(string(text))
		}
	})
	if err != nil || s.cfg.Revocations == nil {
		return err
	}
	list, err := s.cfg.Revocations()
	if err != nil {
		return fmt.Errorf("read revocations: %w", err)
	}
	s.learn(list)
	s.ends.Go(func() { s.repeatRevocations(fleet) })
	return nil
}

// betweenLists is how often the list of revocations is said again: a host that
// did not hear it the first time does then.
const betweenLists = time.Minute

func (s *Storage) repeatRevocations(fleet jetstream.KeyValue) {
	for kept := ""; ; {
		if list, err := s.cfg.Revocations(); err == nil {
			s.learn(list) // somebody may have written it without telling the servers
		}
		s.mu.Lock()
		list := s.revoked
		s.mu.Unlock()
		if list != kept {
			ctx, cancel := context.WithTimeout(s.ctx, longest)
			_, err := fleet.PutString(ctx, revokedKey, list)
			cancel()
			if err == nil {
				kept = list
			} else if s.ctx.Err() == nil {
				s.log.Warn("the list of revocations is not kept", "error", err)
			}
		}
		if err := s.cfg.Service.Publish(wire.Revoked(), []byte(list)); err != nil && s.ctx.Err() == nil {
			s.log.Warn("the list of revocations was not said", "error", err)
		}
		select {
		case <-s.ctx.Done():
			return
		case <-time.After(betweenLists):
		}
	}
}

// learn takes a list of revocations, where it is newer.
func (s *Storage) learn(list string) {
	newer, err := s.cfg.Trust.Learn(list)
	if err != nil {
		s.rare.Warn("a list of revocations is not believed", "error", err)
		return
	}
	if newer {
		s.mu.Lock()
		s.revoked = list
		s.mu.Unlock()
	}
}

// follow calls each for every value of a bucket, now and as it changes; nil is a
// key that went. At is when it was written: of what there was before by the servers'
// time of day, then by a clock that nobody sets. It returns when all that there was is read.
func (s *Storage) follow(ctx context.Context, kv jetstream.KeyValue, each func(key string, value []byte, at time.Time)) error {
	w, err := kv.WatchAll(s.ctx)
	if err != nil {
		return err
	}
	for {
		select {
		case <-ctx.Done():
			return errors.Join(ctx.Err(), w.Stop())
		case e := <-w.Updates():
			if e == nil {
				s.ends.Go(func() { s.goOn(w, each) })
				return nil
			}
			take(e, time.Now().Add(-max(time.Since(e.Created()), 0)), each)
		}
	}
}

func (s *Storage) goOn(w jetstream.KeyWatcher, each func(string, []byte, time.Time)) {
	for {
		select {
		case <-s.ctx.Done():
			_ = w.Stop() // its connection may be gone
			return
		case e, ok := <-w.Updates():
			if !ok {
				return
			}
			if e != nil {
				take(e, time.Now(), each)
			}
		}
	}
}

func take(e jetstream.KeyValueEntry, at time.Time, each func(string, []byte, time.Time)) {
	if e.Operation() == jetstream.KeyValuePut {
		each(e.Key(), e.Value(), at)
	} else {
		each(e.Key(), nil, at)
	}
}
