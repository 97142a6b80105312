//go:build !linux || portable

package engine

import (
	"errors"
	"net/netip"
	"testing"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/agent/agentapi"
)

func TestPortableRefusesMPTCP(t *testing.T) {
	e := New(Config{})
	t.Cleanup(e.Close)
	_, err := e.OpenSink(t.Context(), agentapi.SinkRequest{Session: "in", Key: testKey, Bind: []netip.Addr{loopback}, Streams: 1, MPTCP: true})
	if !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("sink: %v", err)
	}
	_, err = e.OpenSource(t.Context(), agentapi.SourceRequest{Session: "out", Key: testKey, MPTCP: true, Streams: []agentapi.Stream{{Lane: flow.Lane{Dst: loopback}, Dport: 9}}})
	if !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("source: %v", err)
	}
}
