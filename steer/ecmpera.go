package steer

import "fmt"

// MultipathEra is a span of kernels that choose among next hops alike. Zero is
// current kernels. Larger is older.
type MultipathEra uint8

// The eras, newest first.
const (
	// MultipathScored is 6.18.4, 6.19 and newer: for IPv4 sockets a leg whose
	// own address the flow is sent from comes before the hash (commit
	// 6e17474aa9fe).
	MultipathScored MultipathEra = iota
	// MultipathSourceFirst is 6.16 to 6.18.3: the same, but a flow from an
	// address of none of the legs always takes the last (commit 32607a332cfe).
	MultipathSourceFirst
	// MultipathHashed is 5.14 to 6.15 and the stable kernels of late 2022: the
	// hash alone; addresses and ports are put in order apart from each other
	// (commit 1e60cebf8294).
	MultipathHashed
	// MultipathJoint is before: addresses and ports change places together.
	MultipathJoint
)

// multipathEras is the one table of era names, indexed by era.
var multipathEras = [...]string{"6.18.4 and newer", "6.16 to 6.18.3", "5.14 to 6.15", "5.13 and older"}

// String names the kernels of the era.
func (e MultipathEra) String() string {
	if int(e) < len(multipathEras) {
		return multipathEras[e]
	}
	return fmt.Sprintf("unknown-%d", uint8(e))
}

// OfKernel is the route on a kernel of that release. One that cannot be read as numbers
// leaves every era from 5.14 on in doubt.
func (m Multipath) OfKernel(release string) Multipath {
	m.Era, m.Doubt = MultipathScored, []MultipathEra{MultipathSourceFirst, MultipathHashed}
	if eras := MultipathErasOf(release); eras != nil {
		m.Era, m.Doubt = eras[0], eras[1:]
	}
	return m
}

// MultipathErasOf returns every era that a kernel release may belong to,
// likeliest first; nil when it cannot be read as numbers. More than one means
// doubt, as with ErasOf.
func MultipathErasOf(release string) []MultipathEra {
	major, minor, patch, rest, ok := splitRelease(release)
	if !ok {
		return nil
	}
	version := major*1000 + minor
	hidden := patch == 0 && len(rest) > 1 && rest[0] == '-' && rest[1] >= '0' && rest[1] <= '9'
	var literal MultipathEra
	switch {
	case version >= 6019:
		return []MultipathEra{MultipathScored}
	case version == 6018 && (hidden || patch == 3 || patch == 4 || patch == 5):
		// Which point release took the correction is known to within two.
		return []MultipathEra{MultipathScored, MultipathSourceFirst}
	case version == 6018 && patch > 5:
		return []MultipathEra{MultipathScored}
	case version >= 6016:
		literal = MultipathSourceFirst
	case version >= 5014:
		literal = MultipathHashed
	default:
		// Stable kernels took the new order in late 2022.
		return []MultipathEra{MultipathJoint, MultipathHashed}
	}
	eras := []MultipathEra{literal}
	if backports(rest) || hidden && literal == MultipathSourceFirst {
		for e := int(literal) - 1; e >= 0; e-- {
			eras = append(eras, MultipathEra(e))
		}
	}
	return eras
}
