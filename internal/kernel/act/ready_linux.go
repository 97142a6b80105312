package act

import (
	"context"
	"fmt"
	"slices"

	"github.com/vishvananda/netlink/nl"

	"github.com/linerate/linerate/netstate"
)

// Of IFLA_BOND_AD_INFO: IFLA_BOND_AD_INFO_AGGREGATOR and _PARTNER_MAC.
const (
	adAggregator = 1
	adPartnerMAC = 5
)

func allZero(b []byte) bool { return !slices.ContainsFunc(b, func(c byte) bool { return c != 0 }) }

// Ready is "" when the link carries: it is up, has carrier, and its bond, if
// it has one, uses it; else what it waits for. In 802.3ad used means in the
// active aggregator, collecting and distributing at both ends: the driver
// sends as soon as its partner is in sync, and a partner that does not collect
// yet drops it. In other modes it means that the bond's monitor believes in the
// link. Errors are as Read's.
func (Kernel) Ready(ctx context.Context, name string) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	waits, err := ready(name)
	if err != nil {
		return "", fmt.Errorf("look at %s: %w", name, missing(err))
	}
	return waits, nil
}

func ready(name string) (string, error) {
	l, err := findLink(name)
	if err != nil {
		return "", err
	}
	switch {
	case !l.up:
		return name + " is down", nil
	case !l.carrier:
		return name + " has no carrier", nil
	case l.slaveKind != "bond":
		return "", nil
	case number(l.slave[slaveMIIStatus]) != 0:
		return name + ": its bond does not believe in its link yet", nil
	}
	bond, err := getLink(nil, l.master)
	if err != nil {
		return "", err
	}
	return l.usedBy(bond)
}

// usedBy says why the bond does not use its port in 802.3ad; "" when it does.
func (l link) usedBy(bond link) (string, error) {
	if netstate.BondMode(bond.bondMode()) != netstate.LACP {
		return "", nil
	}
	ad, err := attributes(bond.info[nl.IFLA_BOND_AD_INFO])
	if err != nil {
		return "", err
	}
	answered := !allZero(ad[adPartnerMAC]) // without a partner the driver uses one port
	state, partner := number(l.slave[slaveActorState]), number(l.slave[slavePartnerState])
	switch {
	case number(ad[adAggregator]) != number(l.slave[slaveAggregatorID]):
		return l.name + " is not in the active aggregator", nil
	case state&netstate.LACPCollecting == 0 || state&netstate.LACPDistributing == 0:
		return l.name + " waits for LACP", nil
	case answered && (partner&netstate.LACPCollecting == 0 || partner&netstate.LACPDistributing == 0):
		return l.name + " waits for its LACP partner", nil
	case number(l.slave[slaveState]) != 0:
		return l.name + " is in backup state", nil
	}
	return "", nil
}
