package gnmi

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/evidence/switchcount"
	"github.com/linerate/linerate/internal/evidence/switchstate"
	"github.com/linerate/linerate/internal/plaintext"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/unit"
)

// Paths of the models (openconfig/public, release/models).
const (
	portState = "interfaces/interface[name]/state"
	counters  = "interfaces/interface[name]/state/counters"
	ethernet  = "interfaces/interface[name]/ethernet/state"
	member    = "lacp/interfaces/interface[name]/members/member[interface]/state"
	neighbour = "lldp/interfaces/interface[name]/neighbors/neighbor[id]/state"
	hostname  = "system/state"
)

// told is what one answer says of a port.
type told struct {
	counts    map[string]uint64
	channel   string
	speed     unit.BitRate
	mac       flow.MAC
	oper      string
	words     string // its description
	sends     *bool  // it distributes in its channel
	lacp      bool
	neighbour map[string]netstate.Neighbor
}

// port is a port's entry, made where there is none.
func port(all map[string]*told, name string) *told {
	if all[name] == nil {
		all[name] = &told{counts: make(map[string]uint64), neighbour: make(map[string]netstate.Neighbor)}
	}
	return all[name]
}

// take puts a value where it belongs.
func take(all map[string]*told, at place, value any) {
	text, _ := value.(string)
	text = strings.TrimSpace(plaintext.Line(text))
	switch {
	case len(at.names) < 3:
	case at.names[0] == "lacp":
		if yes, ok := value.(bool); ok && at.last("state") == "distributing" && at.keys["member.interface"] != "" {
			p := port(all, at.keys["member.interface"])
			p.sends, p.lacp = &yes, true
			if p.channel == "" {
				p.channel = at.keys["interface.name"]
			}
		}
	case at.names[0] == "lldp":
		p, id := port(all, at.keys["interface.name"]), at.keys["neighbor.id"]
		n := p.neighbour[id]
		n.Link = at.keys["interface.name"]
		switch at.last("state") {
		case "chassis-id":
			n.Chassis = text
		case "port-id":
			n.Port = text
			if mac, err := flow.ParseMAC(text); err == nil {
				n.MAC = mac
			}
		case "port-description":
			n.PortDescription = text
		case "system-name":
			n.SystemName = text
		}
		p.neighbour[id] = n
	case at.names[0] == "interfaces" && at.keys["interface.name"] != "":
		p := port(all, at.keys["interface.name"])
		where := at.last("state")
		if counter, ok := strings.CutPrefix(where, "counters/"); ok {
			if n, ok := number(value); ok {
				p.counts[counter] = n
			}
			return
		}
		switch where {
		case "oper-status":
			p.oper = map[bool]string{true: "up", false: "down"}[bare(text) == "UP"]
		case "description":
			p.words = text
		case "aggregate-id":
			p.channel = text
		case "port-speed":
			p.speed = speedOf(bare(text))
		case "mac-address":
			p.mac, _ = flow.ParseMAC(text)
		}
	}
}

// speedOf reads an identity of ETHERNET_SPEED, such as SPEED_25GB and SPEED_2500MB; zero
// for another word.
func speedOf(word string) unit.BitRate {
	digits, ok := strings.CutPrefix(word, "SPEED_")
	if !ok {
		return 0
	}
	for suffix, per := range map[string]unit.BitRate{"GB": unit.Gbps, "MB": unit.Mbps} {
		if text, ok := strings.CutSuffix(digits, suffix); ok {
			n, err := strconv.ParseUint(text, 10, 16)
			if err != nil {
				return 0
			}
			return unit.BitRate(n) * per
		}
	}
	return 0
}

// Find looks for ports by the names that a fabric gives them, whatever their case. It says
// which are not there, and which names there are.
func (c *Client) Find(ctx context.Context, names []string) (missing, have []string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := make(map[string]*told)
	if err := c.ask(ctx, func(at place, value any) { take(all, at, value) }, path(portState)); err != nil {
		return nil, nil, err
	}
	for name := range all {
		have = append(have, name)
	}
	slices.Sort(have)
	c.ports = make(map[string]string)
	for _, name := range names {
		i := slices.IndexFunc(have, func(own string) bool { return strings.EqualFold(own, name) })
		if i < 0 {
			missing = append(missing, name)
			continue
		}
		c.ports[name] = have[i]
	}
	return missing, have, nil
}

