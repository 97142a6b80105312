// Package teamd reads what teamd's configuration says of a team, and puts the kernel's
// bond in its place that does the same: the bond that a host can be moved to. What of
// the team no bond does is noted line by line.
//
// Don't write teamd's files: nobody moves to a team. Don't say that the host has this
// bond: it runs teamd until somebody moves it.
package teamd

import (
	"slices"
	"strconv"
	"strings"

	"github.com/linerate/linerate/fabric/yamldoc"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/bondopt"
	"github.com/linerate/linerate/render"
	"github.com/linerate/linerate/render/node"
	"github.com/linerate/linerate/render/readback"
	"github.com/linerate/linerate/steer/team"
)

// Team is a team as the files of any format say it.
type Team struct {
	Name string
	// Config is teamd's configuration, an empty mapping where nothing is said; File has it.
	Config *yamldoc.Node
	File   string
	// Ports are those that are said outside of it.
	Ports []Port
}

// Port is one port of a team, with its own part of teamd's configuration, nil for
// none, and the file that has it.
type Port struct {
	Name   string
	Config *yamldoc.Node
	File   string
}

// Moved is the warning that stands above all others.
func Moved(format render.Format, name string) render.Warning {
	return render.Warning{Format: format, Where: name, Key: "team", Why: "teamd makes this team now; what is written is the kernel bond that takes its place. " +
		"A team is not changed into a bond while it runs: stop teamd, or delete its connection, before the bond comes up (docs/formats.md, From a team to a bond)"}
}

// mover puts the bond of one team into a host.
type mover struct {
	*readback.Host
	team Team
	mode string
	// read are the values that were understood or complained of.
	read map[*yamldoc.Node]bool
}

// Move puts the bond into the host that does what the team does, under the team's
// name, and notes what no bond does.
func Move(h *readback.Host, t Team) {
	m := mover{Host: h, team: t, read: map[*yamldoc.Node]bool{}}
	h.Kinds[t.Name] = "bonds"
	d := h.Device(t.Name)
	m.runner()
	m.hash()
	m.options()
	ports := m.ports()
	m.watch(ports)
	m.priorities(ports)
	if mac := m.get("hwaddr"); mac != nil {
		if a, err := flow.ParseMAC(strings.ToLower(mac.Text)); err == nil && !a.IsZero() {
			node.Put(d, "macaddress", node.Quoted(a.String()))
		} else {
			m.miss(t.File, mac, "hwaddr", "is no hardware address")
		}
	}
	for _, key := range []string{"device", "debug_level", "runner.tx_balancer.balancing_interval"} {
		m.get(key) // names, and parts of what is complained of as a whole
	}
	m.rest(t.File, "", t.Config)
	for _, p := range ports {
		m.rest(p.File, "ports."+p.Name, p.Config)
	}
}

// get is the scalar at a path of keys with dots between, nil for none.
func (m *mover) get(path string) *yamldoc.Node { return m.below(m.team.Config, path) }

func (m *mover) below(n *yamldoc.Node, path string) *yamldoc.Node {
	for key := range strings.SplitSeq(path, ".") {
		n = n.Get(key)
	}
	if n == nil || n.Kind != yamldoc.ScalarNode {
		return nil
	}
	m.read[n] = true
	return n
}

// miss notes what has no place in the bond, or another than it had.
func (m *mover) miss(file string, n *yamldoc.Node, key, why string) {
	u := render.Unread{Path: file, Line: 1, Key: key, Why: why}
	if n != nil {
		m.read[n] = true
		u.Line, u.Column, u.Value = max(n.Line, 1), n.Column, n.Text
	}
	m.Unread = append(m.Unread, u)
}

// rest notes what nobody asked for.
func (m *mover) rest(file, key string, n *yamldoc.Node) {
	switch {
	case n == nil || m.read[n] || n.Kind == yamldoc.NullNode:
	case n.Kind == yamldoc.ScalarNode:
		m.miss(file, n, key, "a bond has nothing like it")
	default:
		m.read[n] = true
		for _, p := range n.Pairs {
			m.rest(file, strings.TrimPrefix(key+"."+p.Key, "."), p.Value)
		}
		for _, item := range n.Items {
			m.rest(file, key, item)
		}
	}
}

