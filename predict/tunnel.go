package predict

// tunnelUses corrects how attachments spread flows that all come to them inside
// a tunnel: hashes see the outer packet.
func (w *way) tunnelUses() {
	for i := range w.out.uses {
		if w.tunnelled(i, legOut) {
			w.out.uses[i] = w.out.uses[i].ofOuter()
		}
	}
	for i := range w.in.uses {
		if w.tunnelled(i, legIn) {
			w.in.uses[i] = w.in.uses[i].ofOuter()
		}
	}
}

// tunnelled reports an attachment that every leg through it uses from inside a
// tunnel.
func (w *way) tunnelled(at int, end legEnd) bool {
	some := false
	for _, l := range w.legs {
		if n, _ := end(l); n == at {
			if l.outer == 0 {
				return false
			}
			some = true
		}
	}
	return some
}

// ofOuter is what a hash makes of a tunnel's packets. VXLAN's outer source port
// is a hash of the packet inside with a secret seed (udp_flow_src_port,
// include/net/udp.h), so that ports decide but nobody can choose; its outer
// addresses are the same for every flow between two hosts. The flow dissector
// does not look into VXLAN, whatever the policy.
func (u use) ofOuter() use {
	switch u.spread {
	case byPort:
		u.spread, u.outer, u.why = byChance, true, u.why+"; inside VXLAN the outer port is the kernel's own hash"
	case byAddress:
		u.spread, u.hash = onePort, nil
		u.why += "; inside VXLAN every flow has the tunnel's own addresses"
	}
	return u
}
