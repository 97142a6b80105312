// Package onswitch judges what the switches between two hosts counted over a trial: which
// member of a channel carried what, where a switch dropped or damaged frames. It says what
// the counters show, and nothing of a switch that was not read.
package onswitch

import (
	"fmt"
	"strings"

	"github.com/linerate/linerate/diagnose"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// Member is a port by which a switch sends towards a host.
type Member struct {
	record.PortUse
	Share float64 // of what its group sent
}

// Group is the ports that a switch may choose among towards a host: a channel, or one
// port.
type Group struct {
	Switch, Source string
	Channel        string // "" one port
	To             string // what it leads to: a host or a switch
	ToHost         bool
	Window         bool // bytes are the window's
	Members        []Member
	Bytes          uint64 // that they sent
	Rate           unit.BitRate
}

// Shares by which a member is full, or idle. A switch counts whole frames without what
// lies between them on the wire, and without the window its bytes have a warm-up's in them.
const (
	fullInWindow = 0.85
	fullOver     = 0.70
	idle         = 0.20
	// lone is the share of a group's bytes from which on one member carried them all,
	// and stray what the others have by their own chatter.
	lone, stray = 0.90, 0.10
	// leastPart is how much of what the trial carried a group must have sent, for it to be
	// on its way.
	leastPart = 0.5
)

// Towards are the groups on the way from a host to another, nearest to the sender first.
// Those that sent less than half of the rate are left out: the flows went another way.
func Towards(t record.Trial, from, to string, rate unit.BitRate) []Group {
	away, back := distances(t, from), distances(t, to)
	var out []Group
	for _, s := range t.Switches {
		far, known := back[s.Switch]
		if !known {
			continue
		}
		near, behind := away[s.Switch]
		if total, joined := back[from]; behind && joined && near+far != total {
			continue // beside the way
		}
		at := map[string]int{}
		var groups []Group
		for _, p := range s.Ports {
			next := p.Switch
			if p.Host == to {
				next = to
			}
			if d, ok := back[next]; next == "" || !ok || d != far-1 || p.TxBytes == nil {
				continue
			}
			key := p.Channel
			if key == "" {
				key = "port " + p.Port
			}
			i, there := at[key]
			if !there {
				i = len(groups)
				at[key] = i
				groups = append(groups, Group{Switch: s.Switch, Source: s.Source, Channel: p.Channel, To: next, ToHost: next == to, Window: s.Window})
			}
			groups[i].Members = append(groups[i].Members, Member{PortUse: p})
			groups[i].Bytes += *p.TxBytes
			groups[i].Rate += p.Tx
		}
		for _, g := range groups {
			if float64(g.Rate) >= leastPart*float64(rate) && g.Bytes > 0 {
				for i := range g.Members {
					g.Members[i].Share = float64(*g.Members[i].TxBytes) / float64(g.Bytes)
				}
				out = append(out, g)
			}
		}
	}
	order(out, back)
	return out
}

// order has the groups farthest from the receiver first.
func order(groups []Group, back map[string]int) {
	for i := range groups {
		for k := i; k > 0 && back[groups[k].Switch] > back[groups[k-1].Switch]; k-- {
			groups[k], groups[k-1] = groups[k-1], groups[k]
		}
	}
}

// distances are how many cables lie between a host and what was described, by the ports of
// the switches that were asked.
func distances(t record.Trial, host string) map[string]int {
	next := map[string][]string{}
	join := func(a, b string) { next[a], next[b] = append(next[a], b), append(next[b], a) }
	hosts := map[string]bool{t.From: true, t.To: true}
	for _, s := range t.Switches {
		for _, p := range s.Ports {
			switch {
			case hosts[p.Host]:
				join(s.Switch, p.Host)
			case p.Switch != "":
				join(s.Switch, p.Switch)
			}
		}
	}
	out := map[string]int{host: 0}
	for queue := []string{host}; len(queue) > 0; queue = queue[1:] {
		at := queue[0]
		if at != host && hosts[at] {
			continue // nothing goes through a host
		}
		for _, n := range next[at] {
			if _, seen := out[n]; !seen {
				out[n] = out[at] + 1
				queue = append(queue, n)
			}
		}
	}
	return out
}

// Load is how full a member is; false where its speed is not known.
func (g Group) Load(m Member) (share float64, ok bool) {
	return diagnose.Fraction(m.Tx, m.Speed), m.Speed > 0
}

// Full reports a member that carried what it can.
func (g Group) Full(m Member) bool {
	least := fullOver
	if g.Window {
		least = fullInWindow
	}
	load, ok := g.Load(m)
	return ok && load >= least
}

// OneSided are the members of a group of which some were full while others idled, or one
// carried everything; false where they shared.
func (g Group) OneSided() (full, unused []Member, ok bool) {
	if len(g.Members) < 2 {
		return nil, nil, false
	}
	for _, m := range g.Members {
		load, known := g.Load(m)
		switch {
		case m.Share >= lone, g.Full(m):
			full = append(full, m)
		case m.Share <= stray || known && load <= idle:
			unused = append(unused, m)
		}
	}
	return full, unused, len(full) > 0 && len(unused) > 0
}

// AllFull reports that every member carried what it can.
func (g Group) AllFull() bool {
	for _, m := range g.Members {
		if !g.Full(m) {
			return false
		}
	}
	return len(g.Members) > 0
}

// Name is the group in words.
func (g Group) Name() string {
	if g.Channel == "" {
		return fmt.Sprintf("port %s of switch %s", g.Members[0].Port, g.Switch)
	}
	return fmt.Sprintf("channel %s of switch %s", g.short(), g.Switch)
}

// short is the channel's name at its switch.
func (g Group) short() string { return strings.TrimPrefix(g.Channel, g.Switch+" ") }

// sourceOf is where a switch's counters were read.
func sourceOf(source string) string {
	switch source {
	case "snmp":
		return "SNMP: octets, discards and errors of IF-MIB"
	case "gnmi":
		return "gNMI: octets, discards and errors of openconfig-interfaces"
	case "ssh":
		return "the switch's own show commands, over ssh"
	}
	return source
}

// Evidence is what each member of a group sent, and what it dropped.
func (g Group) Evidence() []record.Evidence {
	var out []record.Evidence
	for _, m := range g.Members {
		value := fmt.Sprintf("%v, %s of what %s sent", m.Tx, diagnose.Percent(m.Share), g.Name())
		if load, ok := g.Load(m); ok {
			value += fmt.Sprintf("; %s of its %v", diagnose.Percent(load), m.Speed)
		}
		if m.TxDrops != nil && *m.TxDrops > 0 {
			value += fmt.Sprintf("; %d dropped", *m.TxDrops)
		}
		out = append(out, record.Evidence{What: fmt.Sprintf("port %s of switch %s to %s", m.Port, g.Switch, g.To), Value: value, Source: sourceOf(g.Source)})
	}
	return out
}

// ports are the names of members.
func ports(members []Member) string {
	var names []string
	for _, m := range members {
		names = append(names, m.Port)
	}
	return strings.Join(names, ", ")
}
