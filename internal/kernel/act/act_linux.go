package act

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"syscall"

	"github.com/linerate/linerate/internal/kernel/nlattr"
	"github.com/linerate/linerate/plan"
)

// Do carries the step out, and only it: a bond option travels alone in its
// message, so that no other option is set again. It does not wait for the
// effect. A link, option or sysctl that is not there is fs.ErrNotExist; no
// CAP_NET_ADMIN is fs.ErrPermission; a state the kernel does not change from
// (bond up, has slaves, wrong mode) is a *PreconditionError.
func (Kernel) Do(ctx context.Context, s plan.Step) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := do(ctx, s); err != nil {
		return explain("set", s, err)
	}
	return nil
}

// Read is what the step's target is now, in the words of its Old and New.
// Errors are as Do's; what a step cannot say, such as attributes of a route, or would
// take along, such as permanent neighbours, and so could not restore, is
// errors.ErrUnsupported.
func (Kernel) Read(ctx context.Context, s plan.Step) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	v, err := read(s)
	if err != nil {
		return "", explain("read", s, err)
	}
	return v, nil
}

func do(ctx context.Context, s plan.Step) error {
	switch s.Kind {
	case plan.Sysctl:
		return setSysctl(s.Key, s.New)
	case plan.Route:
		return setRoute(s.Route, s.New)
	case plan.Rule:
		return setRule(s.Rule, s.New)
	case plan.Address:
		return setAddress(s.Link, s.Address, s.NoBroadcast, s.New)
	case plan.LinkPresence:
		return setPresence(s.Link, s.Make, s.New)
	case plan.Offload, plan.Ring, plan.Channel, plan.Coalesce:
		return setDevice(s)
	case plan.MPTCPLimit:
		return setMPTCPLimit(s.Key, s.New)
	case plan.MPTCPEndpoint:
		return setMPTCPEndpoint(s.Endpoint, s.New)
	case plan.PortOrder:
		return setOrder(ctx, s.Link, s.New)
	}
	return doLink(s)
}

// doLink does what is one message for a link that is there.
func doLink(s plan.Step) error {
	set := map[plan.Kind]func(link) error{
		plan.BondOption: func(l link) error { return setBondOption(l, s.Key, s.New) },
		plan.LinkMTU:    func(l link) error { return setMTU(l, s.New) },
		plan.LinkState:  func(l link) error { return l.setUp(s.New == plan.Up) },
		plan.LinkMAC:    func(l link) error { return setMAC(l, s.New) },
		plan.PortMaster: func(l link) error { return setMaster(l, s.New) },
		plan.PortOption: func(l link) error { return setPortOption(l, s.Key, s.New) },
		plan.Qdisc:      func(l link) error { return setQdisc(l, s.New) },
	}[s.Kind]
	if set == nil {
		return fmt.Errorf("step of kind %q: %w", s.Kind, errors.ErrUnsupported)
	}
	l, err := findLink(s.Link)
	if err != nil {
		return err
	}
	return set(l)
}

func setMTU(l link, value string) error {
	mtu, err := strconv.ParseUint(value, 10, 31)
	if err != nil {
		return fmt.Errorf("parse MTU: %w", err)
	}
	return l.change(nlattr.Encode(syscall.IFLA_MTU, number32(uint32(mtu))))
}

func read(s plan.Step) (string, error) {
	switch s.Kind {
	case plan.Sysctl:
		return readSysctl(s.Key)
	case plan.Route:
		return readRoute(s.Route)
	case plan.Rule:
		return readRule(s.Rule)
	case plan.Address:
		return readAddress(s.Link, s.Address, s.New)
	case plan.LinkPresence:
		return readPresence(s.Link, s.Make, s.New)
	case plan.Offload, plan.Ring, plan.Channel, plan.Coalesce:
		return readDevice(s)
	case plan.MPTCPLimit:
		return readMPTCPLimit(s.Key)
	case plan.MPTCPEndpoint:
		return readMPTCPEndpoint(s.Endpoint)
	}
	return readLink(s)
}

// readLink reads what a link's own message says.
func readLink(s plan.Step) (string, error) {
	get := map[plan.Kind]func(link) (string, error){
		plan.BondOption: func(l link) (string, error) { return readBondOption(l, s.Key) },
		plan.LinkMTU:    func(l link) (string, error) { return strconv.Itoa(l.mtu), nil },
		plan.LinkState:  func(l link) (string, error) { return readState(l, s.New) },
		plan.LinkMAC:    func(l link) (string, error) { return readMAC(l, s.New) },
		plan.PortMaster: readMaster,
		plan.PortOption: func(l link) (string, error) { return readPortOption(l, s.Key) },
		plan.PortOrder:  readOrder,
		plan.Qdisc:      readQdisc,
	}[s.Kind]
	if get == nil {
		return "", fmt.Errorf("step of kind %q: %w", s.Kind, errors.ErrUnsupported)
	}
	l, err := findLink(s.Link)
	if err != nil {
		return "", err
	}
	return get(l)
}

func readState(l link, want string) (string, error) {
	switch {
	case !l.up:
		return plan.Down, nil
	case want == plan.Down:
		return plan.Up, l.forgetsNone()
	}
	return plan.Up, nil
}

func readMAC(l link, want string) (string, error) {
	now := hardware(l.mac)
	if want == now {
		return now, nil
	}
	return now, l.forgetsNone()
}

// explain adds the step to an error and turns what means a precondition into
// words: refusals found here, and the errno values of the kernel (of a bond's
// options, bond_opt_check_deps in bond_options.c).
func explain(verb string, s plan.Step, err error) error {
	var own *refusal
	if errors.As(err, &own) {
		return &PreconditionError{s, own.why}
	}
	var errno syscall.Errno
	if errors.As(err, &errno) {
		if why := precondition(s, errno); why != "" && verb == "set" {
			return &PreconditionError{s, why}
		}
		if errno == syscall.ENODEV {
			err = fmt.Errorf("link %s: %w", s.Link, missing(err))
		}
	}
	if verb == "set" {
		return fmt.Errorf("set %s to %s: %w", s.Target(), s.New, err)
	}
	return fmt.Errorf("%s %s: %w", verb, s.Target(), err)
}

// precondition is what an errno says of the state that a step was tried in; ""
// is nothing.
func precondition(s plan.Step, errno syscall.Errno) string {
	switch s.Kind {
	case plan.BondOption, plan.PortOption:
		switch errno {
		case syscall.EACCES:
			return "the bond's mode does not take it (EACCES)"
		case syscall.EBUSY:
			return "the bond is up (EBUSY)"
		case syscall.ENOTEMPTY:
			return "the bond has slaves (ENOTEMPTY)"
		}
	case plan.LinkMAC:
		if errno == syscall.EBUSY {
			return "the link is up, and its driver changes the address of a link that is down only (EBUSY)"
		}
	case plan.PortMaster:
		if errno == syscall.EBUSY {
			return "the link cannot be a port now (EBUSY)"
		}
	}
	return ""
}
