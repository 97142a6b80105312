package agent

import (
	"errors"
	"maps"
	"sync"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/kernel/ethtool"
	"github.com/linerate/linerate/internal/kernel/netns"
	"github.com/linerate/linerate/internal/kernel/procfs"
	"github.com/linerate/linerate/internal/kernel/rtnl"
)

// counters reads what the kernel counts, over files and sockets that are opened
// in the namespace at first use and kept: sampling must cost little.
type counters struct {
	ns     netns.Namespace
	mu     sync.Mutex
	handle *rtnl.Handle
	driver *ethtool.Handle
	tcp    *procfs.Kept[map[string]uint64]
	damage *procfs.Kept[map[string]uint64]
	// Of the whole machine.
	stat    *procfs.Kept[[]procfs.CPUTime]
	softnet *procfs.Kept[[]procfs.Softnet]
	// What takes long is read less often.
	drivers map[string]*pace
	tcpPace pace
}

// kept is what open opens, at first use.
func kept[T any](at **T, open func() (*T, error)) (*T, error) {
	if *at == nil {
		made, err := open()
		if err != nil {
			return nil, err
		}
		*at = made
	}
	return *at, nil
}

// inside is open in the namespace.
func inside[T any](ns netns.Namespace, open func() (*T, error)) func() (*T, error) {
	return func() (made *T, err error) {
		err = ns.Do(func() (err error) {
			made, err = open()
			return err
		})
		return made, err
	}
}

func (c *counters) links(names []string) ([]agentapi.LinkCount, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	h, err := kept(&c.handle, inside(c.ns, rtnl.Open))
	if err != nil {
		return nil, err
	}
	all, err := h.Counters(names)
	if err != nil {
		return nil, err
	}
	out := make([]agentapi.LinkCount, len(all))
	for i, l := range all {
		out[i] = agentapi.LinkCount{Link: l.Link, LinkCounters: l.LinkCounters}
		out[i].Driver = c.driverCounters(l.Link)
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
	if c.driver != nil {
		c.driver.Close()
		c.driver = nil
	}
	if c.tcp != nil {
		c.tcp.Close()
		c.tcp = nil
	}
	if c.damage != nil {
		c.damage.Close()
		c.damage = nil
	}
	if c.stat != nil {
		c.stat.Close()
		c.stat = nil
	}
	if c.softnet != nil {
		c.softnet.Close()
		c.softnet = nil
	}
}

// processors is each processor's time so far.
func (c *counters) processors() (agentapi.CPUCount, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	stat, err := kept(&c.stat, procfs.OpenStat)
	if err != nil {
		return agentapi.CPUCount{}, err
	}
	all, err := stat.Read()
	if err != nil {
		return agentapi.CPUCount{}, err
	}
	var out agentapi.CPUCount
	for _, core := range all {
		out.Cores = append(out.Cores, core.CPU)
		out.Busy = append(out.Busy, core.Busy)
		out.Softirq = append(out.Softirq, core.Softirq)
		out.Steal += core.Steal
	}
	// What a kernel or a container does not show is not counted.
	if softnet, err := kept(&c.softnet, procfs.OpenSoftnet); err == nil {
		rows, _ := softnet.Read()
		for _, row := range rows {
			out.SoftnetDropped += row.Dropped
			out.SoftnetSqueezed += row.TimeSqueeze
		}
	}
	out.TCPExt = c.tcpCounters()
	return out, nil
}

// driverCounters are those of a link's driver; nil where it has none, or it was
// asked not long ago. The caller holds the lock.
func (c *counters) driverCounters(link string) map[string]uint64 {
	if c.drivers == nil {
		c.drivers = make(map[string]*pace)
	}
	p := c.drivers[link]
	if p == nil {
		p = new(pace)
		c.drivers[link] = p
	}
	return p.read(func() (map[string]uint64, bool) {
		driver, err := kept(&c.driver, inside(c.ns, ethtool.Open))
		if err != nil {
			return nil, true
		}
		found, err := driver.Counters(link)
		return found, errors.Is(err, errors.ErrUnsupported)
	})
}

// tcpCounters are the namespace's counters of TCP; nil where there are none, or
// they were read not long ago. The caller holds the lock.
func (c *counters) tcpCounters() map[string]uint64 {
	return c.tcpPace.read(func() (map[string]uint64, bool) {
		tcp, err := kept(&c.tcp, inside(c.ns, procfs.OpenEvidence))
		if err != nil {
			return nil, true
		}
		found, err := tcp.Read()
		if err != nil {
			return found, true
		}
		if damage, err := kept(&c.damage, inside(c.ns, procfs.OpenDamage)); err == nil {
			more, _ := damage.Read()
			maps.Copy(found, more)
		}
		return found, false
	})
}
