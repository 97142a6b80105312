package corerate

import (
	"errors"
	"fmt"
	"net/netip"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/kernel/netns"
	"github.com/linerate/linerate/internal/kernel/rtnl"
)

// arena is where the traffic runs: a namespace and an address for each end.
type arena struct {
	over, why string
	from, to  end
	release   func()
}

type end struct {
	space netns.Namespace
	addr  netip.Addr
	link  string
}

// The two ends of a veth pair. No routes lead anywhere: the addresses are RFC
// 5737's for documentation, and exist in these namespaces only.
var (
	senderEnd   = netip.MustParsePrefix("192.0.2.1/30")
	receiverEnd = netip.MustParsePrefix("192.0.2.2/30")
)

// openArena makes two namespaces and a veth pair between them; where that is
// not allowed it is the loopback of home, and why says why.
func openArena(home netns.Namespace) arena {
	a, err := vethArena()
	if err == nil {
		return a
	}
	local := end{space: home, addr: netip.AddrFrom4([4]byte{127, 0, 0, 1}), link: "lo"}
	return arena{over: agentapi.OverLoopback, why: err.Error(), from: local, to: local, release: func() {}}
}

func vethArena() (arena, error) {
	a := arena{over: agentapi.OverVeth, from: end{addr: senderEnd.Addr(), link: "veth0"}, to: end{addr: receiverEnd.Addr(), link: "veth0"}}
	var undo []func()
	a.release = func() {
		for _, f := range undo {
			f()
		}
	}
	for _, e := range []*end{&a.from, &a.to} {
		space, letGo, err := netns.Unnamed()
		if err != nil {
			a.release()
			return arena{}, err
		}
		undo = append(undo, letGo)
		e.space = space
	}
	if err := a.cable(); err != nil {
		a.release()
		return arena{}, err
	}
	return a, nil
}

// cable joins the two namespaces.
func (a arena) cable() error {
	from, err := rtnl.OpenBuilder(a.from.space)
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := rtnl.OpenBuilder(a.to.space)
	if err != nil {
		return err
	}
	defer to.Close()
	if err := from.Veth(a.from.link, to, a.to.link); err != nil {
		return fmt.Errorf("make a veth pair: %w", err)
	}
	return errors.Join(
		from.Address(a.from.link, senderEnd), to.Address(a.to.link, receiverEnd),
		from.Up(a.from.link), to.Up(a.to.link))
}
