package act

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"syscall"

	"github.com/vishvananda/netlink/nl"

	"github.com/linerate/linerate/internal/kernel/sysctl"
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
	if err := do(s); err != nil {
		return explain("set", s, err)
	}
	return nil
}

// Read is what the step's target is now, in the words of its Old and New.
// Errors are as Do's; a route whose attributes a step cannot say, and so
// could not restore, is errors.ErrUnsupported.
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

func do(s plan.Step) error {
	switch s.Kind {
	case plan.Sysctl:
		inside, err := inNamespace()
		if err != nil {
			return err
		}
		return sysctl.Write(s.Key, s.New, inside)
	case plan.Route:
		return setRoute(s.Route, s.New)
	case plan.Address:
		return setAddress(s.Link, s.Address, s.New)
	case plan.BondOption, plan.LinkMTU, plan.LinkState, plan.PortMaster:
	default:
		return fmt.Errorf("step of kind %q: %w", s.Kind, errors.ErrUnsupported)
	}
	l, err := findLink(s.Link)
	if err != nil {
		return err
	}
	switch s.Kind {
	case plan.BondOption:
		return setBondOption(l, s.Key, s.New)
	case plan.LinkMTU:
		mtu, err := strconv.ParseUint(s.New, 10, 31)
		if err != nil {
			return fmt.Errorf("parse MTU: %w", err)
		}
		return l.change(nl.NewRtAttr(syscall.IFLA_MTU, nl.Uint32Attr(uint32(mtu))))
	case plan.LinkState:
		return l.setUp(s.New == plan.Up)
	}
	return setMaster(l, s.New)
}

// setMaster moves a port. A bond takes only a port that is down, and takes it
// up itself (bond_enslave).
func setMaster(l link, name string) error {
	master := link{}
	if name != plan.NoMaster {
		var err error
		if master, err = findLink(name); err != nil {
			return err
		}
		if err := l.setUp(false); err != nil {
			return err
		}
	}
	return l.change(nl.NewRtAttr(syscall.IFLA_MASTER, nl.Uint32Attr(uint32(master.index))))
}

func read(s plan.Step) (string, error) {
	switch s.Kind {
	case plan.Sysctl:
		return readSysctl(s.Key)
	case plan.Route:
		return readRoute(s.Route)
	case plan.Address:
		return readAddress(s.Link, s.Address)
	case plan.BondOption, plan.LinkMTU, plan.LinkState, plan.PortMaster:
	default:
		return "", fmt.Errorf("step of kind %q: %w", s.Kind, errors.ErrUnsupported)
	}
	l, err := findLink(s.Link)
	if err != nil {
		return "", err
	}
	switch s.Kind {
	case plan.BondOption:
		return readBondOption(l, s.Key)
	case plan.LinkMTU:
		return strconv.Itoa(l.mtu), nil
	case plan.LinkState:
		if l.up {
			return plan.Up, nil
		}
		return plan.Down, nil
	}
	if l.master == 0 {
		return plan.NoMaster, nil
	}
	return linkName(l.master)
}

func readSysctl(key string) (string, error) {
	values, err := sysctl.Read(key)
	if err != nil {
		return "", err
	}
	for _, v := range values {
		return v.Value, nil
	}
	return "", fs.ErrNotExist
}

// inNamespace reports whether the calling thread is in another network
// namespace than the machine's first process. Who may not look there is taken
// to be inside: then global keys are refused.
func inNamespace() (bool, error) {
	own, err := os.Readlink("/proc/thread-self/ns/net")
	if err != nil {
		return true, fmt.Errorf("find own namespace: %w", err)
	}
	first, err := os.Readlink("/proc/1/ns/net")
	return err != nil || own != first, nil
}

// explain adds the step to an error and turns the errno values that mean a
// precondition into words (bond_opt_check_deps, bond_options.c).
func explain(verb string, s plan.Step, err error) error {
	var errno syscall.Errno
	if errors.As(err, &errno) {
		bond := s.Kind == plan.BondOption && verb == "set"
		switch {
		case errno == syscall.ENODEV:
			err = fmt.Errorf("link %s: %w", s.Link, fs.ErrNotExist)
		case bond && errno == syscall.EACCES:
			return &PreconditionError{s, "the bond's mode does not take it (EACCES)"}
		case bond && errno == syscall.EBUSY:
			return &PreconditionError{s, "the bond is up (EBUSY)"}
		case bond && errno == syscall.ENOTEMPTY:
			return &PreconditionError{s, "the bond has slaves (ENOTEMPTY)"}
		}
	}
	if verb == "set" {
		return fmt.Errorf("set %s to %s: %w", s.Target(), s.New, err)
	}
	return fmt.Errorf("%s %s: %w", verb, s.Target(), err)
}
