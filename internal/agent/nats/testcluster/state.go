//go:build !aix

package testcluster

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/linerate/linerate/internal/agent/nats/link"
	"github.com/linerate/linerate/internal/agent/nats/wire"
)

// State says how a host is in any words, signed by whoever connected, and
// returns what the run store answered.
func State(t testing.TB, conn *link.Conn, host string, body []byte) wire.StateReply {
	t.Helper()
	signer, err := conn.Signer()
	if err != nil {
		t.Fatal(err)
	}
	signed := wire.SignedState{Time: conn.Now().UnixNano(), State: body}
	headers := make(map[string]string)
	if err := link.Sign(headers, signer, signed.Signed(host), true); err != nil {
		t.Fatal(err)
	}
	answer, err := conn.RequestMsg(link.Message(wire.StateOf(host), headers, body), 5*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	var reply wire.StateReply
	if err := json.Unmarshal(answer.Data, &reply); err != nil {
		t.Fatal(err)
	}
	return reply
}
