package onswitch

import (
	"fmt"
	"strings"

	"github.com/linerate/linerate/diagnose"
	"github.com/linerate/linerate/fabric/topology"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// Flows are those of one way of a trial.
type Flows struct {
	From, To string
	Rate     unit.BitRate // goodput
	Count    int
	Pairs    int               // of addresses
	Network  *topology.Network // as the fabric file describes it; nil it does not
}

// Found is what the switches' counters show to limit the flows.
type Found struct {
	Cause           record.Cause
	Summary, Remedy string
	Mended          string // the beginning of "...: 2 Gbit/s instead of 1"
	Evidence        []record.Evidence
	Switch          string // whose hash is to change; "" none
	Between         bool   // the links between switches are it
}

// Limit says that a switch on the way sent everything by some members of a channel, which
// were full, while others idled, or that all its members were full; false where no
// switch's counters show it.
func Limit(t record.Trial, f Flows) (Found, bool) {
	for _, g := range Towards(t, f.From, f.To, f.Rate) {
		full, unused, uneven := g.OneSided()
		found := Found{Evidence: g.Evidence(), Between: !g.ToHost}
		switch {
		case uneven && g.Full(full[0]):
			found.unspread(f, g, full, unused)
		case !g.ToHost && g.AllFull():
			found.Cause = record.LineRate
			found.Summary = fmt.Sprintf("All links of %s to %s are full, as the switch counts: the hosts' own links have room.", g.Name(), g.To)
			found.Remedy = "put more or faster links between switch " + g.Switch + " and " + g.To
		default:
			continue
		}
		return found, true
	}
	return Found{}, false
}

// Counted reports that a switch on the way counted what it sent to another: its counters
// say whether those links are the limit.
func Counted(t record.Trial, from, to string, rate unit.BitRate) bool {
	for _, g := range Towards(t, from, to, rate) {
		if !g.ToHost {
			return true
		}
	}
	return false
}

// unspread is why flows share a member: too few of them, or the hash that is declared.
func (found *Found) unspread(f Flows, g Group, full, unused []Member) {
	hash, fields := hashOf(f.Network, g)
	found.Cause, found.Switch, found.Mended = record.HashImbalance, g.Switch, "With flows on every link"
	found.Remedy = fmt.Sprintf("on switch %s let the hash of %s read addresses and ports (layer3+4); on many switches that changes all channels", g.Switch, g.short())
	why := "nobody said what its hash reads"
	switch {
	case f.Count <= len(full):
		found.Cause, why = record.SingleLink, "a hash never splits a flow"
		found.Remedy = fmt.Sprintf("use at least %d streams with different ports; %s", len(g.Members), found.Remedy)
	case fields == topology.ByMAC || fields == topology.ByAddress && f.Pairs == 1:
		found.Cause, why = record.SingleLink, fmt.Sprintf("its hash, %s, reads nothing in which the flows differ", hash)
	case hash != "":
		why = fmt.Sprintf("its hash, %s, put them there", hash)
	}
	if hash != "" {
		found.Evidence = append(found.Evidence, record.Evidence{What: "hash of " + g.Name(), Value: hash, Source: "switches of the fabric file"})
	}
	sent := 0.0
	for _, m := range full {
		sent += m.Share
	}
	name := g.Name()
	found.Summary = fmt.Sprintf("%s puts %s of %s to %s on %s while %s hardly carries anything: %s.", strings.ToUpper(name[:1])+name[1:], diagnose.Percent(sent), unit.Counted(f.Count, "flow"), g.To, ports(full), ports(unused), why)
}

// hashOf is how a group's switch spreads flows, as the file says; "" nobody said.
func hashOf(n *topology.Network, g Group) (string, topology.Fields) {
	if n == nil {
		return "", topology.FieldsUnknown
	}
	c, _ := n.ChannelOf(topology.At{Switch: g.Switch, Port: g.Members[0].Port})
	hash := n.Balance(g.Switch, c).Hash
	if hash == "" || hash == topology.Unknown {
		return "", topology.FieldsUnknown
	}
	return hash, topology.FieldsOf(hash)
}
