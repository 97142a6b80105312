package cloud

import (
	"fmt"

	"github.com/linerate/linerate/unit"
)

// Caps returns what holds for one host towards one peer. The user's own words
// (bandwidth, interface_rate, flow_rate) count before the rules, and stand
// alone where the rules do not know the instance. Errors: ErrUnknownProvider,
// ErrUnknownInstance, ErrUnsized.
func (t Table) Caps(q Query) (Caps, error) {
	t, err := t.orBuiltin()
	if err != nil {
		return Caps{}, err
	}
	p, err := t.find(q.Provider)
	if err != nil {
		return q.ownWords(), ownWordsOr(q, err)
	}
	j := judge{table: t, provider: p, query: q, interfaces: max(q.Interfaces, 1)}
	caps := Caps{Provider: p.title, Adds: p.split}
	j.where()
	if j.size, err = p.size(q.Cloud); err != nil {
		caps.Flow = j.flow(Cap{})
		return q.over(caps), ownWordsOr(q, err)
	}
	network := j.network()
	caps.Flow = j.flow(network)
	caps.Interface = j.each(network)
	caps.Adds = caps.Adds || j.size.cards > 1
	caps.Egress, caps.OutsideEgress = network, j.beyond(network)
	if !p.free {
		caps.Ingress, caps.OutsideIngress = caps.Egress, caps.OutsideEgress
	}
	return q.over(caps), nil
}

// over puts the user's own words before the rules'.
func (q Query) over(caps Caps) Caps {
	own := q.ownWords()
	for _, one := range []struct{ own, rule *Cap }{
		{&own.Egress, &caps.Egress}, {&own.Ingress, &caps.Ingress}, {&own.Interface, &caps.Interface}, {&own.Flow, &caps.Flow},
	} {
		if one.own.Rate > 0 {
			*one.rule = *one.own
		}
	}
	return caps
}

// ownWords are the caps that the user says.
func (q Query) ownWords() Caps {
	word := func(rate unit.BitRate, key string) Cap {
		if rate <= 0 {
			return Cap{}
		}
		return Cap{Rate: rate, Why: fmt.Sprintf("cloud.%s says %s", key, rate)}
	}
	caps := Caps{Provider: q.Provider, Interface: word(q.InterfaceRate, "interface_rate"), Flow: word(q.FlowRate, "flow_rate")}
	caps.Egress = word(q.Bandwidth, "bandwidth")
	caps.Ingress = caps.Egress
	return caps
}

// ownWordsOr forgives what the rules do not know where the user says the
// host's bandwidth.
func ownWordsOr(q Query, err error) error {
	if q.Bandwidth > 0 {
		return nil
	}
	return err
}

// judge works one query out.
type judge struct {
	table      Table
	provider   provider
	query      Query
	interfaces int
	size       size
	// outside: the peer is beyond the provider's network, or may be where
	// unsure.
	outside, unsure bool
	whyOutside      string
}
