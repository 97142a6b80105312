package probe

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/linerate/linerate/internal/advise/hashsurvey"
	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/agent/ask"
)

// hearing is what one host heard of its neighbours.
type hearing struct {
	end   int
	reply agentapi.LLDPReply
	err   error
}

// listen starts to hear LLDP at both ends; what it starts ends when the time
// is over or ctx is.
func (r *runner) listen(ctx context.Context) <-chan hearing {
	out := make(chan hearing, 2)
	if r.cfg.LLDP <= 0 {
		close(out)
		return out
	}
	for i, end := range [2]End{r.cfg.A, r.cfg.B} {
		go func() {
			reply, err := ask.Call(ctx, end.At, agentapi.LLDP, agentapi.LLDPRequest{Links: r.ends[i].cables(), Wait: r.cfg.LLDP})
			out <- hearing{i, reply, err}
		}()
	}
	return out
}

// cables are all ports of the bonds, usable or not.
func (a attached) cables() []string {
	names := slices.Clone(a.names)
	for _, p := range a.trunk().Ports {
		if !slices.Contains(names, p.Link) {
			names = append(names, p.Link)
		}
	}
	return names
}

// heard waits for what listen hears. A host that cannot listen is a note.
func (r *runner) heard(ctx context.Context, from <-chan hearing) ([]hashsurvey.HostNeighbor, error) {
	if r.cfg.LLDP <= 0 {
		return nil, nil
	}
	var all []hashsurvey.HostNeighbor
	for range 2 {
		h := <-from
		name := r.ends[h.end].host.Name
		for _, n := range h.reply.Neighbors {
			all = append(all, hashsurvey.HostNeighbor{Host: name, Neighbor: n})
		}
		if h.err != nil && !errors.Is(h.err, context.Canceled) {
			r.notes = append(r.notes, "LLDP: "+h.err.Error())
		}
	}
	slices.SortStableFunc(all, func(x, y hashsurvey.HostNeighbor) int { return strings.Compare(x.Host, y.Host) })
	return all, ctx.Err()
}
