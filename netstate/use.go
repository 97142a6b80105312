package netstate

import (
	"net/netip"
	"slices"
)

// Unused says why nothing is sent over a link and nothing is changed on it. ""
// is a link in use.
type Unused string

// The reasons. The first three are of the link over which the host is managed.
const (
	UnusedSSH     Unused = "ssh"           // ssh comes in by it
	UnusedReach   Unused = "reach"         // `reach` has its address
	UnusedRoute   Unused = "default-route" // the default route leaves by it
	UnusedUnnamed Unused = "unnamed"       // the file does not name it
	UnusedUse     Unused = "use"           // `use` does not name it
)

// Managed reports a link over which the host is managed.
func (u Unused) Managed() bool {
	return u == UnusedSSH || u == UnusedReach || u == UnusedRoute
}

// Loopback reports lo, which holds addresses and is no link: what is sent to
// them comes by the links that lead there.
func (l Link) Loopback() bool { return l.Kind == "loopback" || l.Name == "lo" }

// Holds reports one of the link's addresses.
func (l Link) Holds(a netip.Addr) bool {
	return slices.ContainsFunc(l.Addresses, func(p netip.Prefix) bool { return p.Addr() == a })
}

// Faces reports that dst is in a subnet of the link's from its address src: no
// router is between.
func (l Link) Faces(src, dst netip.Addr) bool {
	return slices.ContainsFunc(l.Addresses, func(p netip.Prefix) bool { return p.Addr() == src && p.Masked().Contains(dst) })
}

// MaySend reports an address of the link from which and to which traffic may
// be sent.
func (l Link) MaySend(a netip.Addr) bool {
	return l.Unused == "" && !slices.Contains(l.UnusedAddresses, a)
}

// AllUsed is the host with every link and address in use: for single packets
// that prove a way, which go wherever a change was made.
func (h Host) AllUsed() Host {
	h.Links = slices.Clone(h.Links)
	for i := range h.Links {
		h.Links[i].Unused, h.Links[i].UnusedAddresses = "", nil
	}
	return h
}
