package onswitch

import (
	"fmt"

	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// Loss is frames that a switch dropped or found damaged at a port.
type Loss struct {
	Switch, Port, Source string
	Count                uint64
	Damaged              bool // on the cable into the port
	Peer                 string
}

// Losses are where the switches on the way lost frames towards a host: dropped as
// they were sent, damaged as they arrived. The most first.
func Losses(t record.Trial, from, to string) []Loss {
	away, back := distances(t, from), distances(t, to)
	total, joined := back[from]
	var out []Loss
	for _, s := range t.Switches {
		far, known := back[s.Switch]
		near, behind := away[s.Switch]
		if !known || joined && behind && near+far != total {
			continue
		}
		for _, p := range s.Ports {
			next := p.Switch
			if p.Host != "" {
				next = p.Host
			}
			d, ok := back[next]
			if next == "" || !ok {
				continue
			}
			add := func(n *uint64, damaged bool) {
				if n != nil && *n > 0 {
					out = append(out, Loss{Switch: s.Switch, Port: p.Port, Source: s.Source, Count: *n, Damaged: damaged, Peer: next})
				}
			}
			if d == far-1 {
				add(p.TxDrops, false)
			}
			if d == far+1 || next == from {
				add(p.RxErrors, true)
				add(p.RxDrops, false)
			}
		}
	}
	for i := range out {
		for k := i; k > 0 && out[k].Count > out[k-1].Count; k-- {
			out[k], out[k-1] = out[k-1], out[k]
		}
	}
	return out
}

// Words say where a loss happened.
func (l Loss) Words() string {
	if l.Damaged {
		return fmt.Sprintf("port %s of switch %s got %s damaged from %s", l.Port, l.Switch, unit.Counted(l.Count, "frame"), l.Peer)
	}
	return fmt.Sprintf("port %s of switch %s dropped %s", l.Port, l.Switch, unit.Counted(l.Count, "frame"))
}

// Remedy is what to do against it.
func (l Loss) Remedy() string {
	if l.Damaged {
		return fmt.Sprintf("replace the cable or optic between %s and port %s of switch %s: frames arrive damaged", l.Peer, l.Port, l.Switch)
	}
	return fmt.Sprintf("port %s of switch %s drops: give it more room (buffers, a faster or another port), or send less through it", l.Port, l.Switch)
}

// Evidence is a loss as one.
func (l Loss) Evidence() record.Evidence {
	return record.Evidence{What: l.Words(), Value: fmt.Sprintf("+%d", l.Count), Source: sourceOf(l.Source)}
}