// maybe asks for what not every switch has.
func (c *Client) maybe(ctx context.Context, all map[string]*told, paths ...string) error {
	for _, p := range paths {
		err := c.ask(ctx, func(at place, value any) { take(all, at, value) }, path(p))
		if err != nil && !errors.Is(err, errAbsent) {
			return err
		}
	}
	return nil
}

// Read reads the counters of the ports that Find found.
func (c *Client) Read(ctx context.Context) (switchcount.Reading, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := switchcount.Reading{Ports: make(map[string]switchcount.Port, len(c.ports))}
	all := make(map[string]*told)
	if err := c.ask(ctx, func(at place, value any) { take(all, at, value) }, path(counters)); err != nil {
		return r, err
	}
	r.At = time.Now()
	if err := c.maybe(ctx, all, ethernet, member); err != nil {
		return r, err
	}
	for name, own := range c.ports {
		said, ok := all[own]
		if !ok {
			continue
		}
		has := func(counters ...string) bool {
			return !slices.ContainsFunc(counters, func(c string) bool { _, ok := said.counts[c]; return !ok })
		}
		n := said.counts
		p := switchcount.Port{
			Width: switchcount.Wide, Since: n["last-clear"], Speed: said.speed, Attached: said.sends,
			Bytes: has("in-octets", "out-octets"), Drops: has("in-discards", "out-discards"), Errors: has("in-errors", "out-errors"),
			Counters: netstate.Counters{
				RxBytes: n["in-octets"], TxBytes: n["out-octets"], RxDropped: n["in-discards"], TxDropped: n["out-discards"],
				RxErrors: n["in-errors"], TxErrors: n["out-errors"],
			},
		}
		if p.Bytes || p.Drops || p.Errors {
			r.Ports[name] = p
		}
	}
	return r, nil
}

// Describe reads what the switch knows of itself: ports, channels with their members,
// neighbours. Speeds are of ports that are up.
func (c *Client) Describe(ctx context.Context) (switchstate.Switch, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var s switchstate.Switch
	all := make(map[string]*told)
	if err := c.ask(ctx, func(at place, value any) { take(all, at, value) }, path(portState)); err != nil {
		return s, err
	}
	err := c.ask(ctx, func(at place, value any) {
		if name, ok := value.(string); ok && at.last("state") == "hostname" {
			s.Name = strings.TrimSpace(plaintext.Line(name))
		}
	}, path(hostname))
	if err != nil && !errors.Is(err, errAbsent) {
		return s, err
	}
	if err := c.maybe(ctx, all, ethernet, member, neighbour); err != nil {
		return s, err
	}
	for _, name := range sorted(all) {
		t := all[name]
		p := switchstate.Port{Name: name, Description: t.words, MAC: t.mac, Channel: t.channel, Oper: t.oper}
		if t.oper == "up" {
			p.Speed = t.speed
		}
		s.Ports = append(s.Ports, p)
		for _, id := range sorted(t.neighbour) {
			s.Neighbors = append(s.Neighbors, t.neighbour[id])
		}
		if t.channel != "" {
			join(&s, t, name)
		}
	}
	return s, nil
}

// join puts a port into its channel.
func join(s *switchstate.Switch, t *told, name string) {
	m := switchstate.Member{Port: name}
	if t.sends != nil {
		m.State = map[bool]switchstate.MemberState{true: switchstate.Bundled, false: switchstate.Out}[*t.sends]
	}
	i := slices.IndexFunc(s.Channels, func(c switchstate.Channel) bool { return c.Name == t.channel })
	if i < 0 {
		i, s.Channels = len(s.Channels), append(s.Channels, switchstate.Channel{Port: switchstate.Port{Name: t.channel}})
	}
	if t.lacp {
		s.Channels[i].Protocol = switchstate.LACP
	}
	s.Channels[i].Members = append(s.Channels[i].Members, m)
}

func sorted[V any](m map[string]V) []string {
	var out []string
	for name := range m {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}
