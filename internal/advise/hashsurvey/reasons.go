package hashsurvey

import (
	"fmt"
	"strings"
)

// Reasons are what stands in the way of an even set, side by side, and what
// would help; none when the set is even.
func (r Report) Reasons() []string {
	if r.Even {
		return nil
	}
	var all []string
	for _, s := range r.Sides {
		if len(s.Links) < 2 || s.Even && len(r.Streams) > 0 {
			continue
		}
		if why := s.reason(); why != "" {
			all = append(all, why)
		}
	}
	if r.Why != "" {
		all = append(all, r.Why)
	}
	return all
}

// unlikely is the probability below which something does not help.
const unlikely = 0.15

func (s SideReport) reason() string {
	name := "the switch to " + s.Host
	if s.Side.Out() {
		name = s.Host + " sends"
	}
	switch {
	case s.Ignored != "":
		return name + ": " + s.Ignored + s.cure()
	case len(s.Unreached) > 0 && s.PortsHelp < unlikely:
		return fmt.Sprintf("%s: no flow took %s, and source ports do not seem to matter%s", name, strings.Join(s.Unreached, ", "), s.cure())
	case len(s.Unreached) > 0:
		return fmt.Sprintf("%s: no flow took %s", name, strings.Join(s.Unreached, ", "))
	}
	return ""
}

// cure is what would help where ports do not.
func (s SideReport) cure() string {
	if s.PortsHelp >= unlikely || s.AddressesHelp < unlikely {
		return ""
	}
	return "; more addresses would help: `linerate steer addresses` chooses them"
}