// Words of the bonding driver that rules here turn on; all else is bondopt's Teamd.
const (
	modeRR     = "balance-rr"
	modeBackup = "active-backup"
	oneByOne   = "packets_per_slave"
	hashPolicy = "xmit_hash_policy"
	reselect   = "primary_reselect"
)

// runner is the bond's mode. What teamd calls random is balance-rr with
// packets_per_slave 0 (bond_rr_gen_slave_id, drivers/net/bonding/bond_main.c).
func (m *mover) runner() {
	name, word := m.get("runner.name"), team.RoundRobin.String()
	if name != nil {
		word = name.Text
	}
	m.mode = modeRR
	mode, _ := bondopt.Named(bondopt.Teamd, "runner.name")
	said, _ := mode.Saying(bondopt.Teamd)
	i := slices.Index(said.Words, word)
	switch {
	case i >= 0 && word != "":
		m.mode = mode.Words[i]
	case word != team.Random.String():
		m.miss(m.team.File, name, "runner.name", "teamd has no such runner: balance-rr is put in its place")
	}
	m.Option(m.team.Name, mode.Name, m.mode)
	if word == team.Random.String() {
		m.Option(m.team.Name, oneByOne, "0")
	}
}

// options are those of the runner and of the team that the bond has too.
func (m *mover) options() {
	for _, o := range bondopt.Options() {
		said, ok := o.Saying(bondopt.Teamd)
		if !ok || !strings.Contains(said.Name, ".") || said.Name == "runner.name" {
			continue // what a link watch or a port says
		}
		v := m.get(said.Name)
		if v == nil || v.Text == "0" && o.Min == 0 && !said.In(m.mode) {
			continue
		}
		if !said.In(m.mode) {
			m.miss(m.team.File, v, said.Name, "a bond in mode "+m.mode+" has nothing like it")
			continue
		}
		value := v.Text
		if said.Words != nil {
			value = strconv.Itoa(slices.Index(said.Words, v.Text))
		}
		word, err := o.Word(value)
		switch {
		case err != nil && said.Words != nil && said.Name == "runner.agg_select_policy":
			m.miss(m.team.File, v, said.Name, "no "+o.Name+" of a bond chooses so: stable keeps the aggregator of the most bandwidth until all its ports are down")
		case err != nil:
			m.miss(m.team.File, v, said.Name, "is nothing that "+o.Name+" takes")
		case word != o.Default && !(said.Name == "runner.min_ports" && word == "1"): // 0 and 1 are the same to a bond
			m.Option(m.team.Name, o.Name, word)
		}
	}
	if v := m.get("mcast_rejoin.interval"); v != nil && v.Text != "0" {
		m.miss(m.team.File, v, "mcast_rejoin.interval", "a bond repeats its IGMP reports every 200 ms")
	}
	if v := m.get("runner.tx_balancer.name"); v != nil {
		m.miss(m.team.File, v, "runner.tx_balancer", "teamd moves flows between ports by load; in the bond each stays on the port of its hash")
	}
}

// mostPorts and mostWatches bound the work that a file can ask for; real teams have few.
const (
	mostPorts   = 256
	mostWatches = 64
)

// ports puts the ports in, those of the configuration first, and returns them.
func (m *mover) ports() []Port {
	var all []Port
	for _, p := range node.Pairs(m.team.Config.Get("ports")) {
		all = append(all, Port{p.Key, p.Value, m.team.File})
	}
	all = all[:min(len(all), 4*mostPorts)]
	for _, p := range m.team.Ports[:min(len(m.team.Ports), 4*mostPorts)] {
		i := slices.IndexFunc(all, func(have Port) bool { return have.Name == p.Name })
		switch {
		case i < 0:
			all = append(all, p)
		case p.Config != nil:
			all[i] = p
		}
	}
	all = slices.DeleteFunc(all, func(p Port) bool {
		bad := !readback.LinkName(p.Name) || p.Name == m.team.Name
		if bad {
			m.miss(p.File, p.Config, "ports."+p.Name, "is no interface's name")
		}
		return bad
	})
	if len(all) > mostPorts {
		m.miss(all[mostPorts].File, all[mostPorts].Config, "ports", "more than "+strconv.Itoa(mostPorts)+" ports: the rest is left out")
		all = all[:mostPorts]
	}
	for _, p := range all {
		m.Device(p.Name)
		if list := m.Device(m.team.Name).Get("interfaces"); list == nil || !node.Contains(list.Items, node.Plain(p.Name)) {
			node.Push(m.Device(m.team.Name), "interfaces", node.Plain(p.Name))
		}
		if o, ok := bondopt.FindPort(bondopt.QueueID); ok {
			m.portNumber(p, o)
		}
		if v := m.below(p.Config, "lacp_prio"); v != nil && v.Text != "255" {
			m.miss(p.File, v, "ports."+p.Name+".lacp_prio", "a bond's port has one from Linux 6.18 (actor_port_prio), and the aggregator is not chosen by it")
		}
		if v := m.below(p.Config, "lacp_key"); v != nil && v.Text != "0" {
			m.miss(p.File, v, "ports."+p.Name+".lacp_key", "a bond makes the keys of its ports from their speed and duplex")
		}
	}
	return all
}

