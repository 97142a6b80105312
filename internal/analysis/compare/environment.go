package compare

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// Difference is something that is not the same on both sides: a possible
// reason for a result.
type Difference struct {
	Host string `json:"host,omitempty"` // "" for the run as a whole
	// What is different: "kernel", "eth0 mtu", "sysctl net.ipv4.tcp_rmem".
	What   string `json:"what"`
	Before string `json:"before"`
	After  string `json:"after"`
}

// Environments are what differs between where two runs were: kernels, links'
// MTU, speed, policy, shapers, sysctls. A host or a value that only one of
// them knows is no difference.
func Environments(before, after record.Environment) []Difference {
	out := []Difference{}
	if before.BackEnd != after.BackEnd {
		out = append(out, Difference{What: "lab", Before: word(before.BackEnd), After: word(after.BackEnd)})
	}
	for _, b := range before.Hosts {
		i := slices.IndexFunc(after.Hosts, func(h netstate.Host) bool { return h.Name == b.Name })
		if i < 0 {
			continue
		}
		out = append(out, hosts(b, after.Hosts[i])...)
	}
	return out
}

func word(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

// differences collects what differs of one host.
type differences struct {
	host string
	out  []Difference
}

// add notes a value that both sides know and that differs.
func (d *differences) add(what, before, after string) {
	if before != after && before != "" && after != "" {
		d.out = append(d.out, Difference{d.host, what, before, after})
	}
}

// plain is a value's text; "" for its zero, which is unknown.
func plain[T comparable](v T) string {
	var unknown T
	if v == unknown {
		return ""
	}
	return fmt.Sprint(v)
}

func hosts(b, a netstate.Host) []Difference {
	d := differences{host: b.Name}
	d.add("kernel", b.Kernel.Release, a.Kernel.Release)
	d.add("cores", plain(b.CPU.Cores), plain(a.CPU.Cores))
	d.add("processor", b.CPU.Model, a.CPU.Model)
	for _, link := range b.Links {
		if other, ok := a.Link(link.Name); ok {
			d.links(link, other)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(b.Sysctls)) {
		if other, ok := a.Sysctls[key]; ok {
			d.add("sysctl "+key, b.Sysctls[key].Value, other.Value)
		}
	}
	return d.out
}

func (d *differences) links(b, a netstate.Link) {
	name := b.Name + " "
	d.add(name+"mtu", plain(b.MTU), plain(a.MTU))
	d.add(name+"speed", plain(b.Speed), plain(a.Speed))
	d.add(name+"driver", b.Driver, a.Driver)
	d.add(name+"state", state(b), state(a))
	d.add(name+"queueing", queueing(b), queueing(a))
	if b.Bond != nil && a.Bond != nil {
		if !b.Bond.Mode.IsZero() && !a.Bond.Mode.IsZero() {
			d.add(name+"mode", fmt.Sprint(b.Bond.Mode), fmt.Sprint(a.Bond.Mode))
		}
		if !b.Bond.HashPolicy.IsZero() && !a.Bond.HashPolicy.IsZero() {
			d.add(name+"hash policy", fmt.Sprint(b.Bond.HashPolicy), fmt.Sprint(a.Bond.HashPolicy))
		}
		d.add(name+"ports", strings.Join(b.Bond.Ports, " "), strings.Join(a.Bond.Ports, " "))
	}
	for _, key := range slices.Sorted(maps.Keys(b.Offloads)) {
		if other, ok := a.Offloads[key]; ok {
			d.add(name+key, unit.OnOff(b.Offloads[key]), unit.OnOff(other))
		}
	}
}

func state(l netstate.Link) string {
	switch {
	case !l.Up:
		return "down"
	case !l.Carrier:
		return "no carrier"
	}
	return "up"
}

// queueing is a link's disciplines with the rates they shape to.
func queueing(l netstate.Link) string {
	var words []string
	for _, q := range l.Qdiscs {
		text := q.Kind
		if q.Rate > 0 {
			text += " " + q.Rate.String()
		}
		if q.Delay > 0 {
			text += " " + q.Delay.String()
		}
		words = append(words, text)
	}
	return strings.Join(words, ", ")
}
