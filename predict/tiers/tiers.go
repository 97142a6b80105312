// Package tiers finds which links between switches the flows of two hosts take: route by
// route with how likely it is, by the switches' hashes where they are known, and by
// chance where they are not. Two tiers that hash alike see each other's choice: what one
// put on a link is all that the next one has to spread.
//
// It computes no rate.
package tiers

import (
	"fmt"
	"slices"

	"github.com/linerate/linerate/fabric/topology"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/steer/switchhash"
)

// Side is a host's links that traffic uses, in the order of its hash.
type Side struct {
	Host  string
	Links []string
}

// Way is what lies between two hosts, from the first's links to the second's.
type Way struct {
	Net      *topology.Network
	from, to []topology.At
	// dist is how many cables a switch is from the nearest that the receiver hangs on,
	// without those between the halves of a pair.
	dist map[string]int
}

// Between finds the way; false where the switches are not described, some link of
// either host hangs on none, or nothing leads from one to the other.
func Between(net *topology.Network, from, to Side) (*Way, bool) {
	if net == nil {
		return nil, false
	}
	w := &Way{Net: net, dist: map[string]int{}}
	for _, end := range []struct {
		side Side
		at   *[]topology.At
	}{{from, &w.from}, {to, &w.to}} {
		for _, l := range end.side.Links {
			at, ok := net.Where(end.side.Host, l)
			if !ok {
				return nil, false
			}
			*end.at = append(*end.at, at)
		}
	}
	w.measure()
	for _, at := range w.from {
		if !w.reaches(at.Switch) {
			return nil, false
		}
	}
	return w, len(w.from) > 0 && len(w.to) > 0
}

// Ends are the switches' ports that the sender's and the receiver's links hang on.
func (w *Way) Ends() (from, to []topology.At) { return w.from, w.to }

// measure finds each switch's distance, from the receiver's on.
func (w *Way) measure() {
	var next []string
	for _, at := range w.to {
		if _, seen := w.dist[at.Switch]; !seen {
			w.dist[at.Switch] = 0
			next = append(next, at.Switch)
		}
	}
	for len(next) > 0 {
		name := next[0]
		next = next[1:]
		for _, n := range w.Net.Out(name) { // cables lead both ways
			far := w.Net.Links[n].To.Switch
			if _, seen := w.dist[far]; !seen && !w.paired(name, far) {
				w.dist[far] = w.dist[name] + 1
				next = append(next, far)
			}
		}
	}
}

func (w *Way) paired(a, b string) bool {
	peer, _, ok := w.Net.Peer(a)
	return ok && peer == b
}

// reaches reports a switch from which the receiver is reached, if over its peer.
func (w *Way) reaches(name string) bool {
	if _, ok := w.dist[name]; ok {
		return true
	}
	peer, _, ok := w.Net.Peer(name)
	if !ok {
		return false
	}
	_, ok = w.dist[peer]
	return ok
}

// Ask is one flow, or many that are alike.
type Ask struct {
	// Out is the number of the sender's link that they leave by.
	Out int
	// In are the numbers of the receiver's links that they may arrive by; nil is any:
	// the switches choose.
	In []int
	// Hashed is over how many links the sender's own layer3+4 chose Out; zero where it
	// is another hash.
	Hashed int
	// Frame is the frame as far as it is known; Exact with its ports.
	Frame flow.Frame
	Exact bool
	// Last is the hash towards the receiver's links, where a path says one; "" is what the
	// switch has.
	Last string
	// Lane is the number of the pair's addresses, which decides where a hash of addresses
	// is not computable.
	Lane int
	// Low: what nobody said turns out worst. Mean: what two addresses decide is shared
	// out over the links as over many pairs.
	Low, Mean bool
}

// Route is one way through the switches.
type Route struct {
	// Links are numbers of the network's, Weights how much of the flow each has.
	Links   []int
	Weights []float64
	In      int // number of the receiver's link
	// Share is how likely it is; all of an answer make one.
	Share float64
}

