package iperf3server

import (
	"net/netip"
	"slices"
	"sync"
	"time"
)

// doorman says who is served.
type accessList struct {
	allow []netip.Prefix
	token bool
	// networks are those of the host's interfaces, now.
	networks func() ([]netip.Prefix, error)

	mu    sync.Mutex
	known []netip.Prefix
	at    time.Time
}

// staleAfter is how long an answer about interfaces is good: asking the kernel
// for every connection would let a flood of them cost more.
const staleAfter = 2 * time.Second

// serves says whether an address may have a test. A host whose interfaces
// cannot be read serves loopback.
func (d *accessList) serves(a netip.Addr) bool {
	a = a.Unmap().WithZone("")
	switch {
	case len(d.allow) > 0:
		return within(a, d.allow)
	case d.token:
		return true
	}
	return a.IsLoopback() || a.IsLinkLocalUnicast() || within(a, d.own())
}

func within(a netip.Addr, networks []netip.Prefix) bool {
	return slices.ContainsFunc(networks, func(p netip.Prefix) bool { return p.Contains(a) })
}

func (d *accessList) own() []netip.Prefix {
	d.mu.Lock()
	defer d.mu.Unlock()
	if now := time.Now(); d.at.IsZero() || now.Sub(d.at) > staleAfter {
		if known, err := d.networks(); err == nil {
			d.known = known
		}
		d.at = now
	}
	return d.known
}
