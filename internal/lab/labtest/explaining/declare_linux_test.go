package explaining

import (
	"slices"
	"time"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/fabric/describe"
	"github.com/linerate/linerate/internal/agent/fleet"
	"github.com/linerate/linerate/internal/run/measure"
	"github.com/linerate/linerate/netstate"
)

// declaration is what a user of the network writes into a fabric file while it
// is well: it stays what it is when a fault comes.
type declaration struct {
	hosts []netstate.Host
	paths []fabric.Path
	reach map[string]string
}

// declare observes the hosts as `discover` does, and adds what a user knows.
func (s *stand) declare() {
	s.t.Helper()
	s.said.reach = map[string]string{}
	for _, name := range hosts {
		s.said.reach[name] = "netns:" + s.spaces[name].NS.Name
		if s.what.agents {
			s.said.reach[name] = "ssh://" + name
		}
		h, err := fleet.Dial(s.t.Context(), name, s.said.reach[name], fleet.Config{Version: "test", Unguarded: true})
		s.must(err)
		reply, err := h.Observe(s.t.Context())
		s.must(err)
		s.must(h.Close())
		reply.Host.Name = name
		s.said.hosts = append(s.said.hosts, reply.Host)
	}
	s.said.paths = fabric.PathsBetween(s.said.hosts)
	for i := range s.said.paths {
		p := &s.said.paths[i]
		p.Declared = true
		if s.what.saysRTT && s.what.rtt > 0 {
			p.RTT = s.what.rtt
		}
		if s.what.saysHash && s.what.form == bonded {
			p.SwitchHash = s.what.switchHash.String()
		}
	}
}

// clone is a copy to change.
func (d declaration) clone() declaration {
	var all []netstate.Host
	for _, h := range d.hosts {
		all = append(all, h.Clone())
	}
	d.hosts, d.paths = all, slices.Clone(d.paths)
	return d
}

func (d declaration) text() []byte {
	return describe.Write(d.hosts, d.paths, d.reach, fabric.Measure{})
}

var pings = measure.Pings{Count: 5, Interval: 10 * time.Millisecond}
