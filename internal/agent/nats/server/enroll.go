//go:build !aix

package server

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/nats-io/nats.go"

	"github.com/linerate/linerate/internal/agent/nats/authority"
	"github.com/linerate/linerate/internal/agent/nats/wire"
)

// longestEnroll bounds the request of a token's holder: it is one key.
const longestEnroll = 1 << 10

// answerTokens gives the holders of tokens their identities.
func (s *Server) answerTokens(conn *nats.Conn) error {
	if _, err := conn.Subscribe(wire.Enroll("*"), s.enroll); err != nil {
		return fmt.Errorf("answer tokens: %w", err)
	}
	return conn.Flush()
}

func (s *Server) enroll(m *nats.Msg) {
	id := m.Subject[strings.LastIndexByte(m.Subject, '.')+1:]
	if !strings.HasPrefix(m.Reply, wire.EnrollInbox(id)+".") {
		s.log.Warn("a token was refused: its holder wants the answer sent elsewhere", "token", id)
		return
	}
	reply, err := s.redeem(id, m.Data)
	if err != nil {
		s.log.Warn("a token was refused", "token", id, "error", err)
		reply = authority.EnrollReply{Error: err.Error()}
	}
	text, err := json.Marshal(reply)
	if err == nil {
		err = m.Respond(text)
	}
	if err != nil {
		s.log.Error("answer a token", "token", id, "error", err)
	}
}

func (s *Server) redeem(id string, body []byte) (authority.EnrollReply, error) {
	if len(body) > longestEnroll {
		return authority.EnrollReply{}, fmt.Errorf("request of %d bytes, want at most %d", len(body), longestEnroll)
	}
	var req authority.EnrollRequest
	if err := json.Unmarshal(body, &req); err != nil {
		return authority.EnrollReply{}, fmt.Errorf("read request: %w", err)
	}
	reply, t, err := s.cfg.Authority.Redeem(id, req)
	if err != nil {
		return authority.EnrollReply{}, err
	}
	s.log.Info("enrolled", "name", t.Name, "role", t.Role, "key", req.Key)
	if t.Replace {
		if err := s.push(); err != nil {
			s.log.Error("the identity that was replaced may still be good", "name", t.Name, "error", err)
		}
	}
	return reply, nil
}
