package agent

import (
	"sync"

	"github.com/linerate/linerate/internal/agentapi"
	"github.com/linerate/linerate/internal/kernel/netns"
	"github.com/linerate/linerate/internal/kernel/procfs"
	"github.com/linerate/linerate/internal/kernel/rtnl"
)

// counters reads link counters over one netlink socket, opened in the
// namespace at first use and kept: sampling must cost little.
type counters struct {
	ns     netns.Namespace
	mu     sync.Mutex
	handle *rtnl.Handle
}

func (c *counters) open() (*rtnl.Handle, error) {
	if c.handle != nil {
		return c.handle, nil
	}
	err := c.ns.Do(func() (err error) {
		c.handle, err = rtnl.Open()
		return err
	})
	return c.handle, err
}

func (c *counters) links(names []string) ([]agentapi.LinkCount, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	h, err := c.open()
	if err != nil {
		return nil, err
	}
	all, err := h.Counters(names)
	if err != nil {
		return nil, err
	}
	out := make([]agentapi.LinkCount, len(all))
	for i, l := range all {
		out[i] = agentapi.LinkCount{Link: l.Link, C: l.Counters, QdiscDrops: l.QdiscDrops, QdiscOverlimits: l.QdiscOverlimits, QdiscBacklog: l.QdiscBacklog}
		out[i].State = &agentapi.LinkState{Carrier: l.Carrier, Changes: l.CarrierChanges}
		if l.Port != nil {
			out[i].State.Port = &agentapi.PortState{Up: l.Port.MIIUp, Active: l.Port.Active}
		}
	}
	return out, nil
}

func (c *counters) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.handle != nil {
		c.handle.Close()
		c.handle = nil
	}
}

// processors is each processor's time so far.
func processors() (agentapi.CPUCount, error) {
	all, err := procfs.Stat()
	if err != nil {
		return agentapi.CPUCount{}, err
	}
	var out agentapi.CPUCount
	for _, c := range all {
		out.Cores = append(out.Cores, c.CPU)
		out.Busy = append(out.Busy, c.Busy)
		out.Softirq = append(out.Softirq, c.Softirq)
	}
	// What a kernel or a container does not show is not counted.
	if rows, err := procfs.ReadSoftnet(); err == nil {
		for _, row := range rows {
			out.SoftnetDropped += row.Dropped
			out.SoftnetSqueezed += row.TimeSqueeze
		}
	}
	return out, nil
}
