package act

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"github.com/vishvananda/netlink/nl"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/bondopt"
	"github.com/linerate/linerate/internal/kernel/nlattr"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/plan"
)

// setMaster moves a port. A bond takes only a port that is down, and takes it
// up itself (bond_enslave); one that it does not take is up again after.
func setMaster(l link, name string) error {
	master := link{}
	if name != plan.NoMaster {
		var err error
		if master, err = findLink(name); err != nil {
			return fmt.Errorf("bond %q: %w", name, missing(err))
		}
	}
	lowered := false
	if master.index != 0 && l.up {
		if err := l.setUp(false); err != nil {
			return err
		}
		lowered = true
	}
	err := l.change(nlattr.Encode(syscall.IFLA_MASTER, number32(uint32(master.index))))
	if err != nil && lowered {
		err = errors.Join(err, l.setUp(true))
	}
	return err
}

func readMaster(l link) (string, error) {
	if l.master == 0 {
		return plan.NoMaster, nil
	}
	return linkName(l.master)
}

// Attributes of a bond's port (IFLA_BOND_SLAVE_*, include/uapi/linux/if_link.h).
const (
	slaveState        = 1 // BOND_STATE_ACTIVE 0, BOND_STATE_BACKUP 1
	slaveMIIStatus    = 2 // BOND_LINK_UP 0
	slavePermanentMAC = 4
	slaveAggregatorID = 6
	slaveActorState   = 7
	slavePartnerState = 8
)

func portOptionOf(l link, key string) (bondopt.Option, error) {
	o, known := bondopt.FindPort(key)
	switch {
	case !known:
		return o, fmt.Errorf("port option %q: %w", key, errors.ErrUnsupported)
	case l.slaveKind != "bond":
		return o, &refusal{l.name + " is no port of a bond"}
	case len(l.slave[o.Attr]) != o.Size:
		return o, fmt.Errorf("this kernel does not report port option %s: %w", key, fs.ErrNotExist)
	}
	return o, nil
}

func setPortOption(l link, key, value string) error {
	o, err := portOptionOf(l, key)
	if err != nil {
		return err
	}
	payload, err := o.Encode(value)
	if err != nil {
		return fmt.Errorf("set port option: %w: %w", err, fs.ErrInvalid)
	}
	return l.change(nest(syscall.IFLA_LINKINFO, nlattr.Encode(infoSlaveKind, []byte("bond")), nest(infoSlaveData, nlattr.Encode(o.Attr, payload))))
}

func readPortOption(l link, key string) (string, error) {
	o, err := portOptionOf(l, key)
	if err != nil {
		return "", err
	}
	return o.Decode(l.slave[o.Attr]), nil
}

func setMAC(l link, value string) error {
	m, err := flow.ParseMAC(value)
	if err != nil {
		return err
	}
	if err := l.change(nlattr.Encode(syscall.IFLA_ADDRESS, m[:])); err != nil {
		return err
	}
	if l.kind == "bond" && netstate.BondMode(l.bondMode()) == netstate.BalanceTLB {
		return ownAddresses(l, m)
	}
	return nil
}

// ownAddresses gives the ports of a bond in balance-tlb, all but one, their own
// addresses again. The kernel gives each the bond's (bond_set_mac_address), as
// if the mode were another: what they send would then move the bond, in a switch
// that learns, to ports that take nothing in.
func ownAddresses(bond link, m flow.MAC) error {
	all, err := allLinks()
	if err != nil {
		return err
	}
	var ports []link
	holder := int(number(bond.info[nl.IFLA_BOND_ACTIVE_SLAVE]))
	for _, l := range all {
		if l.master != bond.index || len(l.slave[slavePermanentMAC]) != len(m) {
			continue
		}
		ports = append(ports, l)
	}
	if len(ports) > 0 && holder == 0 {
		holder = ports[0].index
	}
	var spare []byte
	for _, l := range ports {
		if l.index == holder {
			spare = l.slave[slavePermanentMAC]
		}
	}
	for _, l := range ports {
		own := l.slave[slavePermanentMAC]
		if flow.MAC(own) == m {
			own = spare // the bond has its address: it takes the active port's
		}
		if l.index == holder || len(own) != len(m) {
			continue
		}
		if err := l.change(nlattr.Encode(syscall.IFLA_ADDRESS, own)); err != nil {
			return fmt.Errorf("give %s its own address: %w", l.name, err)
		}
	}
	return nil
}

// bondInfo is one option of a bond as the kernel numbers it.
func (l link) bondInfo(attr uint16) uint32 { return number(l.info[attr]) }

// bondMode is the mode of a bond.
func (l link) bondMode() uint32 { return l.bondInfo(nl.IFLA_BOND_MODE) }
