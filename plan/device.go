package plan

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/unit"
)

// software are the offloads that the stack does itself; a device may restart
// its queues for the others.
var software = [...]string{"gro", "gso", "tso", "sg", "tx", "rx-gro-list", "rx-udp-gro-forwarding", "tx-nocache-copy"}

// ownOffloads are those that a bond or VLAN has for itself; its others follow the
// links below it (netdev_increment_features, vlan_dev_fix_features).
var ownOffloads = [...]string{"gro", "rx-gro-list", "rx-udp-gro-forwarding"}

// follows reports an offload that a link has from those below it. A bond cuts
// large sends by itself where no port does (bond_fix_features,
// netdev_add_tso_features).
func follows(l netstate.Link, key string) bool {
	return (l.Bond != nil || l.VLAN != nil) && !slices.Contains(ownOffloads[:], key) && (l.Bond == nil || key != "tso")
}

// below are the offloads that others need: on before them, off after
// (netdev_fix_features).
var below = [...]string{"tx", "rx", "sg"}

// isSwitch reports the names of `ethtool -C` that are on or off.
func isSwitch(key string) bool {
	return strings.HasPrefix(key, "adaptive-") || strings.HasPrefix(key, "cqe-mode")
}

// devices sets what drivers keep, one link after the other, and last the
// queueing discipline, which new channels would replace.
func (b *builder) devices() {
	for _, want := range b.want.Links {
		if _, ok := b.now.Link(want.Name); !ok {
			continue
		}
		b.offloads(want)
		if want.Device != nil {
			b.numbers(want)
			b.coalescing(want)
		}
		b.qdisc(want)
	}
}

