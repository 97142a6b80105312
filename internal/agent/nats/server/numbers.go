//go:build !aix

package server

import (
	"fmt"

	"github.com/nats-io/nats-server/v2/server"
)

// Numbers are what a server counts, since it began.
type Numbers struct {
	Connections       int    // now, of agents and controllers
	BytesIn, BytesOut int64  // of messages
	SlowConsumers     int64  // connections that were closed as they did not read
	Stored            uint64 // bytes on disk
}

// Numbers reads what the server counts.
func (s *Server) Numbers() (Numbers, error) {
	v, err := s.srv.Varz(&server.VarzOptions{})
	if err != nil {
		return Numbers{}, fmt.Errorf("read the server's numbers: %w", err)
	}
	return Numbers{v.Connections, v.InBytes, v.OutBytes, v.SlowConsumers, v.JetStream.Stats.Store}, nil
}
