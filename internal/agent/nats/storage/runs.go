package storage

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/linerate/linerate/internal/agent/nats/wire"
)

// The streams of runs: one for each user, so that JetStream itself bounds what a
// user keeps. A value of a run is one subject of it, of which the newest message
// counts.
const (
	streamPrefix = "linerate-runs-"
	keptPrefix   = "linerate." + wire.Version + ".kept."
)

// mostMessages is how many messages each user keeps, the oldest go first: a
// message takes memory of the server and of whoever reads them, however short it
// is. A run of two hosts has some thirty, one of a hundred hosts some forty
// thousand.
const mostMessages = 1 << 18

func keptKey(p wire.StoreParams, key string) string {
	return keptPrefix + p.User + "." + p.Run + "." + key
}

// put keeps one value of the user's own run.
func (s *Storage) put(ctx context.Context, p wire.StoreParams, body []byte) error {
	if err := s.stream(ctx, p.User); err != nil {
		return err
	}
	if p.Part != nil {
		return s.putPart(ctx, p, body)
	}
	m := nats.NewMsg(keptKey(p, p.Key))
	m.Data = body
	var old wire.Head
	if p.Key == wire.HeadKey {
		if m, err := s.last(ctx, p, p.Key); err == nil {
			_ = json.Unmarshal(m.Data, &old) // one that cannot be read has no parts
		}
	}
	if _, err := s.js.PublishMsg(ctx, m, jetstream.WithRetryAttempts(0)); err != nil || p.Key != wire.HeadKey {
		return err
	}
	return s.forgetParts(ctx, p, old, body)
}

// putPart keeps a part of a trial. The first trial of a key that is whole counts, and
// saying it again changes nothing. One that was broken off goes when another begins
// with its first part, and is not gone on with.
func (s *Storage) putPart(ctx context.Context, p wire.StoreParams, body []byte) error {
	begun, err := s.begun(ctx, p)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err == nil && begun.Sum != p.Part.Sum {
		if p.Part.Number > 1 {
			return nil
		}
		if left, err := s.forgetBroken(ctx, p, begun.Of); err != nil || left {
			return err
		}
	}
	m := nats.NewMsg(keptKey(p, p.Key))
	m.Data = body
	m.Header.Set(wire.HeaderParams, string(jsonOf(wire.StoreParams{User: p.User, Run: p.Run, Key: p.Key, Part: p.Part})))
	_, err = s.js.PublishMsg(ctx, m, jetstream.WithExpectLastSequencePerSubject(0), jetstream.WithRetryAttempts(0))
	if api := (*jetstream.APIError)(nil); errors.As(err, &api) && api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence {
		return nil
	}
	return err
}

// ofTrial is the key of a part of the trial that a part is of; "*" is all of them.
func ofTrial(p wire.StoreParams, number string) string {
	return p.Key[:strings.LastIndexByte(p.Key, '.')+1] + number
}

// begun is the first part of a trial as it is kept. Errors: fs.ErrNotExist.
func (s *Storage) begun(ctx context.Context, p wire.StoreParams) (wire.PartOf, error) {
	m, err := s.last(ctx, p, ofTrial(p, "1"))
	if err != nil {
		return wire.PartOf{}, err
	}
	var kept wire.StoreParams
	if err := json.Unmarshal([]byte(m.Header.Get(wire.HeaderParams)), &kept); err != nil || kept.Part == nil {
		return wire.PartOf{}, nil // what is no part is left as it is
	}
	return *kept.Part, nil
}

// forgetBroken takes away what is kept of a trial, unless all its parts are there.
func (s *Storage) forgetBroken(ctx context.Context, p wire.StoreParams, parts int) (left bool, err error) {
	stream, err := s.js.Stream(ctx, streamPrefix+p.User)
	if err != nil {
		return false, err
	}
	all := keptKey(p, ofTrial(p, "*"))
	info, err := stream.Info(ctx, jetstream.WithSubjectFilter(all))
	if err != nil || len(info.State.Subjects) >= parts {
		return err == nil, err
	}
	return false, stream.Purge(ctx, jetstream.WithPurgeSubject(all))
}

// forgetParts takes away the parts that a run's new head no longer names.
func (s *Storage) forgetParts(ctx context.Context, p wire.StoreParams, old wire.Head, head []byte) error {
	now, err := wire.ParseHead(head)
	if err != nil || old.Version == "" || old.Version == now.Version {
		return err
	}
	stream, err := s.js.Stream(ctx, streamPrefix+p.User)
	if err != nil {
		return err
	}
	return stream.Purge(ctx, jetstream.WithPurgeSubject(keptKey(p, "v."+old.Version+".*")))
}

