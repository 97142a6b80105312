package netstate

import "github.com/linerate/linerate/flow"

// LinkIndex finds links of a host by name without looking through all of them: what
// looks up many of many takes one. It holds as long as links are set by it alone.
type LinkIndex struct {
	host *Host
	at   map[string]int
}

// Index is the host's links by name.
func (h *Host) Index() LinkIndex {
	x := LinkIndex{h, make(map[string]int, len(h.Links))}
	for i := len(h.Links) - 1; i >= 0; i-- {
		x.at[h.Links[i].Name] = i
	}
	return x
}

// Link is Host.Link.
func (x LinkIndex) Link(name string) (Link, bool) {
	if i, ok := x.at[name]; ok {
		return x.host.Links[i], true
	}
	return Link{}, false
}

// SetLink is Host.SetLink.
func (x LinkIndex) SetLink(l Link) {
	if i, ok := x.at[l.Name]; ok {
		x.host.Links[i] = l
		return
	}
	x.at[l.Name] = len(x.host.Links)
	x.host.Links = append(x.host.Links, l)
}

// Ports are the links by their master's name, in the order in which they are listed.
func Ports(links []Link) map[string][]string {
	ports := make(map[string][]string)
	for _, l := range links {
		if l.Master != "" {
			ports[l.Master] = append(ports[l.Master], l.Name)
		}
	}
	return ports
}

// HardwareMAC is the address that the link was made with, or the one that it has where
// that is not known.
func (l Link) HardwareMAC() flow.MAC {
	if !l.PermanentMAC.IsZero() {
		return l.PermanentMAC
	}
	return l.MAC
}