const (
	// mostRoutes is how many routes are told apart; of more the mean is given.
	mostRoutes = 256
	mostSteps  = 1 << 16
	mostHops   = 12
	// mostResidues bounds what is remembered of one hash.
	mostResidues = 4096
)

// Routes are the ways that a flow may take; false where there are too many to follow.
func (w *Way) Routes(a Ask) ([]Route, bool) {
	k := walk{Way: w, ask: a, left: mostSteps}
	var known state
	if a.Hashed > 1 {
		known = known.with(residue{hash: linuxID(netstate.Layer34.String()), rest: a.Out % a.Hashed, mod: a.Hashed})
	}
	k.at(w.from[a.Out].Switch, known, nil, 1)
	switch {
	case k.left < 0 || len(k.routes) == 0:
		return nil, false
	case len(k.routes) > mostRoutes:
		return merged(k.routes), true
	}
	return k.routes, true
}

// merged is one route for each of the receiver's links, with the mean on each link.
func merged(routes []Route) []Route {
	var all []Route
	for _, r := range routes {
		i := slices.IndexFunc(all, func(m Route) bool { return m.In == r.In })
		if i < 0 {
			i = len(all)
			all = append(all, Route{In: r.In})
		}
		m := &all[i]
		m.Share += r.Share
		for n, l := range r.Links {
			at := slices.Index(m.Links, l)
			if at < 0 {
				at = len(m.Links)
				m.Links, m.Weights = append(m.Links, l), append(m.Weights, 0)
			}
			m.Weights[at] += r.Share * r.Weights[n]
		}
	}
	for i := range all {
		for n := range all[i].Weights {
			all[i].Weights[n] /= all[i].Share
		}
	}
	return all
}

// state is what earlier choices tell of hashes: a value's remainder, or of those that are
// cut into ranges which part of all values.
type state []residue

type residue struct {
	hash      string
	rest, mod int
	low, high float64 // of all values; 0 and 0 is any
}

func (s state) of(hash string) residue {
	for _, r := range s {
		if r.hash == hash {
			return r
		}
	}
	return residue{hash: hash, mod: 1}
}

func (s state) with(known residue) state {
	return append(slices.DeleteFunc(slices.Clone(s), func(r residue) bool { return r.hash == known.hash }), known)
}

// walk follows a flow from switch to switch.
type walk struct {
	*Way
	ask    Ask
	routes []Route
	left   int // steps
}

// at goes on from a switch.
func (k *walk) at(name string, s state, links []int, share float64) {
	if k.left--; k.left < 0 || len(links) > mostHops {
		return
	}
	peer, spread, paired := k.Net.Peer(name)
	own, theirs := k.members(name), []int(nil)
	if paired {
		theirs = k.members(peer)
	}
	switch {
	case len(own) > 0 && paired && spread && len(theirs) > 0:
		k.deliver(name, append(own, theirs...), s, links, share)
	case len(own) > 0:
		k.deliver(name, own, s, links, share)
	case len(theirs) > 0:
		k.over(k.towards(name, func(l topology.Link) bool { return l.To.Switch == peer }), name, s, links, share, k.at)
	default:
		k.onwards(name, s, links, share)
	}
}

// members are the receiver's links that hang on a switch, in the order of its channel.
func (k *walk) members(name string) []int {
	var all []int
	for i, at := range k.to {
		if at.Switch == name && (k.ask.In == nil || slices.Contains(k.ask.In, i)) {
			all = append(all, i)
		}
	}
	if len(all) > 1 {
		if c, ok := k.Net.ChannelOf(k.to[all[0]]); ok {
			slices.SortFunc(all, func(a, b int) int {
				return slices.Index(c.Members, k.to[a].Port) - slices.Index(c.Members, k.to[b].Port)
			})
		}
	}
	return all
}

