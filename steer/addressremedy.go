package steer

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/linerate/linerate/netstate"
)

// RemedyFor says what would let addresses, or ports, use all links of a
// spreader that they cannot spread over now.
func RemedyFor(s Spreader) string {
	if n := len(s.Links()); n == 1 {
		return "bring up or add a second link"
	}
	b, ok := BundleIn(s)
	switch {
	case s.Reach().Striped && ok:
		return "none is needed: one address uses every link; for packets in order use 802.3ad or balance-xor with layer2+3 or layer3+4"
	case s.Reach().Striped:
		return "none is needed: one address uses every link; for packets in order use a mode that hashes"
	case ok:
		return b.remedy()
	}
	switch s := s.(type) {
	case Remedied:
		return s.Remedy()
	case EtherChannel:
		switch {
		case s.Mode == ChannelBackup:
			return "list the adapters as primary ones (adapter_names) with mode=8023ad or standard"
		case s.Hash == ChannelHashDefault:
			return "choose addresses of the side that receives, or chdev -l entX -a hash_mode=src_dst_port and choose source ports"
		}
		return "choose source ports (linerate steer pick), or chdev -l entX -a hash_mode=default for addresses"
	case Lagg:
		switch {
		case s.Proto == LaggFailover || s.Proto == LaggBroadcast:
			return "ifconfig laggX laggproto lacp lagghash l3,l4, and LACP on the switch"
		case s.UseFlowID:
			return "ifconfig laggX -use_flowid, or open flows and look where they go (linerate steer probe)"
		case !s.Hash.has(LaggL3):
			return "ifconfig laggX lagghash l3,l4"
		}
		if bits.OnesCount(uint(len(s.Ports))) == 1 {
			break // what can be told of it without looking has been told
		}
		return "use 2, 4 or 8 ports, for which the sharing can be told, or open flows and look where they go (linerate steer probe)"
	}
	return "open flows and look where they go (linerate steer probe)"
}

func (b Bundle) remedy() string {
	switch b.Mode {
	case netstate.ActiveBackup, netstate.Broadcast:
		return fmt.Sprintf("mode %s cannot: use mode 802.3ad (LACP on the switch) or balance-xor, with xmit_hash_policy layer2+3", b.Mode)
	case netstate.BalanceTLB:
		if !b.TLBStatic {
			return "tlb_dynamic_lb=0 makes balance-tlb hash as balance-xor does; with xmit_hash_policy layer2+3 addresses then decide"
		}
	}
	switch b.Policy {
	case netstate.Layer34:
		return "choose source ports (linerate steer pick), or give --sport where the program binds one"
	case netstate.Encap34:
		return "set xmit_hash_policy layer2+3 for addresses, or layer3+4 for ports; both can be set while the bond is up"
	case netstate.Layer23, netstate.Encap23:
		return "give both MAC addresses (--smac, --dmac) and the kernel's release (--kernel)"
	}
	return "set xmit_hash_policy layer2+3, which hashes addresses; it can be set while the bond is up"
}

// remedy says what would mend a choice that is not even, or that cannot tell.
func (req AddressRequest) remedy(views []view, chosen []int) string {
	for i, v := range views {
		if _, even := v.outcome(chosen); even || v.turns && len(v.readings) > 0 {
			continue
		}
		if side, ok := req.otherSide(i, v); ok {
			if req.divides(v) {
				return fmt.Sprintf("choose addresses of both sides: the %s one's divide lanes further", side)
			}
			return fmt.Sprintf("choose addresses of the %s side: they decide here", side)
		}
		return RemedyFor(v.s)
	}
	return ""
}

// divides reports whether the chosen side's addresses matter to any view but
// this one: then both sides are wanted.
func (req AddressRequest) divides(but view) bool {
	pool, _ := req.candidates(16)
	return slices.ContainsFunc(req.views(pool), func(v view) bool { return v.side != but.side && len(v.readings) > 0 && numbers(v.readings[0]) > 1 })
}

// otherSide is the side that is fixed, if its addresses would divide lanes
// that the chosen side's leave together.
func (req AddressRequest) otherSide(i int, v view) (Side, bool) {
	if req.Side == SideBoth || len(v.readings) == 0 || numbers(v.readings[0]) > 1 || !v.s.Reach().Addresses {
		return 0, false
	}
	try := req
	try.Side = SideNear
	if req.Side == SideNear {
		try.Side = SideFar
	}
	if try.Side == SideFar && !try.Src.IsValid() || try.Side == SideNear && !try.Dst.IsValid() {
		return 0, false
	}
	pool, _ := try.candidates(16)
	if w := try.views(pool)[i]; len(w.readings) > 0 && numbers(w.readings[0]) > 1 {
		return try.Side, true
	}
	return 0, false
}

// numbers is how many different ones a reading has.
func numbers(part []int) int {
	seen := map[int]bool{}
	for _, c := range part {
		seen[c] = true
	}
	return len(seen)
}
