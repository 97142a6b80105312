package change

import (
	"errors"
	"fmt"
	"slices"

	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/plan"
	"github.com/linerate/linerate/render"
)

// OwnerError is a link that another program manages, and would set back to
// what its own files say.
type OwnerError struct {
	Link, Owner string
}

func (e *OwnerError) Error() string {
	return fmt.Sprintf("change %s: %s manages it and would set it back", e.Link, e.Owner)
}

// ownFormats is the one table of programs that manage links and of the formats
// that hand a change over to them.
var ownFormats = map[string][]render.Format{
	"systemd-networkd": {render.FormatNetworkd, render.FormatNetplan},
	"ifupdown":         {render.FormatIfupdown},
	"NetworkManager":   {render.FormatKeyfile, render.FormatIfcfg, render.FormatNetplan},
}

// owned refuses to change a link that another program manages, unless the
// change is written into that program's own files.
func (c *Change) owned(part Host) error {
	if c.cfg.DespiteOwner {
		return nil
	}
	var problems []error
	seen := map[string]bool{}
	for _, s := range part.Plan.Steps {
		for _, name := range changes(s) {
			l, ok := c.before.Hosts[part.Name].Link(name)
			if !ok || seen[name] || l.Owner == "" || slices.Contains(ownFormats[l.Owner], part.Persist) {
				continue
			}
			seen[name] = true
			problems = append(problems, &OwnerError{Link: l.Name, Owner: l.Owner})
		}
	}
	return errors.Join(problems...)
}

// changes are the links whose settings, as their owner sees them, a step is
// about.
func changes(s plan.Step) []string {
	switch s.Kind {
	case plan.Sysctl, plan.MPTCPLimit:
		return nil
	case plan.PortMaster:
		return []string{s.Link, s.Old, s.New}
	}
	links := []string{s.Link}
	if s.Route != nil {
		links = append(links, s.Route.Link)
		for _, h := range s.Route.Hops {
			links = append(links, h.Link)
		}
	}
	return links
}

// backEnd is the format that keeps a change over a reboot where nobody names
// one, by what manages the network there; "" where there is none, and why.
func backEnd(h netstate.Host, inNamespace bool) (render.Format, string) {
	has := func(owner string) bool { return slices.Contains(h.Owners, owner) }
	switch {
	case inNamespace:
		return "", "a network namespace has no files of its own: it lasts until the namespace goes"
	case h.Kernel.OS != "" && h.Kernel.OS != "linux":
		return "", "changes are made on Linux"
	case has("netplan"):
		return render.FormatNetplan, "netplan configures this host"
	case has("NetworkManager"):
		return render.FormatKeyfile, "NetworkManager manages this host"
	case has("systemd-networkd"):
		return render.FormatNetworkd, "systemd-networkd manages this host"
	case has("ifupdown"):
		return render.FormatIfupdown, "ifupdown manages this host"
	case has("wicked"):
		return "", "wicked manages this host, and its files are not written: until the next reboot"
	}
	return "", "nobody manages the network here: until the next reboot (--persist networkd writes files for systemd-networkd)"
}