// deliver chooses one of the receiver's links. Without a channel a switch sends to the
// port where it last heard the address: one of them.
func (k *walk) deliver(name string, members []int, s state, links []int, share float64) {
	c, channel := k.Net.ChannelOf(k.to[members[0]])
	if !channel {
		members = members[:1]
	}
	b := k.Net.Balance(name, c)
	if k.ask.Last != "" && k.ask.Last != topology.Unknown {
		b.Hash = k.ask.Last
	}
	for _, o := range k.pick(name, b, len(members), "channel "+c.Name, s) {
		in, arrive := members[o.index], func(_ string, _ state, links []int, share float64) {
			k.left--
			r := Route{Links: slices.Clone(links), Weights: make([]float64, len(links)), In: members[o.index], Share: share}
			for i := range r.Weights {
				r.Weights[i] = 1
			}
			k.routes = append(k.routes, r)
		}
		if far := k.to[in].Switch; far != name {
			k.over(k.towards(name, func(l topology.Link) bool { return l.To.Switch == far }), name, o.state, links, share*o.share, arrive)
			continue
		}
		arrive(name, o.state, links, share*o.share)
	}
}

// onwards chooses the next switch: over all ways of the least cables where the switch
// routes, else over the first, which the spanning tree leaves.
func (k *walk) onwards(name string, s state, links []int, share float64) {
	here, known := k.dist[name]
	ways := k.towards(name, func(l topology.Link) bool {
		far, reached := k.dist[l.To.Switch]
		return reached && (known && far < here || !known)
	})
	k.over(ways, name, s, links, share, k.at)
}

// towards are a switch's links that lead on, those of a channel together.
func (k *walk) towards(name string, leads func(topology.Link) bool) [][]int {
	var ways [][]int
	at := map[string]int{}
	for _, n := range k.Net.Out(name) {
		l := k.Net.Links[n]
		if !leads(l) {
			continue
		}
		if l.Channel == "" {
			ways = append(ways, []int{n})
			continue
		}
		if _, seen := at[l.Channel]; !seen {
			at[l.Channel] = len(ways)
			ways = append(ways, k.channel(name, l.Channel))
		}
	}
	return ways
}

// channel are all links of a channel, in the order that its hash counts them.
func (k *walk) channel(name, channel string) []int {
	var all []int
	for _, n := range k.Net.Out(name) {
		if k.Net.Links[n].Channel == channel && k.reaches(k.Net.Links[n].To.Switch) {
			all = append(all, n)
		}
	}
	c, _ := k.Net.ChannelOf(k.Net.Links[all[0]].From)
	slices.SortFunc(all, func(a, b int) int {
		return slices.Index(c.Members, k.Net.Links[a].From.Port) - slices.Index(c.Members, k.Net.Links[b].From.Port)
	})
	return all
}

// over chooses a way and then a link of it, and goes on at its other end.
func (k *walk) over(ways [][]int, name string, s state, links []int, share float64, on func(string, state, []int, float64)) {
	sw, _ := k.Net.Switch(name)
	switch {
	case len(ways) == 0:
		return
	case len(ways) > 1 && sw.ECMP == nil:
		ways = ways[:1]
	}
	for _, first := range k.pick(name, k.Net.Routes(name), len(ways), atRoutes, s) {
		way := ways[first.index]
		c, _ := k.Net.ChannelOf(k.Net.Links[way[0]].From)
		for _, then := range k.pick(name, k.Net.Balance(name, c), len(way), "channel "+c.Name, first.state) {
			n := way[then.index]
			on(k.Net.Links[n].To.Switch, then.state, append(slices.Clone(links), n), share*first.share*then.share)
		}
	}
}

// option is one link that a hash may choose.
type option struct {
	index int
	share float64
	state state
}

// atRoutes is the stage at which a switch chooses among routes; others are its channels.
const atRoutes = "ecmp"

