package snmp

import (
	"context"
	"net/netip"
	"strconv"
	"strings"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/evidence/switchstate"
	"github.com/linerate/linerate/internal/plaintext"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/unit"
)

// Tables of LLDP-MIB (IEEE 802.1AB).
const (
	lldpLocalPort  = "1.0.8802.1.1.2.1.3.7.1." // subtype 2, ID 3, description 4
	lldpRemote     = "1.0.8802.1.1.2.1.4.1.1." // chassis 4 and 5, port 6 and 7, its description 8, system 9
	ifStackStatus  = "1.3.6.1.2.1.31.1.2.1.3"  // by the upper, then the lower interface
	portIsMAC      = 3
	chassisIsMAC   = 4
	chassisAddress = 5
	portAddress    = 4
)

// Describe reads what the agent knows of the switch: ports, channels with their members,
// neighbours. Speeds are of ports that are up.
func (c *Client) Describe(ctx context.Context) (switchstate.Switch, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var s switchstate.Switch
	got, err := c.get(ctx, []string{sysName})
	if err != nil {
		return s, err
	}
	s.Name = textOf(got[sysName])
	t := table{names: map[int]string{}}
	columns := map[string]map[int]any{}
	for _, column := range []string{ifName, ifDescr, ifAlias, ifHighSpeed, ifOperStatus, ifPhysAddress, aggPortSelected} {
		columns[column] = map[int]any{}
		err := c.walk(ctx, column, func(index string, value any) {
			if n, err := strconv.Atoi(index); err == nil {
				columns[column][n] = value
				if column == ifDescr || column == ifName {
					t.add(n, textOf(value))
				}
			}
		})
		if err != nil {
			return s, err
		}
	}
	for _, n := range t.order {
		p := switchstate.Port{Name: t.names[n], Description: textOf(columns[ifAlias][n]), MAC: macOf(columns[ifPhysAddress][n])}
		if up, ok := columns[ifOperStatus][n].(uint64); ok {
			p.Oper = "down"
			if up == 1 {
				p.Oper = "up"
				speed, _ := columns[ifHighSpeed][n].(uint64)
				p.Speed = unit.BitRate(speed) * unit.Mbps
			}
		}
		s.Ports = append(s.Ports, p)
	}
	for _, n := range t.order {
		if of, _ := columns[aggPortSelected][n].(uint64); of != 0 && int(of) != n {
			t.member(&s, int(of), n, switchstate.LACP)
		}
	}
	if len(s.Channels) == 0 {
		if err := c.stacked(ctx, t, &s); err != nil {
			return s, err
		}
	}
	return s, c.neighbours(ctx, &s)
}

// table is the switch's interfaces, by their number.
type table struct {
	names map[int]string
	order []int
}

func (t *table) add(n int, name string) {
	if _, there := t.names[n]; !there && name != "" {
		t.names[n], t.order = name, append(t.order, n)
	}
}

// member puts a port into a channel; what has no name is left out.
func (t *table) member(s *switchstate.Switch, channel, port int, protocol switchstate.Protocol) {
	name, member := t.names[channel], t.names[port]
	if name == "" || member == "" {
		return
	}
	for i := range s.Ports {
		if s.Ports[i].Name == member {
			s.Ports[i].Channel = name
		}
	}
	for i := range s.Channels {
		if s.Channels[i].Name == name {
			s.Channels[i].Members = append(s.Channels[i].Members, switchstate.Member{Port: member})
			return
		}
	}
	s.Channels = append(s.Channels, switchstate.Channel{Port: switchstate.Port{Name: name}, Protocol: protocol, Members: []switchstate.Member{{Port: member}}})
}

// stacked are channels by ifStackTable, of an agent without LACP's: an interface above
// two or more others. How they agree is not said.
func (c *Client) stacked(ctx context.Context, t table, s *switchstate.Switch) error {
	below := map[int][]int{}
	var order []int
	err := c.walk(ctx, ifStackStatus, func(index string, _ any) {
		high, low, _ := strings.Cut(index, ".")
		h, err := strconv.Atoi(high)
		l, lowErr := strconv.Atoi(low)
		if err != nil || lowErr != nil || h == 0 || l == 0 {
			return
		}
		if below[h] == nil {
			order = append(order, h)
		}
		below[h] = append(below[h], l)
	})
	if err != nil {
		return err
	}
	for _, h := range order {
		if len(below[h]) > 1 {
			for _, l := range below[h] {
				t.member(s, h, l, "")
			}
		}
	}
	return nil
}

// neighbours reads who was heard at the ports.
func (c *Client) neighbours(ctx context.Context, s *switchstate.Switch) error {
	local := map[string][3]any{} // by local port number: subtype, ID, description
	err := c.walk(ctx, strings.TrimSuffix(lldpLocalPort, "."), func(index string, value any) {
		column, port, _ := strings.Cut(index, ".")
		if n, err := strconv.Atoi(column); err == nil && n >= 2 && n <= 4 {
			row := local[port]
			row[n-2] = value
			local[port] = row
		}
	})
	if err != nil {
		return err
	}
	remote := map[string]map[int]any{} // by time mark, local port and number
	var order []string
	err = c.walk(ctx, strings.TrimSuffix(lldpRemote, "."), func(index string, value any) {
		column, row, _ := strings.Cut(index, ".")
		n, err := strconv.Atoi(column)
		if err != nil || strings.Count(row, ".") != 2 {
			return
		}
		if remote[row] == nil {
			remote[row], order = map[int]any{}, append(order, row)
		}
		remote[row][n] = value
	})
	if err != nil {
		return err
	}
	for _, row := range order {
		at, v := strings.Split(row, ".")[1], remote[row]
		n := netstate.Neighbor{
			Link: portOf(*s, local[at], at), Chassis: idOf(v[4], v[5], chassisIsMAC, chassisAddress), Port: idOf(v[6], v[7], portIsMAC, portAddress),
			PortDescription: textOf(v[8]), SystemName: textOf(v[9]),
		}
		if kind, _ := v[6].(uint64); kind == portIsMAC {
			n.MAC = macOf(v[7])
		}
		s.Neighbors = append(s.Neighbors, n)
	}
	return nil
}

// portOf is the port that LLDP numbers so: by its ID or its description, which is a
// port's name, else by the number.
func portOf(s switchstate.Switch, local [3]any, number string) string {
	for _, text := range []string{idOf(local[0], local[1], portIsMAC, portAddress), textOf(local[2])} {
		for _, p := range s.Ports {
			if text != "" && (strings.EqualFold(p.Name, text) || !p.MAC.IsZero() && p.MAC.String() == text) {
				return p.Name
			}
		}
	}
	return number
}

// idOf is an ID of LLDP as text, by its kind.
func idOf(kind, value any, isMAC, isAddress uint64) string {
	k, _ := kind.(uint64)
	b, _ := value.([]byte)
	switch {
	case k == isMAC && len(b) == 6:
		return flow.MAC(b).String()
	case k == isAddress && len(b) > 1: // the first is IANA's address family
		if a, ok := netip.AddrFromSlice(b[1:]); ok {
			return a.String()
		}
	}
	return textOf(value)
}

// textOf is a text of the switch's in one line.
func textOf(value any) string {
	b, _ := value.([]byte)
	return strings.TrimSpace(plaintext.Line(strings.TrimRight(string(b), "\x00")))
}

func macOf(value any) flow.MAC {
	if b, _ := value.([]byte); len(b) == 6 {
		return flow.MAC(b)
	}
	return flow.MAC{}
}
