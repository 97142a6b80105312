package piece

import (
	"slices"
	"strings"
)

// OfSystem says which system prints what is read. Where the host is of another one,
// it is a host that nobody names; prompts of Windows never name theirs.
func (s *Sink) OfSystem(os string, l Line) {
	now, known := s.Host.Get("host", "os")
	_, linux := s.Host.Get("host", "release")
	if known && now.Text != os || !known && (linux || os == "windows" && s.Host.OwnOutputs()) {
		s.Host = s.C.namelessSystem(os)
	}
	s.Set("host", "os", os, l)
}

func (c *Case) namelessSystem(os string) *Host {
	for _, h := range c.Hosts {
		if v, ok := h.Get("host", "os"); h.Name == "" && !h.Switch && ok && v.Text == os {
			return h
		}
	}
	return c.add(Host{})
}

// OwnOutputs reports that outputs of a host, not of a switch, were read.
func (h *Host) OwnOutputs() bool {
	for subject := range h.Facts {
		if subject == "host" || subject == "sysctl" || strings.HasPrefix(subject, "link ") {
			return true
		}
	}
	return len(h.Routes)+len(h.Rules)+len(h.Sockets)+len(h.Cores) > 0
}

// NamelessSwitch is the switch that no prompt names.
func (c *Case) NamelessSwitch() *Host {
	for _, h := range c.Hosts {
		if h.Name == "" && h.Switch {
			return h
		}
	}
	return c.add(Host{Switch: true})
}

// EachLine hands on the lines that are not empty until one is refused, and returns
// how many were taken.
func EachLine(lines []Line, take func(l Line, text string) bool) (read int) {
	for i, l := range lines {
		text := strings.TrimSpace(l.Text)
		if text == "" {
			continue
		}
		if !take(l, text) {
			break
		}
		read = i + 1
	}
	return read
}

// Late reports a line so far behind the first that a reader that has found nothing
// yet gives up.
func Late(l Line, lines []Line) bool { return l.Number-lines[0].Number > 50 }

// SetIf sets a fact that has a value.
func (s *Sink) SetIf(subject, key, value string, l Line) {
	if value != "" && value != "-" && value != "--" {
		s.Set(subject, key, value, l)
	}
}

// Port notes a bond's port, in the order that they are read.
func (s *Sink) Port(bond, name string, l Line) {
	s.Set("link "+name, "master", bond, l)
	if !slices.Contains(s.Host.Ports[bond], name) {
		s.Host.Ports[bond] = append(s.Host.Ports[bond], name)
	}
}
