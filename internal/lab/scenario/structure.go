package scenario

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict/whatif"
)

var (
	errNoBond = errors.New("no host has a bond")
	errSpread = errors.New("the file says which ports are in which switch")
	errGlob   = errors.New("a bond's ports have no names of their own")
)

// Rebuilds reports a step that changes what is joined to what: a lab is built
// anew for it.
func (s Step) Rebuilds() bool {
	for key := range parts(s.With) {
		if among(key, structureKeys()) {
			return true
		}
	}
	return len(s.Ports) > 0
}

// After is Changed, and the ports of the step's bonds.
func (s Scenario) After(step Step) (Scenario, string, error) {
	if len(step.Ports) > 0 {
		err := eachBond(&s.Fabric, step.Hosts, func(_ *fabric.Host, b *fabric.Bond) error {
			b.Interfaces = slices.Clone(step.Ports)
			return nil
		})
		if err != nil {
			return Scenario{}, "", fmt.Errorf("ports: %w", err)
		}
	}
	return s.Changed(step.With)
}

// BondPorts are the ports of the hosts' bonds, each HOST.LINK, sorted; nil of hosts
// without one.
func BondPorts(hosts []fabric.Host) (ports []string) {
	for _, h := range hosts {
		for _, b := range h.Network.Bonds {
			for _, link := range b.Interfaces {
				ports = append(ports, Port{h.Name, link}.String())
			}
		}
	}
	slices.Sort(ports)
	return ports
}

// changeStructure does one of structureKeys.
func changeStructure(s *Scenario, key, value string) error {
	switch key {
	case "mode":
		var mode netstate.BondMode
		if err := mode.UnmarshalText([]byte(value)); err != nil {
			return err
		}
		return eachBond(&s.Fabric, nil, func(_ *fabric.Host, b *fabric.Bond) error {
			b.Options.Mode, b.Options.Options = mode, maps.Clone(b.Options.Options)
			for _, name := range b.Set {
				if !fabric.OptionInMode(name, mode) {
					fabric.SetOption(&b.Options, name, fabric.InitialOption(name))
				}
			}
			b.Set = slices.DeleteFunc(slices.Clone(b.Set), func(name string) bool { return name == "mode" || !fabric.OptionInMode(name, mode) })
			b.Set = append([]string{"mode"}, b.Set...)
			return nil
		})
	case "links":
		n, err := strconv.Atoi(value)
		if err != nil {
			return fmt.Errorf("read number: %w", whatif.ErrChange)
		}
		return eachBond(&s.Fabric, nil, func(h *fabric.Host, b *fabric.Bond) error {
			return bondLinks(h, b, n, len(s.Switches) > 0)
		})
	}
	return changeNetwork(&s.Fabric, key, value) // of paths
}

// eachBond changes copies of the hosts' bonds; nil hosts are all. There must be
// one.
func eachBond(f *fabric.Fabric, hosts []string, change func(*fabric.Host, *fabric.Bond) error) error {
	found := false
	f.Hosts = slices.Clone(f.Hosts)
	for i := range f.Hosts {
		h := &f.Hosts[i]
		if len(hosts) > 0 && !slices.Contains(hosts, h.Name) {
			continue
		}
		h.Network.Bonds = slices.Clone(h.Network.Bonds)
		for j := range h.Network.Bonds {
			found = true
			if err := change(h, &h.Network.Bonds[j]); err != nil {
				return fmt.Errorf("%s of %s: %w", h.Network.Bonds[j].ID, h.Name, err)
			}
		}
	}
	if !found {
		return errNoBond
	}
	return nil
}

// bondLinks gives a bond n ports: those that are too many lie idle, last first;
// those that lack are idle ones like its last, or made like it, unless the ports
// are spread over switches by name.
func bondLinks(h *fabric.Host, b *fabric.Bond, n int, spread bool) error {
	if n <= len(b.Interfaces) {
		b.Interfaces = slices.Clone(b.Interfaces[:n])
		return nil
	}
	h.Network.Ethernets = slices.Clone(h.Network.Ethernets)
	h.Hardware.Links = maps.Clone(h.Hardware.Links)
	b.Interfaces = slices.Clone(b.Interfaces)
	taken := func(name string) bool {
		return slices.ContainsFunc(h.Network.Devices(), func(d fabric.Device) bool { return d.ID == name })
	}
	for len(b.Interfaces) < n {
		if len(b.Interfaces) == 0 {
			return errGlob
		}
		last := b.Interfaces[len(b.Interfaces)-1]
		at := slices.IndexFunc(h.Network.Ethernets, func(e fabric.Ethernet) bool { return e.ID == last && e.Match == nil })
		hardware, known := h.Hardware.Links[last]
		if at < 0 || !known {
			return errGlob
		}
		if idle := idlePort(*h, hardware); idle != "" {
			b.Interfaces = append(b.Interfaces, idle)
			continue
		}
		if spread {
			return errSpread
		}
		stem := strings.TrimRight(last, "0123456789")
		name := ""
		for i := 0; name == "" || taken(name); i++ {
			name = stem + strconv.Itoa(i)
		}
		port := fabric.Ethernet{Device: fabric.Device{ID: name, MTU: h.Network.Ethernets[at].MTU}}
		h.Network.Ethernets = append(h.Network.Ethernets, port)
		h.Hardware.Links[name] = hardware
		b.Interfaces = append(b.Interfaces, name)
	}
	return nil
}

// idlePort is an ethernet of the hardware's speed that nothing uses; "" none.
func idlePort(h fabric.Host, like fabric.HardwareLink) string {
	used := map[string]bool{}
	for _, b := range h.Network.Bonds {
		for _, name := range b.Interfaces {
			used[name] = true
		}
	}
	for _, b := range h.Network.Bridges {
		for _, name := range b.Interfaces {
			used[name] = true
		}
	}
	for _, v := range h.Network.VLANs {
		used[v.Link] = true
	}
	for _, e := range h.Network.Ethernets {
		if !used[e.ID] && e.Match == nil && len(e.Addresses) == 0 && h.Hardware.Links[e.ID].Speed == like.Speed {
			return e.ID
		}
	}
	return ""
}

// changes tries the steps' changes one after the other, so that what has no
// place in the network is said before a lab is built.
func (c checker) changes() {
	now := *c.s
	for i, step := range c.s.Steps {
		if CheckChange(step.With) != nil {
			return // said of the step itself
		}
		for j, port := range step.Ports {
			for _, h := range c.s.Fabric.Hosts {
				known := slices.ContainsFunc(h.Network.Ethernets, func(e fabric.Ethernet) bool { return e.ID == port })
				if (len(step.Hosts) == 0 || slices.Contains(step.Hosts, h.Name)) && len(h.Network.Bonds) > 0 && !known {
					c.wrong(fmt.Sprintf("ports: %s is no port of %s", port, h.Name), "name ethernets of the hosts", "steps", i, "ports", j)
				}
			}
		}
		next, _, err := now.After(step)
		if err != nil {
			at := "with"
			if step.With == "" {
				at = "ports"
			}
			c.wrong(err.Error(), "", "steps", i, at)
			return
		}
		now = next
	}
}