// offloads are not part of a link that is deleted: a bond, VLAN or dummy has
// those that the kernel gives it and the links below it have.
func (b *builder) offloads(want netstate.Link) {
	if b.whole {
		return
	}
	keys := slices.Sorted(maps.Keys(want.Offloads))
	rank := func(key string) int {
		if i := slices.Index(below[:], key); i >= 0 != want.Offloads[key] {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(keys, func(x, y string) int { return rank(x) - rank(y) })
	have, _ := b.now.Link(want.Name)
	for _, key := range keys {
		if follows(want, key) {
			continue
		}
		is, known := have.Offloads[key]
		s := Step{Kind: Offload, Link: want.Name, Key: key, New: unit.OnOff(want.Offloads[key]), Disruption: Online}
		switch {
		case known && is == want.Offloads[key]:
			continue
		case b.makes(want.Name):
			// What a link has that is not there yet only its making tells, and
			// undo takes it away again.
			l, _ := b.now.Link(want.Name)
			l = l.Clone()
			if l.Offloads == nil {
				l.Offloads = make(map[string]bool)
			}
			l.Offloads[key] = !want.Offloads[key]
			b.now.SetLink(l)
		case !known:
			b.problem(s.Target(), "%s has no such offload, or it was not observed", want.Name)
			continue
		case have.Device != nil && slices.Contains(have.Device.Fixed, key):
			b.problem(s.Target(), "it is fixed: the driver does not let it be changed")
			continue
		}
		if kindOf(want) == "" && !slices.Contains(software[:], key) {
			s.Disruption, s.Ready = b.flap(want.Name), []string{want.Name}
		}
		b.do(s)
	}
}

// flap is what a restart of a link's queues is: for a port its bond has others.
func (b *builder) flap(link string) Disruption {
	if l, _ := b.now.Link(link); l.Master != "" {
		return PortFlap
	}
	return LinkDown
}

// numbers sets rings and channels; zero leaves one as it is.
func (b *builder) numbers(want netstate.Link) {
	type number struct {
		kind      Kind
		key       string
		want, max int
	}
	have, _ := b.now.Link(want.Name)
	var all []number
	if r := want.Device.Rings; r != nil {
		var most netstate.Rings
		if have.Device != nil && have.Device.Rings != nil {
			most = *have.Device.Rings
		}
		all = append(all, number{Ring, "rx", r.Rx, most.RxMax}, number{Ring, "tx", r.Tx, most.TxMax})
	}
	if c := want.Device.Channels; c != nil {
		var most netstate.Channels
		if have.Device != nil && have.Device.Channels != nil {
			most = *have.Device.Channels
		}
		all = append(all, number{Channel, "rx", c.Rx, most.RxMax}, number{Channel, "tx", c.Tx, most.TxMax},
			number{Channel, "combined", c.Combined, most.CombinedMax})
	}
	for _, n := range all {
		if n.want == 0 {
			continue
		}
		s := Step{Kind: n.kind, Link: want.Name, Key: n.key, New: strconv.Itoa(n.want), Disruption: b.flap(want.Name), Ready: []string{want.Name},
			Why: "most drivers restart the port for it"}
		is := setting(have, s)
		switch {
		case is == nil:
			b.problem(s.Target(), "the driver has none to set, or it was not observed")
		case n.max > 0 && n.want > n.max && n.want != *is:
			b.problem(s.Target(), "%d is more than the %d the device has", n.want, n.max)
		default:
			b.do(s)
		}
	}
}

// coalescing sets interrupt moderation: switches that go off before the
// numbers they govern, those that come on after.
func (b *builder) coalescing(want netstate.Link) {
	have, _ := b.now.Link(want.Name)
	keys := slices.Sorted(maps.Keys(want.Device.Coalescing))
	rank := func(key string) int {
		switch {
		case !isSwitch(key):
			return 1
		case want.Device.Coalescing[key] == 0:
			return 0
		}
		return 2
	}
	slices.SortStableFunc(keys, func(x, y string) int { return rank(x) - rank(y) })
	for _, key := range keys {
		n := want.Device.Coalescing[key]
		s := Step{Kind: Coalesce, Link: want.Name, Key: key, New: strconv.Itoa(n), Disruption: Online}
		if have.Device == nil {
			b.problem(s.Target(), "the driver has none to set, or it was not observed")
			continue
		}
		if _, ok := have.Device.Coalescing[key]; !ok {
			b.problem(s.Target(), "the driver does not have it, or it was not observed")
			continue
		}
		b.do(s)
	}
}

// qdisc sets the root queueing discipline; a link without one in desired is
// left, as is one whose discipline could not be put back.
func (b *builder) qdisc(want netstate.Link) {
	i := slices.IndexFunc(want.Qdiscs, func(q netstate.Qdisc) bool { return q.Parent == "root" })
	if i < 0 {
		return
	}
	have, _ := b.now.Link(want.Name)
	s := Step{Kind: Qdisc, Link: want.Name, Disruption: Online}
	if j := slices.IndexFunc(have.Qdiscs, func(q netstate.Qdisc) bool { return q.Parent == "root" }); j >= 0 && sameQdisc(have.Qdiscs[j], want.Qdiscs[i]) {
		return
	}
	to, err := RootQdisc(netstate.Link{Qdiscs: want.Qdiscs[i : i+1]})
	if want.Qdiscs[i].Kind == "cake" {
		to, err = QdiscWords(want.Qdiscs[i])
	}
	if err == nil && to != DefaultQdisc {
		var q netstate.Qdisc
		if q, err = ParseQdisc(to); err == nil {
			to, err = QdiscWords(q)
		}
	}
	if err == nil {
		_, err = RootQdisc(have)
	}
	if err != nil {
		b.problem(s.Target(), "%v", err)
		return
	}
	s.New = to
	b.do(s)
}

// sameQdisc compares what two disciplines are, not what they counted.
func sameQdisc(x, y netstate.Qdisc) bool {
	for _, q := range [...]*netstate.Qdisc{&x, &y} {
		q.Drops, q.Overlimits, q.Requeues, q.Backlog = 0, 0, 0, 0
	}
	if x == y {
		return true
	}
	xWords, err1 := QdiscWords(x)
	yWords, err2 := QdiscWords(y)
	return err1 == nil && err2 == nil && xWords == yWords && (x.Handle == "0:") == (y.Handle == "0:")
}
