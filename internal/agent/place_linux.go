package agent

import (
	"slices"

	"github.com/linerate/linerate/internal/kernel/sys"
	"github.com/linerate/linerate/internal/kernel/topology"
	"github.com/linerate/linerate/internal/traffic/placement"
)

// place chooses a core for each of a session's threads, near the links that it
// counts and not on cores that are taken; nil leaves them to the scheduler.
func (a *Agent) place(links []string, streams int, taken []int) []int {
	req := placement.Request{Streams: streams}
	var err error
	if req.Cores, err = topology.Cores("/"); err == nil {
		req.Allowed, err = sys.Affinity()
	}
	req.Allowed = slices.DeleteFunc(req.Allowed, func(core int) bool { return slices.Contains(taken, core) })
	if err != nil {
		a.cfg.Logger.Debug("threads are not pinned", "reason", err)
		return nil
	}
	err = a.cfg.Namespace.DoWithSysfs(func() error {
		for _, name := range slices.Compact(slices.Sorted(slices.Values(links))) {
			req.Links = append(req.Links, topology.Link("/", name))
		}
		return nil
	})
	if err != nil {
		return nil
	}
	choice := placement.Choose(req)
	a.cfg.Logger.Debug("cores for the streams' threads", "cores", choice.Cores, "reason", choice.Why)
	return choice.Cores
}
