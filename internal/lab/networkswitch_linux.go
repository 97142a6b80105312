package lab

import (
	"slices"
	"strings"
	"time"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/internal/kernel/rtnl"
	"github.com/linerate/linerate/internal/lab/scenario"
	"github.com/linerate/linerate/netstate"
)

// join makes the switches: bonds where a host has one that a switch must know
// of, then what each host has in a switch, joined to the others by its uplink.
func (s *Raised) join() error {
	sw := s.built.builders[switchName]
	uplinks, err := scenario.Star(s.what.Fabric)
	if err != nil {
		return err
	}
	lags := 0
	for i, one := range s.what.switches() {
		var core []string
		for j, h := range s.what.Fabric.Hosts {
			ports, err := s.inSwitch(h.Name, one, &lags)
			if err != nil {
				return err
			}
			if len(ports) == 0 {
				continue
			}
			if uplinks[h.Name].IsZero() {
				core = append(core, ports...)
				continue
			}
			site, trunk := uplinkNames(i, j)
			if err := s.trunk(h.Name, siteName(i, j), site, trunk, ports); err != nil {
				return err
			}
			core = append(core, trunk)
		}
		if err := sw.Bridge(coreName(i), core); err != nil {
			return err
		}
	}
	return nil
}

// trunk is a host's uplink: a cable inside the switches' namespace.
func (s *Raised) trunk(host, bridge, site, core string, ports []string) error {
	sw := s.built.builders[switchName]
	if err := sw.Veth(site, sw, core); err != nil {
		return err
	}
	for _, name := range []string{site, core} {
		if err := sw.MTU(name, s.what.LargestMTU()); err != nil {
			return err
		}
	}
	s.uplinks = append(s.uplinks, uplink{host, site, core})
	return sw.Bridge(bridge, append(slices.Clone(ports), site))
}

// inSwitch are the links by which a host is in a switch: its ports, or the
// switch's half of a bond of them.
func (s *Raised) inSwitch(host string, one scenario.Switch, lags *int) ([]string, error) {
	var links []string
	for _, p := range one.Ports {
		if name, link, _ := strings.Cut(p, "."); name == host {
			links = append(links, link)
		}
	}
	state, err := s.what.Fabric.State(host)
	if err != nil {
		return nil, err
	}
	var out []string
	bonded := map[string]bool{}
	for _, l := range state.Links {
		if l.Bond == nil || !l.Bond.Mode.Hashes() {
			continue
		}
		var ports []string
		for _, port := range l.Bond.Ports {
			if slices.Contains(links, port) {
				ports = append(ports, s.far[scenario.Port{Host: host, Link: port}])
				bonded[port] = true
			}
		}
		if len(ports) == 0 {
			continue
		}
		name := lagName(*lags)
		*lags++
		if err := s.lag(name, host, *l.Bond, ports); err != nil {
			return nil, err
		}
		out = append(out, name)
	}
	for _, link := range links {
		if !bonded[link] {
			out = append(out, s.far[scenario.Port{Host: host, Link: link}])
		}
	}
	return out, nil
}

// lag is the switch's half of a bond.
func (s *Raised) lag(name, host string, bond netstate.Bond, ports []string) error {
	sw := s.built.builders[switchName]
	hash := s.what.switchHash(host)
	spec := rtnl.BondSpec{Mode: bond.Mode, HashPolicy: &hash, Miimon: 100 * time.Millisecond}
	if bond.Mode == netstate.LACP {
		fast := netstate.LACPFast
		spec.LACPRate = &fast
	}
	if err := sw.Bond(name, spec, ports); err != nil {
		return err
	}
	return sw.MTU(name, s.what.LargestMTU())
}

// Shape gives cables and uplinks the rates, delays and losses that the fabric
// has, which is the one built but for these. Both ends of a cable are shaped:
// shaping one end only would hide an uneven spread from the counters.
func (s *Raised) Shape(f fabric.Fabric) error {
	sw := s.built.builders[switchName]
	for port, far := range s.far {
		h, err := f.State(port.Host)
		if err != nil {
			return err
		}
		l, ok := h.Link(port.Link)
		if !ok || l.Speed == 0 {
			continue
		}
		if err := s.built.builders[port.Host].Shape(port.Link, l.Speed, bucket(l.Speed), shaperWait); err != nil {
			return err
		}
		if err := sw.Shape(far, l.Speed, bucket(l.Speed), shaperWait); err != nil {
			return err
		}
	}
	for _, h := range f.Hosts {
		if err := s.shapeCards(h); err != nil {
			return err
		}
	}
	uplinks, err := scenario.Star(f)
	if err != nil {
		return err
	}
	for _, u := range s.uplinks {
		if err := s.shapeUplink(u, uplinks[u.host]); err != nil {
			return err
		}
	}
	return nil
}

func (s *Raised) shapeUplink(u uplink, is scenario.Uplink) error {
	sw := s.built.builders[switchName]
	for _, name := range []string{u.site, u.core} {
		if is.Rate > 0 {
			if err := sw.Shape(name, is.Rate, max(bucket(is.Rate), is.Bucket), shaperWait); err != nil {
				return err
			}
		}
		if is.Loss > 0 { // netem loses what the stack hands it whole
			if err := sw.Singly(name); err != nil {
				return err
			}
		}
		if err := sw.Lose(name, is.RTT/2, is.Loss, netemPackets, is.Rate > 0); err != nil {
			return err
		}
	}
	return nil
}