// stream makes a user's stream where there is none.
func (s *Storage) stream(ctx context.Context, user string) error {
	s.mu.Lock()
	there := s.streams[user]
	s.mu.Unlock()
	if there {
		return nil
	}
	// Read at the leader: no copy that lags makes a run measure again.
	_, err := s.js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{
		Name: streamPrefix + user, Description: "what linerate measured for " + user, Subjects: []string{keptPrefix + user + ".>"},
		Storage: jetstream.FileStorage, Replicas: s.cfg.Replicas, MaxAge: keepResults, MaxBytes: s.cfg.PerUser, Discard: jetstream.DiscardOld,
		MaxMsgs: mostMessages, MaxMsgsPerSubject: 1, DenyDelete: true, Compression: jetstream.S2Compression,
	})
	if err != nil {
		return fmt.Errorf("keep results of %s: %w", user, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.streams[user] = true
	return nil
}

// Kept is how many bytes of a user's results are kept. Errors: fs.ErrNotExist.
func (s *Storage) Kept(ctx context.Context, user string) (uint64, error) {
	stream, err := s.js.Stream(ctx, streamPrefix+user)
	if err != nil {
		return 0, missing(err)
	}
	info, err := stream.Info(ctx)
	if err != nil {
		return 0, fmt.Errorf("read results of %s: %w", user, err)
	}
	return info.State.Bytes, nil
}

// missing is fs.ErrNotExist for what JetStream has not.
func missing(err error) error {
	if errors.Is(err, jetstream.ErrMsgNotFound) || errors.Is(err, jetstream.ErrStreamNotFound) {
		return fs.ErrNotExist
	}
	return err
}

// last is the newest message of a key of a run. Errors: fs.ErrNotExist.
func (s *Storage) last(ctx context.Context, p wire.StoreParams, key string) (*jetstream.RawStreamMsg, error) {
	stream, err := s.js.Stream(ctx, streamPrefix+p.User)
	if err != nil {
		return nil, missing(err)
	}
	m, err := stream.GetLastMsgForSubject(ctx, keptKey(p, key))
	return m, missing(err)
}

func (s *Storage) get(ctx context.Context, p wire.StoreParams) (answer, error) {
	m, err := s.last(ctx, p, p.Key)
	if err != nil {
		return answer{}, fmt.Errorf("%s of run %s/%s: %w", p.Key, p.User, p.Run, err)
	}
	return answer{body: m.Data}, nil
}

// nextTrial is the next part of a trial of a run, in the order in which they
// were kept.
func (s *Storage) nextTrial(ctx context.Context, p wire.StoreParams) (answer, error) {
	stream, err := s.js.Stream(ctx, streamPrefix+p.User)
	if err != nil {
		return answer{}, fmt.Errorf("trials of run %s/%s: %w", p.User, p.Run, missing(err))
	}
	m, err := stream.GetMsg(ctx, p.Sequence+1, jetstream.WithGetMsgSubject(keptKey(p, "t.*.*")))
	if err != nil {
		return answer{}, fmt.Errorf("trials of run %s/%s: %w", p.User, p.Run, missing(err))
	}
	a := answer{body: m.Data}
	_ = json.Unmarshal([]byte(m.Header.Get(wire.HeaderParams)), &a.params) // without it the reader refuses the part
	a.params.Sequence = m.Sequence
	return a, nil
}

// pageOfRuns are the runs of all users, in order, as USER/RUN.
func (s *Storage) pageOfRuns(ctx context.Context, after string) (answer, error) {
	var all []string
	names := s.js.StreamNames(ctx, jetstream.WithStreamListSubject(keptPrefix+">"))
	for name := range names.Name() {
		user, ok := strings.CutPrefix(name, streamPrefix)
		if !ok {
			continue
		}
		stream, err := s.js.Stream(ctx, name)
		if err != nil {
			return answer{}, fmt.Errorf("list runs: %w", err)
		}
		info, err := stream.Info(ctx, jetstream.WithSubjectFilter(keptPrefix+user+".*."+wire.HeadKey))
		if err != nil {
			return answer{}, fmt.Errorf("list runs: %w", err)
		}
		for subject := range maps.Keys(info.State.Subjects) {
			if words := strings.Split(strings.TrimPrefix(subject, keptPrefix), "."); len(words) == 3 {
				all = append(all, words[0]+"/"+words[1])
			}
		}
	}
	if err := names.Err(); err != nil {
		return answer{}, fmt.Errorf("list runs: %w", err)
	}
	slices.Sort(all)
	out, size := []string{}, 0
	a := answer{}
	for _, run := range all {
		if run <= after {
			continue
		}
		if size += len(run) + 3; size > page {
			break
		}
		out, a.params.After = append(out, run), run
	}
	a.body = jsonOf(out)
	return a, nil
}
