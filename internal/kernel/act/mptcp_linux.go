package act

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"

	"github.com/linerate/linerate/internal/kernel/mptcp"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/plan"
)

// The limits of MPTCP's path manager that a step sets.
const (
	limitSubflows = "subflows"
	limitAccepted = "add_addr_accepted"
)

// withMPTCP runs do with a socket in the namespace of the calling thread and
// what the path manager is set to.
func withMPTCP(do func(*mptcp.Handle, netstate.MPTCP) error) error {
	h, err := mptcp.Open()
	if err != nil {
		return err
	}
	defer h.Close()
	m, err := h.Read()
	if err != nil {
		return err
	}
	return do(h, m)
}

func setMPTCPLimit(key, value string) error {
	n, err := strconv.Atoi(value)
	if err != nil {
		return fmt.Errorf("MPTCP limit %q: %w", value, fs.ErrInvalid)
	}
	return withMPTCP(func(h *mptcp.Handle, m netstate.MPTCP) error {
		switch key {
		case limitSubflows:
			return h.SetLimits(n, m.AddAddrAccepted)
		case limitAccepted:
			return h.SetLimits(m.Subflows, n)
		}
		return fmt.Errorf("MPTCP limit %q: %w", key, errors.ErrUnsupported)
	})
}

func readMPTCPLimit(key string) (value string, err error) {
	err = withMPTCP(func(_ *mptcp.Handle, m netstate.MPTCP) error {
		switch key {
		case limitSubflows:
			value = strconv.Itoa(m.Subflows)
		case limitAccepted:
			value = strconv.Itoa(m.AddAddrAccepted)
		default:
			return fmt.Errorf("MPTCP limit %q: %w", key, errors.ErrUnsupported)
		}
		return nil
	})
	return value, err
}

// onLink is the endpoint with the index of the link that it names.
func onLink(e *netstate.MPTCPEndpoint) (netstate.MPTCPEndpoint, error) {
	if e == nil || !e.Addr.IsValid() {
		return netstate.MPTCPEndpoint{}, fmt.Errorf("MPTCP endpoint without address: %w", fs.ErrInvalid)
	}
	out := *e
	out.Index = 0
	if e.Link != "" {
		l, err := findLink(e.Link)
		if err != nil {
			return out, fmt.Errorf("link %q: %w", e.Link, missing(err))
		}
		out.Index = l.index
	}
	return out, nil
}

// sameEndpoint compares what a step says; an ID of zero is whichever the
// kernel chose.
func sameEndpoint(have, want netstate.MPTCPEndpoint) bool {
	return have.Addr == want.Addr && have.Port == want.Port && have.Flags == want.Flags && have.Index == want.Index &&
		(want.ID == 0 || have.ID == want.ID)
}

func setMPTCPEndpoint(e *netstate.MPTCPEndpoint, want string) error {
	wanted, err := onLink(e)
	if err != nil {
		return err
	}
	return withMPTCP(func(h *mptcp.Handle, m netstate.MPTCP) error {
		if want == plan.Present {
			return h.Add(wanted)
		}
		for _, have := range m.Endpoints {
			if sameEndpoint(have, wanted) {
				return h.Delete(have)
			}
		}
		return fmt.Errorf("MPTCP endpoint %s: %w", e.Addr, fs.ErrNotExist)
	})
}

func readMPTCPEndpoint(e *netstate.MPTCPEndpoint) (state string, err error) {
	wanted, err := onLink(e)
	if errors.Is(err, fs.ErrNotExist) {
		return plan.Absent, nil // a link that is not there yet has no endpoint
	}
	if err != nil {
		return "", err
	}
	state = plan.Absent
	err = withMPTCP(func(_ *mptcp.Handle, m netstate.MPTCP) error {
		for _, have := range m.Endpoints {
			if sameEndpoint(have, wanted) {
				state = plan.Present
			}
		}
		return nil
	})
	return state, err
}
