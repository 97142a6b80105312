package wanted

import (
	"maps"
	"slices"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/fabric/yamldoc"
	"github.com/linerate/linerate/internal/bondopt"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/plan"
)

// settings lays what the file says of devices' offloads, rings, channels,
// interrupts, queueing and priority over them.
func (b *builder) settings() {
	for _, e := range b.file.Network.Ethernets {
		for _, name := range b.links(e.ID) {
			for feature, on := range e.Offloads() {
				b.offload(name, feature, on, network("ethernets", e.ID, netplanOffload(feature)))
			}
		}
	}
	for _, id := range netstate.InNaturalOrder(slices.Collect(maps.Keys(b.file.Links))) {
		wanted := b.file.Links[id]
		path := []any{"links", id}
		names := b.links(id)
		if len(b.devices) == 0 {
			if name, ok := b.linkOf(id, path); ok {
				names = []string{name}
			}
		}
		if len(names) == 0 {
			b.leave("the settings of %s: it is not there", id)
		}
		for _, name := range names {
			b.linkSettings(name, wanted, path)
		}
	}
}

func netplanOffload(feature string) string { return fabric.OffloadKey(feature) }

func (b *builder) linkSettings(name string, wanted fabric.LinkSettings, path []any) {
	under := func(more ...any) []any { return append(slices.Clone(path), more...) }
	for _, feature := range slices.Sorted(maps.Keys(wanted.Offloads)) {
		b.offload(name, feature, wanted.Offloads[feature], under("offloads", feature))
	}
	if wanted.RingRx+wanted.RingTx > 0 {
		b.rings(name, wanted, under("rings"))
	}
	if len(wanted.Channels) > 0 {
		b.channels(name, wanted.Channels, under("channels"))
	}
	if len(wanted.Coalescing) > 0 {
		b.coalescing(name, wanted.Coalescing, under("coalesce"))
	}
	if wanted.Qdisc != "" {
		b.qdisc(name, wanted.Qdisc, under("qdisc"))
	}
	for _, o := range bondopt.Ports() {
		if value, said := wanted.Port[o.Name]; said {
			b.portOption(name, o, value, under(o.Key))
		}
	}
}

func (b *builder) offload(name, feature string, on bool, path []any) {
	l, _ := b.want.Link(name)
	have, known := l.Offloads[feature]
	switch {
	case !known && l.Offloads != nil:
		b.wrong(path, "", "%s has no offload %s%s", name, feature, yamldoc.Nearest(feature, slices.Collect(maps.Keys(l.Offloads))))
		return
	case !known:
		b.wrong(path, "", "the offloads of %s could not be read, so that they could not be rolled back", name)
		return
	case have == on:
	case l.Device != nil && slices.Contains(l.Device.Fixed, feature):
		b.wrong(path, "take it out", "%s cannot change its offload %s (fixed)", name, feature)
		return
	}
	b.change(name, func(l *netstate.Link) {
		l.Offloads = maps.Clone(l.Offloads)
		l.Offloads[feature] = on
	})
	b.because(plan.Step{Kind: plan.Offload, Link: name, Key: feature}, b.at.Line(path...), "")
}

// device gives f the link's own copy of what its driver has.
func (b *builder) device(name string, f func(*netstate.Device)) {
	b.change(name, func(l *netstate.Link) {
		var d netstate.Device
		if l.Device != nil {
			d = *l.Device
		}
		f(&d)
		l.Device = &d
	})
}

func (b *builder) rings(name string, wanted fabric.LinkSettings, path []any) {
	l, _ := b.want.Link(name)
	if l.Device == nil || l.Device.Rings == nil {
		b.wrong(path, "take it out", "%s has no descriptor rings that can be set", name)
		return
	}
	rings := *l.Device.Rings
	for _, r := range []struct {
		key    string
		wanted int
		most   int
		into   *int
	}{{"rx", wanted.RingRx, rings.RxMax, &rings.Rx}, {"tx", wanted.RingTx, rings.TxMax, &rings.Tx}} {
		switch {
		case r.wanted == 0:
			continue
		case r.most > 0 && r.wanted > r.most:
			b.wrong(append(slices.Clone(path), r.key), "", "%s has %s rings of %d at most, not %d", name, r.key, r.most, r.wanted)
		}
		*r.into = r.wanted
		b.because(plan.Step{Kind: plan.Ring, Link: name, Key: r.key}, b.at.Line(append(slices.Clone(path), r.key)...), "")
	}
	b.device(name, func(d *netstate.Device) { d.Rings = &rings })
}

