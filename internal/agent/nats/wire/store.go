package wire

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"strings"
	"time"

	"github.com/linerate/linerate/internal/agent/agentapi"
)

// StoreMethod is what the run store may be asked for. Nobody but the store
// itself reaches JetStream.
type StoreMethod string

// The methods of the run store.
const (
	StoreStates StoreMethod = "states" // what hosts last said, by name
	StoreRuns   StoreMethod = "runs"   // which runs are kept
	StoreGet    StoreMethod = "get"    // one value of a run
	StoreTrials StoreMethod = "trials" // the next message of a run's trials
	StorePut    StoreMethod = "put"    // a value of an own run
)

// StoreMethods are all of them.
func StoreMethods() []StoreMethod {
	return []StoreMethod{StoreStates, StoreRuns, StoreGet, StoreTrials, StorePut}
}

// StoreNeeds is the role that a method of the run store takes; "" for one that
// it has not.
func StoreNeeds(m StoreMethod) agentapi.Role {
	switch m {
	case StoreStates, StoreRuns, StoreGet, StoreTrials:
		return agentapi.RoleWatch
	case StorePut:
		return agentapi.RoleMeasure
	}
	return ""
}

// StoreParams are what a request to the run store is about.
type StoreParams struct {
	User string `json:"user,omitempty"` // whose run; that of put is who signs
	Run  string `json:"run,omitempty"`
	Key  string `json:"key,omitempty"` // HeadKey, BaseKey or TrialKey
	// Part says of what a trial's message is a part.
	Part *PartOf `json:"part,omitempty"`
	// Sequence is after which message of the trials the next is asked for, and in
	// the answer that message's own.
	Sequence uint64 `json:"sequence,omitempty"`
	// After is the last name of a list that was read so far, and in the answer the
	// last of it: one without names is the end.
	After string `json:"after,omitempty"`
	// Nonce tells one request from another that asks for the same.
	Nonce string `json:"nonce,omitempty"`
}

// PartOf is a Part without its body.
type PartOf struct {
	Number int    `json:"number"`
	Of     int    `json:"parts_count"`
	Size   int    `json:"size_bytes"`
	Sum    string `json:"sha256"`
}

// With is the part of that body.
func (p PartOf) With(body []byte) Part { return Part{p.Number, p.Of, p.Size, p.Sum, body} }

// Without is the part without its body.
func (p Part) Without() *PartOf { return &PartOf{p.Number, p.Of, p.Size, p.Sum} }

// MostTrial and MostRun are the longest that is kept of a trial, and of what a
// run is beside its trials (compressed).
const (
	MostTrial = 16 << 20
	MostRun   = 64 << 20
)

// HeadKey is the key of a run's Head, BaseKey that of a part of what it has
// beside its trials, TrialKey that of a part of a trial.
const HeadKey = "head"

// BaseKey is the key of a part of a version.
func BaseKey(version string, number int) string { return fmt.Sprintf("v.%s.%d", version, number) }

// TrialKey is the key of a part of a trial.
func TrialKey(trial string, number int) string { return fmt.Sprintf("t.%s.%d", trial, number) }

var storeKey = regexp.MustCompile(`^(?:head|v\.[0-9a-f]{12}\.[1-9][0-9]{0,3}|t\.[0-9a-f]{24}\.[1-9][0-9]{0,3})$`)

// Check is nil for a request that the store can take: names that are names, a
// key of one of three forms, and a part where, and only where, the key is a
// trial's. Errors: ErrName, ErrParts.
func (p StoreParams) Check(m StoreMethod, body []byte) error {
	if m == StoreStates || m == StoreRuns {
		return nil
	}
	errs := []error{CheckName("user", p.User), CheckName("run", p.Run)}
	if (m == StoreGet || m == StorePut) && !storeKey.MatchString(p.Key) {
		errs = append(errs, fmt.Errorf("key %.70q: %w", p.Key, ErrName))
	}
	if err := errors.Join(errs...); err != nil || m != StorePut {
		return err
	}
	if p.Key == HeadKey {
		_, err := ParseHead(body)
		return err
	}
	if trial, ok := strings.CutPrefix(p.Key, "t."); ok != (p.Part != nil) {
		return fmt.Errorf("key %.70q: %w", p.Key, ErrParts)
	} else if ok {
		part, err := p.Part.With(body).Checked(MostTrial)
		if err == nil && TrialKey(strings.SplitN(trial, ".", 2)[0], part.Number) != p.Key {
			err = fmt.Errorf("key %.70q of part %d: %w", p.Key, part.Number, ErrParts)
		}
		return err
	}
	return nil
}

// Head says which parts a run's base has. It is written after them.
type Head struct {
	Started time.Time `json:"started"`
	Version string    `json:"version"` // of the parts: stands in their keys
	Of      int       `json:"parts_count"`
	Size    int       `json:"size_bytes"`
	Sum     string    `json:"sha256"`
	Fabric  string    `json:"fabric,omitempty"`
	Asked   int       `json:"trials_count,omitempty"`
}

// Part is one part of the base; its body is to be added.
func (h Head) Part(number int, body []byte) Part { return Part{number, h.Of, h.Size, h.Sum, body} }

// ParseHead reads a head, and refuses one whose parts cannot be. Errors:
// ErrParts.
func ParseHead(text []byte) (Head, error) {
	var h Head
	if err := json.Unmarshal(text, &h); err != nil {
		return h, fmt.Errorf("%w: a run's head: %w", ErrParts, err)
	}
	if !storeKey.MatchString(BaseKey(h.Version, 1)) {
		return h, fmt.Errorf("%w: a run's head of version %.20q", ErrParts, h.Version)
	}
	_, err := h.Part(1, nil).Checked(MostRun)
	return h, err
}

// CheckStore is the run store's own verdict on a request of somebody whose
// claim says name and has. Errors: fs.ErrPermission.
func CheckStore(user string, m StoreMethod, name string, has agentapi.Role) error {
	need := StoreNeeds(m)
	switch {
	case need == "":
		return fmt.Errorf("the run store has no %.70q: %w", m, errors.ErrUnsupported)
	case user != name:
		return fmt.Errorf("%s asked as %s, signed by %s: %w", m, user, name, fs.ErrPermission)
	case !has.Includes(need):
		return fmt.Errorf("%s: %w: %s needs the role %s (has: %s)", m, fs.ErrPermission, user, need, has)
	}
	return nil
}
