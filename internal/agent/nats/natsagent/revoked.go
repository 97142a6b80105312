package natsagent

import (
	"errors"
	"io/fs"
	"os"

	"github.com/linerate/linerate/internal/agent/nats/authority"
)

// recall reads the list of revocations that was known when the agent ended.
func (s *natsAgent) recall() {
	if s.cfg.Revoked == "" {
		return
	}
	list, err := os.ReadFile(s.cfg.Revoked)
	if err == nil {
		_, err = s.trust.Learn(string(list))
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.log.Warn("the list of revocations of the last start is not used", "error", err)
	}
}

// learn takes a list of revocations that is newer, and ends what those whose
// claims are revoked have begun.
func (s *natsAgent) learn(list string) {
	newer, err := s.trust.Learn(list)
	if err != nil {
		s.refused.Warn("a list of revocations is not believed", "error", err)
		return
	}
	if !newer {
		return
	}
	if s.cfg.Revoked != "" {
		if err := authority.WritePrivate(s.cfg.Revoked, list); err != nil {
			s.log.Debug("the list of revocations is not kept for the next start", "error", err)
		}
	}
	s.endRevoked()
}

// endRevoked ends the conversations of those whose claims are good no more.
func (s *natsAgent) endRevoked() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, t := range s.sessions {
		if err := s.trust.Good(t.who); err != nil {
			s.log.Warn("a conversation was ended", "user", t.who.Name, "conversation", id, "error", err)
			s.drop(t)
		}
	}
}