func (b *builder) channels(name string, wanted map[string]int, path []any) {
	l, _ := b.want.Link(name)
	if l.Device == nil || l.Device.Channels == nil {
		b.wrong(path, "take it out", "%s has no channels that can be set", name)
		return
	}
	c := *l.Device.Channels
	for _, r := range []struct {
		key  string
		most int
		into *int
	}{{"rx", c.RxMax, &c.Rx}, {"tx", c.TxMax, &c.Tx}, {"combined", c.CombinedMax, &c.Combined}} {
		n, said := wanted[r.key]
		if !said {
			continue
		}
		where := append(slices.Clone(path), r.key)
		if n > r.most {
			b.wrong(where, "", "%s has %d %s channels at most, not %d", name, r.most, r.key, n)
		}
		*r.into = n
		b.because(plan.Step{Kind: plan.Channel, Link: name, Key: r.key}, b.at.Line(where...), "")
	}
	if c.Combined == 0 && (c.Rx == 0 || c.Tx == 0) {
		b.wrong(path, "", "%s must have a channel each way", name)
	}
	b.device(name, func(d *netstate.Device) { d.Channels = &c })
}

func (b *builder) coalescing(name string, wanted map[string]int, path []any) {
	l, _ := b.want.Link(name)
	if l.Device == nil || l.Device.Coalescing == nil {
		b.wrong(path, "take it out", "%s has no interrupt moderation that can be set", name)
		return
	}
	b.device(name, func(d *netstate.Device) {
		d.Coalescing = maps.Clone(d.Coalescing)
		maps.Copy(d.Coalescing, wanted)
	})
	for key := range wanted {
		b.because(plan.Step{Kind: plan.Coalesce, Link: name, Key: key}, b.at.Line(append(slices.Clone(path), key)...), "")
	}
}

// qdisc replaces the root; what the discipline is told nothing of stays as it
// is where it is of that kind already.
func (b *builder) qdisc(name, words string, path []any) {
	q, err := plan.ParseQdisc(words)
	if err != nil {
		b.wrong(path, "", "%v", err)
		return
	}
	b.change(name, func(l *netstate.Link) {
		all := []netstate.Qdisc{q}
		for _, have := range l.Qdiscs {
			switch {
			case have.Parent != "root":
			case have.Kind == q.Kind && sameQdisc(have, q):
				all = slices.Clone(l.Qdiscs)
			}
		}
		l.Qdiscs = all
	})
	b.because(plan.Step{Kind: plan.Qdisc, Link: name}, b.at.Line(path...), "")
}

// sameQdisc reports that a discipline has all that the other says.
func sameQdisc(have, want netstate.Qdisc) bool {
	return (want.Rate == 0 || want.Rate == have.Rate) && (want.Burst == 0 || want.Burst == have.Burst) &&
		(want.Limit == 0 || want.Limit == have.Limit) && (want.LimitPackets == 0 || want.LimitPackets == have.LimitPackets) &&
		want.FlowRate == have.FlowRate
}

// portOption sets what a bond's port is to be in it.
func (b *builder) portOption(name string, o bondopt.Option, value string, path []any) {
	known, there := o.On(b.observed.Kernel)
	switch l, _ := b.want.Link(name); {
	case known && !there && !o.Untold(): // the port would say it
		b.wrong(path, "take it out", "Linux %s has no %s of ports (%s has)", b.observed.Kernel.Release, o.Name, o.Releases())
		return
	case l.Port == nil:
		b.wrong(path, "take it out", "%s is no port of a bond", name)
		return
	}
	b.change(name, func(l *netstate.Link) {
		port := *l.Port
		_ = o.PutPort(&port, value) // the file's reader knows it
		l.Port = &port
	})
	b.because(plan.Step{Kind: plan.PortOption, Link: name, Key: o.Name}, b.at.Line(path...), "")
}
