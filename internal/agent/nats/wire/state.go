package wire

import (
	"net/netip"
	"time"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/unit"
)

// State is what an agent says of its host by itself, for an inventory that asks
// nobody.
type State struct {
	Hello agentapi.HelloReply `json:"hello"`
	// Instance tells one start of the agent from the next.
	Instance string        `json:"instance"`
	Since    time.Time     `json:"since"`   // the agent answers
	Written  time.Time     `json:"written"` // this
	Most     agentapi.Role `json:"most"`    // the highest role that it serves
	// Lost says what the agent cannot do here, in words: it is not root.
	Lost []string `json:"lost,omitempty"`
	// Wrong is what is wrong with the host itself, in words, worst first, at most MostWrong.
	Wrong []string `json:"wrong,omitempty"`
	Links []Link   `json:"links"`
	// Quiet is how long ago the run store heard this: whoever reads a state sets it.
	// The clock that Written is by is the host's own.
	Quiet time.Duration `json:"-"`
}

// Link is one link of a State.
type Link struct {
	Name      string         `json:"name"`
	Kind      string         `json:"kind,omitempty"`
	MTU       int            `json:"mtu_bytes,omitempty"`
	Speed     unit.BitRate   `json:"speed_bps,omitempty"` // zero: unknown
	Addresses []netip.Prefix `json:"addresses,omitempty"`
	PartOf    string         `json:"part_of,omitempty"` // the bond or bridge whose port it is
	Bond      string         `json:"bond,omitempty"`    // mode and hash, such as "802.3ad, layer3+4"; "" it is none
}

// MostWrong is how many findings a State has at most.
const MostWrong = 8

// SignedState is a State as the run store keeps it: whoever reads it sees who
// signed it.
type SignedState struct {
	Claim     string `json:"claim"`
	Time      int64  `json:"time_ns"`
	Signature string `json:"signature"`
	State     []byte `json:"state"` // JSON, to the byte as it was signed
	// Quiet is added by the run store when it is asked: how long ago it heard the
	// state. Zero is a store that does not say.
	Quiet time.Duration `json:"quiet_ns,omitempty"`
}

// Signed is what the signature of a host's state is over.
func (s SignedState) Signed(host string) Signed {
	return Signed{Kind: KindState, Subject: StateOf(host), Time: s.Time}.OfBody(s.State)
}

// StateParams go with a state: how new the list of claims that were taken away
// is that the host knows, in the list's own numbers.
type StateParams struct {
	Revoked int64 `json:"revoked"`
}

// StateReply answers a state.
type StateReply struct {
	Error string `json:"error,omitempty"`
	// Revoked is a newer list than the host has; "" is none.
	Revoked string `json:"revoked,omitempty"`
}