// portNumber gives a port the option that teamd's key of it stands for.
func (m *mover) portNumber(p Port, o bondopt.Option) {
	said, _ := o.Saying(bondopt.Teamd)
	v := m.below(p.Config, said.Name)
	if v == nil {
		return
	}
	word, err := o.Word(v.Text)
	switch {
	case err != nil:
		m.miss(p.File, v, "ports."+p.Name+"."+said.Name, "is no number that a bond's port takes")
	case word != o.Default:
		node.Put(m.Setting("links", p.Name), o.Key, node.Plain(word))
	}
}

// priorities say which port of an active-backup bond carries: teamd's prio and sticky
// (ab_link_watch_handler, teamd_runner_activebackup.c).
func (m *mover) priorities(ports []Port) {
	if m.mode != modeBackup || len(ports) == 0 {
		return
	}
	prio, sticky := make([]int, len(ports)), make([]bool, len(ports))
	for i, p := range ports {
		if v := m.below(p.Config, "prio"); v != nil {
			n, err := strconv.Atoi(v.Text)
			if prio[i] = n; err != nil {
				m.miss(p.File, v, "ports."+p.Name+".prio", "is no number")
			}
		}
		if v := m.below(p.Config, "sticky"); v != nil {
			sticky[i] = v.Text == "true"
		}
	}
	best, worst := slices.Max(prio), slices.Min(prio)
	if best == worst {
		return // the bond stays with the port that it has, as teamd does
	}
	first := slices.Index(prio, best)
	alone := !slices.Contains(prio[first+1:], best)
	if alone {
		m.Option(m.team.Name, bondopt.Primary, ports[first].Name)
	}
	m.among(ports, prio, first, alone)
	if name := m.get("runner.name"); name != nil {
		m.miss(m.team.File, name, "runner.name", "teamd takes the fastest port that is up, whatever its prio; the bond goes by its primary and the ports' prio alone")
	}
	var stay, leave []string
	for i, p := range ports {
		switch {
		case i == first && alone:
		case sticky[i]:
			stay = append(stay, p.Name)
		default:
			leave = append(leave, p.Name)
		}
	}
	if len(stay) == 0 || !alone {
		return
	}
	m.Option(m.team.Name, reselect, "failure")
	if len(leave) > 0 {
		m.miss(m.team.File, m.team.Config, "ports", "teamd leaves "+strings.Join(leave, ", ")+" when "+ports[first].Name+" comes back, and not "+
			strings.Join(stay, ", ")+" (sticky); the bond stays with whichever is active (primary_reselect failure)")
	}
}

// among orders the ports that no primary orders: a port's own prio, from Linux 5.19.
func (m *mover) among(ports []Port, prio []int, first int, alone bool) {
	others := slices.Clone(prio)
	if alone {
		others = slices.Delete(others, first, first+1)
	}
	if slices.Max(others) == slices.Min(others) && alone {
		return
	}
	for _, o := range bondopt.Ports() {
		if said, ok := o.Saying(bondopt.Teamd); ok && said.Name == "prio" {
			for _, p := range ports {
				m.portNumber(p, o)
			}
		}
	}
}

func unreadAt(file string, n *yamldoc.Node, key, why string) render.Unread {
	u := render.Unread{Path: file, Line: 1, Key: key, Why: why}
	if n != nil {
		u.Line, u.Column = max(n.Line, 1), n.Column
	}
	return u
}
