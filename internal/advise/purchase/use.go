package purchase

import (
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/unit"
)

// rate fills in what many streams carry.
func (b *builder) rate(d *Design) error {
	u, err := b.many(*d)
	if err != nil {
		return err
	}
	d.Uses = []Use{u}
	d.Rate, d.Low, d.High, d.Limit = u.Rate, u.Low, u.High, u.Limit
	d.Reaches = d.Rate >= b.want
	if d.Cost > 0 {
		d.ForMoney = d.Rate / unit.BitRate(d.Cost/1000)
	}
	return nil
}

// many is the first use: one link, or a bond with streams spread by ports.
func (b *builder) many(d Design) (Use, error) {
	if d.Links == 1 {
		return b.fewest(d, Use{How: UseOneLink}, 1)
	}
	return b.fewest(d, Use{How: UseBond, Mode: netstate.LACP.String(), Policy: netstate.Layer34.String()}, d.Links)
}

// mostStreams is how many streams are tried.
const mostStreams = 64

// fewest is the use with the fewest streams that reach the wanted rate, in
// multiples of one for each link; else those beyond which more don't help.
func (b *builder) fewest(d Design, u Use, step int) (Use, error) {
	f, ok := b.made(d, u.How, nil)
	if !ok {
		return u, nil
	}
	for streams := step; streams <= max(mostStreams, step); streams *= 2 {
		p, err := b.predicted(f, streams, true)
		if err != nil {
			return u, err
		}
		if float64(p.Rate) > float64(u.Rate)*(1+alike) {
			u.Streams, u.Rate, u.Low, u.High, u.Limit = streams, p.Rate, p.RateLow, p.RateHigh, p.Limit
		} else {
			return u, nil
		}
		if u.Rate >= b.want {
			return u, nil
		}
	}
	return u, nil
}

// complete adds the other uses and what is left when something fails.
func (b *builder) complete(d *Design) error {
	if d.Links > 1 {
		if err := b.kernel(d); err != nil {
			return err
		}
		for _, u := range []Use{{How: UseStripes, Mode: netstate.BalanceRR.String()}, {How: UseLanes}} {
			f, ok := b.made(*d, u.How, nil)
			if !ok {
				continue
			}
			u.Streams = 1
			if u.How == UseLanes {
				u.Streams = max(d.Links, d.Uses[0].Streams)
			}
			p, err := b.predicted(f, u.Streams, true)
			if err != nil {
				return err
			}
			u.Rate, u.Low, u.High, u.Limit = p.Rate, p.RateLow, p.RateHigh, p.Limit
			d.Uses = append(d.Uses, u)
		}
	}
	return b.left(d)
}

// kernel adds what the first use gives with ports that the kernel chooses.
func (b *builder) kernel(d *Design) error {
	f, ok := b.made(*d, d.Uses[0].How, nil)
	if !ok {
		return nil
	}
	p, err := b.predicted(f, d.Uses[0].Streams, false)
	d.Uses[0].Kernel = p.KernelPorts
	return err
}

// left is the worst case of each kind of failure.
func (b *builder) left(d *Design) error {
	d.Left = Left{Link: d.Rate, Card: d.Rate, Switch: d.Rate}
	worst := func(into *unit.BitRate, gone failed) error {
		f, ok := b.made(*d, d.Uses[0].How, gone)
		if !ok {
			*into = 0
			return nil
		}
		p, err := b.predicted(f, d.Uses[0].Streams, true)
		*into = min(*into, p.Rate)
		return err
	}
	for end := range d.Ends {
		ports, _ := b.portsOf(*d, end)
		seen := map[string]bool{}
		for i, p := range ports {
			// A cable between the hosts takes a port at both ends with it.
			if err := worst(&d.Left.Link, func(e int, q port) bool {
				if b.switches == 0 {
					return q.name == p.name
				}
				return e == end && q.name == p.name
			}); err != nil {
				return err
			}
			if seen[p.card] {
				continue
			}
			seen[p.card] = true
			mine := map[string]bool{}
			for _, q := range ports[i:] {
				mine[q.name] = mine[q.name] || q.card == p.card
			}
			if err := worst(&d.Left.Card, func(e int, q port) bool {
				return mine[q.name] && (e == end || b.switches == 0)
			}); err != nil {
				return err
			}
		}
	}
	for sw := range b.switches {
		if err := worst(&d.Left.Switch, func(_ int, q port) bool { return q.sw == sw }); err != nil {
			return err
		}
	}
	return nil
}
