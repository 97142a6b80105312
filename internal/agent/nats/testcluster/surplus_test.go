//go:build !aix

package testcluster

import (
	"fmt"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/linerate/linerate/internal/agent/agentapi"
)

// TestStatesAreKeptOnce: however often hosts say how they are, the last word of each is
// kept and found, and no other (item 16 of a hostile tester's report: 22 messages of two
// hosts, of which one was not found).
func TestStatesAreKeptOnce(t *testing.T) {
	s := Start(t, nil)
	creds, err := s.Authority.Store()
	if err != nil {
		t.Fatal(err)
	}
	conn, err := nats.Connect(s.URL, nats.RootCAs(s.CA()), nats.UserCredentialBytes(creds))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	hosts := []string{"db1", "db2"}
	for _, host := range hosts {
		agent := Connect(t, s.As(t, host, agentapi.RoleAgent))
		for i := range 11 {
			if reply := State(t, agent, host, fmt.Appendf(nil, `{"instance":"%d"}`, i)); reply.Error != "" {
				t.Fatal(reply.Error)
			}
		}
	}
	js, err := jetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	stream, err := js.Stream(t.Context(), "KV_linerate-hosts")
	if err != nil {
		t.Fatal(err)
	}
	if n := stream.CachedInfo().State.Msgs; n != uint64(len(hosts)) {
		t.Errorf("%d messages of %d hosts are kept", n, len(hosts))
	}
	for _, host := range hosts {
		if _, err := stream.GetLastMsgForSubject(t.Context(), "$KV.linerate-hosts."+host); err != nil {
			t.Errorf("%s: %v", host, err)
		}
	}
}
