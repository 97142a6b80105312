//go:build !aix

package rig

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/linerate/linerate/internal/bus"
	"github.com/linerate/linerate/internal/bus/link"
)

// State says how a host is in any words, signed by whoever connected, and
// returns what the run store answered.
func State(t testing.TB, conn *link.Conn, host string, body []byte) bus.StateReply {
	t.Helper()
	signer, err := conn.Signer()
	if err != nil {
		t.Fatal(err)
	}
	signed := bus.SignedState{Time: conn.Now().UnixNano(), State: body}
	headers := make(map[string]string)
	if err := link.Sign(headers, signer, signed.Signed(host), true); err != nil {
		t.Fatal(err)
	}
	answer, err := conn.RequestMsg(link.Message(bus.StateOf(host), headers, body), 5*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	var reply bus.StateReply
	if err := json.Unmarshal(answer.Data, &reply); err != nil {
		t.Fatal(err)
	}
	return reply
}
