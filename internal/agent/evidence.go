package agent

import (
	"errors"

	"github.com/linerate/linerate/internal/kernel/ethtool"
	"github.com/linerate/linerate/internal/kernel/procfs"
)

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
		return found, err != nil
	})
}