// linuxID is the name of bonding's own hash of that policy, which all Linux hosts have.
func linuxID(policy string) string { return "linux " + policy }

// pick is where a hash sends the flow, of n links. Linux chooses among routes by a hash of
// its own, with a key that is drawn at boot, of which each next hop has a range
// (fib_multipath_hash and fib_rebalance, Linux 6.1).
func (k *walk) pick(name string, b topology.Balance, n int, stage string, s state) []option {
	if n == 1 {
		return []option{{0, 1, s}}
	}
	sw, _ := k.Net.Switch(name)
	fields := topology.FieldsOf(b.Hash)
	// What is computed: bonding's policies on Linux, and Catalysts' words, whose function
	// has no seed.
	on, policy, declared := switchhash.Declared(b.Hash, n)
	catalyst := declared && policy == netstate.PolicyUnread
	computed := declared && stage != atRoutes && (catalyst || sw.System == "linux")
	id := name + " " + stage // a hash like no other's
	switch {
	case computed:
		if fields != topology.ByPort || k.ask.Exact {
			if p := on.Place(k.ask.Frame); p.Known && p.Index >= 0 {
				return []option{{p.Index, 1, s}}
			}
		}
		if id = linuxID(b.Hash); catalyst {
			id = b.Hash
		}
	case b.Hash != "" && b.Seed != "":
		if id = b.Hash + " seed " + b.Seed; sw.System == "linux" {
			id = linuxID(stage + " " + id)
		}
	case k.ask.Low && fields != topology.FieldsUnknown:
		id = b.Hash // as every other of which nobody said the seed
	}
	if fields == topology.OneOfAll {
		return []option{{0, 1, s}}
	}
	lane := fields == topology.ByMAC || fields == topology.ByAddress
	switch {
	case fields == topology.FieldsUnknown && k.ask.Low:
		return []option{{0, 1, s}}
	case lane && !k.ask.Mean && !k.ask.Exact:
		i := 0
		if fields == topology.ByAddress && !k.ask.Low {
			i = k.ask.Lane % n
		}
		return []option{{i, 1, s}}
	}
	switch {
	case sw.System == "linux" && stage == atRoutes:
		return s.ranges(id, slices.Repeat([]int{1}, n))
	case computed && catalyst && n < 8 && 8%n != 0: // which of the eight values a link has is the switch's to say
		return s.ranges(fmt.Sprint(id, " over ", n), switchhash.Shares(n))
	}
	return s.options(id, n)
}

// ranges are the links that a hash may choose of whose values each has a range of that
// weight, by what is known of its value.
func (s state) ranges(hash string, weights []int) []option {
	known, whole, before := s.of(hash), 0, 0
	if known.high == 0 {
		known.high = 1
	}
	for _, w := range weights {
		whole += w
	}
	var all []option
	for i, w := range weights {
		low, high := max(known.low, float64(before)/float64(whole)), min(known.high, float64(before+w)/float64(whole))
		before += w
		if part := (high - low) / (known.high - known.low); part > 1e-9 {
			all = append(all, option{i, part, s.with(residue{hash: hash, mod: 1, low: low, high: high})})
		}
	}
	return all
}

// options are the links that a hash may choose, of n, by what is known of its value: it
// is the value's remainder.
func (s state) options(hash string, n int) []option {
	known := s.of(hash)
	step := gcd(known.mod, n)
	var all []option
	for i := known.rest % step; i < n; i += step {
		next := option{index: i, share: float64(step) / float64(n), state: s}
		if whole := known.mod / step * n; whole <= mostResidues {
			value := known.rest
			for value%n != i {
				value += known.mod
			}
			next.state = s.with(residue{hash: hash, rest: value, mod: whole})
		}
		all = append(all, next)
	}
	return all
}

func gcd(a, b int) int {
	for b > 0 {
		a, b = b, a%b
	}
	return a
}
