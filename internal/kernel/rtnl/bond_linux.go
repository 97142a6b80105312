package rtnl

import (
	"fmt"
	"net/netip"
	"strings"

	"github.com/linerate/linerate/internal/bondopt"
	"github.com/linerate/linerate/internal/kernel/nlattr"
	"github.com/linerate/linerate/netstate"
)

// Attributes of a bond and of its slaves that are states and no options,
// include/uapi/linux/if_link.h.
const (
	bondADInfo = 23

	adAggregator = 1
	adPorts      = 2
	adActorKey   = 3
	adPartnerKey = 4
	adPartnerMAC = 5

	slaveState        = 1
	slaveMIIStatus    = 2
	slaveFailureCount = 3
	slavePermanentMAC = 4
	slaveAggregatorID = 6
	slaveActorState   = 7
	slavePartnerState = 8

	stateActive = 0 // BOND_STATE_ACTIVE
)

// miiStates are the words of bond_slave_link_status, by BOND_LINK_* number.
var miiStates = [...]string{"up", "going down", "down", "going back"}

// rawBond is a bond as its own message says it: slaves by index.
type rawBond struct {
	bond    netstate.Bond
	active  int
	primary int
}

// decodeBond reads IFLA_INFO_DATA of a bond. What it cannot name is kept in
// Options as "ifla-bond-N".
func decodeBond(data []byte) rawBond {
	r := rawBond{bond: netstate.UnreadBond()}
	b := &r.bond
	b.Ports = []string{}
	err := nlattr.Each(data, func(kind uint16, v []byte) {
		o, known := bondopt.ByAttr(kind)
		switch {
		case kind == bondADInfo:
			b.AD = decodeAggregator(v)
		case o.Name == bondopt.Active:
			r.active = int(u32(v))
		case o.Name == bondopt.Primary:
			r.primary = int(u32(v))
		case !known:
			b.Options[fmt.Sprintf("ifla-bond-%d", kind)] = kept(v)
		default:
			if err := o.Put(b, OptionText(o, v)); err != nil {
				b.Options[o.Name] = kept(v)
			}
		}
	})
	if err != nil {
		b.Options["ifla-info-data"] = kept(data)
	}
	return r
}

// OptionText is the value of a bond's or a port's option as the kernel sends it,
// in the table's words: a number without a word as itself, "" for an empty list.
// A port of the bond is told by its index, which is not read here.
func OptionText(o bondopt.Option, v []byte) string {
	switch {
	case o.Listed():
		return addressList(v)
	case o.Kind == bondopt.MAC:
		return hardwareAddress(v)
	}
	return o.Decode(v)
}

func decodeAggregator(v []byte) *netstate.Aggregator {
	var ad netstate.Aggregator
	if err := nlattr.Each(v, func(kind uint16, v []byte) {
		switch kind {
		case adAggregator:
			ad.ID = int(u16(v))
		case adPorts:
			ad.Ports = int(u16(v))
		case adActorKey:
			ad.ActorKey = int(u16(v))
		case adPartnerKey:
			ad.PartnerKey = int(u16(v))
		case adPartnerMAC:
			ad.PartnerMAC = mac(v)
		}
	}); err != nil {
		return nil
	}
	return &ad
}

// slave reads IFLA_INFO_SLAVE_DATA of a bond's slave.
func (r *rawLink) slave(data []byte) {
	p := &netstate.BondPort{}
	err := nlattr.Each(data, func(kind uint16, v []byte) {
		switch kind {
		case slaveState:
			p.Active = u8(v) == stateActive
		case slaveMIIStatus:
			n := int(u8(v))
			p.MIIUp = n == 0
			if n < len(miiStates) {
				r.keep("bond_mii_status", miiStates[n])
			}
		case slaveFailureCount:
			p.FailureCount = int(u32(v))
		case slavePermanentMAC:
			// What the link had before it was enslaved: where the driver has
			// no burnt-in address (veth), it is what identifies the link.
			if m := mac(v); r.link.PermanentMAC.IsZero() {
				r.link.PermanentMAC = m
			}
		case slaveAggregatorID:
			p.AggregatorID = int(u16(v))
		case slaveActorState:
			p.ActorState = u8(v)
		case slavePartnerState:
			p.PartnerState = uint8(u16(v))
		default:
			o, known := bondopt.PortByAttr(kind)
			if !known || o.PutPort(p, OptionText(o, v)) != nil {
				r.keep(fmt.Sprintf("ifla-bond-slave-%d", kind), kept(v))
			}
		}
	})
	if err != nil {
		r.keep("ifla-info-slave-data", kept(data))
	}
	r.port = p
}

// addressList reads nested addresses; the order is the bond's.
func addressList(v []byte) string {
	var list []string
	_ = nlattr.Each(v, func(_ uint16, v []byte) {
		if a := addr(v); a != (netip.Addr{}) {
			list = append(list, a.String())
		}
	})
	return strings.Join(list, ",")
}

// hardwareAddress keeps the zero address in words: it means that the bond's
// own is used.
func hardwareAddress(v []byte) string {
	if m := mac(v); !m.IsZero() {
		return m.String()
	}
	return "00:00:00:00:00:00"
}
