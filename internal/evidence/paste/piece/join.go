package piece

import "slices"

// joinNameless gives what a text says of a host without a name to the one named host
// that has links of the same names: a paste often names its host once.
func (c *Case) joinNameless() {
	var nameless, match *Host
	for _, h := range c.Hosts {
		if h.Name == "" && !h.Switch && len(h.Facts) > 0 {
			nameless = h
		}
	}
	if nameless == nil {
		return
	}
	for _, h := range c.Hosts {
		if h == nameless || h.Switch || !slices.ContainsFunc(h.Subjects("link"), func(l string) bool { return l != "lo" && nameless.Facts["link "+l] != nil }) {
			continue
		}
		if match != nil {
			return // two have them: nobody says which
		}
		match = h
	}
	if match == nil {
		return
	}
	for subject, facts := range nameless.Facts {
		for key, values := range facts {
			if _, known := match.Get(subject, key); known {
				continue
			}
			for _, x := range values {
				match.Set(subject, key, x.Text, x.Source)
			}
		}
	}
	for bond, ports := range nameless.Ports {
		if len(match.Ports[bond]) == 0 {
			match.Ports[bond] = ports
		}
	}
	match.Sockets = append(match.Sockets, nameless.Sockets...)
	match.Events = append(match.Events, nameless.Events...)
	match.Mounts = append(match.Mounts, nameless.Mounts...)
	match.Cores = append(match.Cores, nameless.Cores...)
	match.Processes = append(match.Processes, nameless.Processes...)
	match.Routes = append(match.Routes, nameless.Routes...)
	c.Hosts = slices.DeleteFunc(c.Hosts, func(h *Host) bool { return h == nameless })
}
