package discover

import (
	"context"
	"fmt"
	"time"

	"github.com/linerate/linerate/internal/advise/hashsurvey"
	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/agent/fleet"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/cmd/progress"
	"github.com/linerate/linerate/internal/plaintext"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/unit"
)

// parseLLDP reads --lldp; "" does not listen.
func parseLLDP(text string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	d, err := unit.ParseDuration(text)
	if err == nil && (d <= 0 || d > agentapi.LongestLLDP) {
		err = fmt.Errorf("want more than 0, and %v at most, not %s", agentapi.LongestLLDP, text)
	}
	if err != nil {
		return 0, console.BadUsage("--lldp: "+err.Error(), "neighbours speak every 30 s: 35s hears most")
	}
	return d, nil
}

// cables listens on every host at the same time for what the other ends of its
// links say, and returns how they hang together, a line each. A host that cannot
// listen is said.
func cables(ctx context.Context, con *console.Console, p *progress.Progress, hosts []netstate.Host, reached map[string]*fleet.Host, wait time.Duration) []string {
	if wait <= 0 {
		return nil
	}
	p.Stage("listen for LLDP neighbours, at most %v", wait)
	replies, errs := make([]agentapi.LLDPReply, len(hosts)), make([]error, len(hosts))
	fleet.ForEach(len(hosts), func(i int) {
		var links []string
		for _, l := range hosts[i].Links {
			if (l.Kind == "" || l.Kind == "veth") && l.Up && len(links) < agentapi.MostLLDPLinks {
				links = append(links, l.Name)
			}
		}
		if len(links) > 0 {
			replies[i], errs[i] = reached[hosts[i].Name].LLDP(ctx, agentapi.LLDPRequest{Links: links, Wait: wait})
		}
	})
	var heard []hashsurvey.HostNeighbor
	for i, h := range hosts {
		if errs[i] != nil && ctx.Err() == nil {
			p.Note(fmt.Sprintf("no LLDP of %s: %v", h.Name, errs[i]))
		}
		for _, n := range replies[i].Neighbors {
			heard = append(heard, hashsurvey.HostNeighbor{Host: h.Name, Neighbor: n})
		}
	}
	return hashsurvey.Cables(hosts, heard)
}

// remarked is a fabric file with lines of comment at its end. They come from
// whatever is at a cable's other end: nothing of them may be more than comment.
func remarked(text []byte, lines []string) []byte {
	for _, l := range lines {
		text = append(text, "# by LLDP: "+plaintext.Line(l)+"\n"...)
	}
	return text
}
