package predict

import "slices"

// The ports that Linux's connect() gives: even ones since 4.2, odd ones are
// left to bind (commit 07f4c90062f8); each 2 to 16 after the one before, since
// 5.18 and the stable kernels of 2022 (__inet_hash_connect, inet_hashtables.c).
// Before, they follow each other by one or two.
const (
	firstPort, lastPort = 32768, 60999 // net.ipv4.ip_local_port_range
	portStep            = 9            // on average
	// portRuns is how many places of the range are looked at.
	portRuns = 48
	// listener is the port that flows are taken to go to.
	listener = 5201
)

// class is the ports of an attachment that flows opened one after the other
// reach together: any of these each, equally likely.
type class struct {
	ports  []int
	weight float64
}

// anywhere is one class of all n ports.
func anywhere(n int) []class { return []class{{ports: anyOf(n).ports, weight: 1}} }

// kernelClasses are the ports that so many flows of a leg reach from the
// sender's bond when the kernel chooses their source ports, by the sender's own
// hash. On most kernels that is every port. Those up to 4.14 hash the ports'
// lowest bit, which is the same in all even ports: flows that are opened
// together all fall on half of the links. And of three links a short run of
// even ports may reach only two.
func (w *way) kernelClasses(l leg, flows int) []class {
	a := w.out.at[l.out]
	n := len(a.ports)
	if w.out.uses[l.out].spread != byPort || a.bundle == nil || flows < 2 || n < 2 {
		return anywhere(n)
	}
	step := 1
	if even, known := w.sender.Kernel.AtLeast(4, 2); even || !known {
		step = 2
	}
	f := w.frame(l)
	f.Dport = listener
	index := a.bundle.BySource(f)
	run := max(portStep*min(flows, 32), 2*n)
	var all []class
	for i := range portRuns {
		first := firstPort + i*(lastPort-run-firstPort)/portRuns&^1
		reached := make([]bool, n)
		missing := n
		for port := first; port < first+run && missing > 0; port += step {
			to := index(uint16(port))
			if to < 0 || to >= n {
				return anywhere(n) // the kernel's release leaves it open
			}
			if !reached[to] {
				reached[to] = true
				missing--
			}
		}
		all = countClass(all, reached)
	}
	for i := range all {
		all[i].weight /= portRuns
	}
	return all
}

func countClass(all []class, reached []bool) []class {
	var ports []int
	for n, is := range reached {
		if is {
			ports = append(ports, n)
		}
	}
	if i := slices.IndexFunc(all, func(c class) bool { return slices.Equal(c.ports, ports) }); i >= 0 {
		all[i].weight++
		return all
	}
	return append(all, class{ports: ports, weight: 1})
}
