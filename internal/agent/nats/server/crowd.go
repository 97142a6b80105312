//go:build !aix

package server

import (
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/agent/nats/claim"
	"github.com/linerate/linerate/internal/agent/nats/link"
)

// How many connections one identity may have at a time. A controller has one, and one
// for each host that it changes, to confirm over: of all there may be, a quarter at most.
const (
	mostOfOne      = 64
	mostOfChanging = 1024
	partOfAll      = 4

	betweenCounts = time.Second
)

// limitEach closes the newest connections of whoever has too many, until the server ends;
// all is how many there may be. nats-server itself bounds those of an account alone.
func (s *Server) limitEach(all int) {
	most := max(min(mostOfChanging, all/partOfAll), mostOfOne)
	rare := link.NewLimitedLog(s.log)
	ended := s.Ended()
	for known := map[uint64]claim.Identity(nil); ; {
		select {
		case <-ended:
			return
		case <-time.After(betweenCounts):
		}
		conns := &server.Connz{}
		if s.srv.NumClients() > mostOfOne {
			conns, _ = s.srv.Connz(&server.ConnzOptions{Sort: server.ByCid, Limit: all}) // no error of these options
		}
		known = s.closeSurplus(conns.Conns, known, most, rare)
	}
}

// closeSurplus closes the newest of connections, which come with the oldest
// first, where their identities have too many; most is for one that may change
// hosts. It returns whose they are; had is what it returned before.
func (s *Server) closeSurplus(conns server.ConnInfos, had map[uint64]claim.Identity, most int, rare *link.LimitedLog) map[uint64]claim.Identity {
	known, count := make(map[uint64]claim.Identity), make(map[string]int)
	for _, c := range conns {
		who, ok := had[c.Cid]
		if !ok {
			who = s.connected(c.Cid)
		}
		if who.Key == "" {
			continue // it has not said yet who it is
		}
		known[c.Cid] = who
		may := mostOfOne
		if who.Role == agentapi.RoleChange {
			may = most
		}
		if count[who.Key]++; count[who.Key] > may {
			rare.Warn("a connection too many was closed", "name", who.Name, "most", may)
			_ = s.srv.DisconnectClientByID(c.Cid) // it may have gone
		}
	}
	return known
}

// connected is whose a connection is; zero where it is gone, or has not said it. The
// server believes the claim, and no other word of the client.
func (s *Server) connected(cid uint64) claim.Identity {
	one, err := s.srv.Connz(&server.ConnzOptions{CID: cid, Username: true})
	if err != nil || len(one.Conns) != 1 {
		return claim.Identity{}
	}
	who, _ := claim.Read(one.Conns[0].JWT) // zero for what is no claim
	return who
}
