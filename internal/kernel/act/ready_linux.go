package act

import (
	"context"
	"fmt"

	"github.com/vishvananda/netlink/nl"

	"github.com/linerate/linerate/netstate"
)

// Bits of a LACP port's state (IEEE 802.1AX 6.4.2.3).
const (
	lacpCollecting   = 1 << 4
	lacpDistributing = 1 << 5
)

// adAggregator is IFLA_BOND_AD_INFO_AGGREGATOR.
const adAggregator = 1

// Ready is "" when the link carries: it is up, has carrier, and its bond, if
// it has one, uses it; else what it waits for. In 802.3ad used means in the
// active aggregator, collecting and distributing; in other modes that the
// bond's monitor believes in the link. Errors are as Read's.
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
	state := number(l.slave[slaveActorState])
	switch {
	case number(ad[adAggregator]) != number(l.slave[slaveAggregatorID]):
		return l.name + " is not in the active aggregator", nil
	case state&lacpCollecting == 0 || state&lacpDistributing == 0:
		return l.name + " waits for LACP", nil
	case number(l.slave[slaveState]) != 0:
		return l.name + " is in backup state", nil
	}
	return "", nil
}
