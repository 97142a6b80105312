package piece

import (
	"maps"
	"slices"
	"strings"

	"github.com/linerate/linerate/unit"
)

// MostVLANs is the last VLAN there is (IEEE 802.1Q: twelve bits without 0 and 4095).
const MostVLANs = 4094

// VLANSet is a set of VLANs.
type VLANSet map[int]bool

// VLANsOf are the VLANs of a list as the makers write them: "100,200-210", "100 200 to
// 210", "[ 100 200 ]"; false where it names others than numbers.
func VLANsOf(list string) (VLANSet, bool) {
	out := make(VLANSet)
	f := strings.FieldsFunc(strings.ReplaceAll(list, " - ", "-"), func(r rune) bool { return r == ',' || r == ' ' || r == '[' || r == ']' || r == '\t' })
	for i := 0; i < len(f); i++ {
		from, to, run := strings.Cut(f[i], "-")
		if !run && i+2 < len(f) && f[i+1] == "to" {
			to, run, i = f[i+2], true, i+2
		}
		first, last := Atoi(from), Atoi(to)
		if !run {
			last = first
		}
		if first < 1 || last < first || last > MostVLANs {
			return nil, false
		}
		for n := first; n <= last; n++ {
			out[n] = true
		}
	}
	return out, len(out) > 0
}

// String is the set as a list: "100,200-210".
func (v VLANSet) String() string {
	return strings.Join(unit.Runs(slices.Collect(maps.Keys(v))), ",")
}
