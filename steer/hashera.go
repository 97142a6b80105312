package steer

import (
	"fmt"
	"strconv"
	"strings"
)

// Era is a span of kernels whose bonding driver hashes alike
// (drivers/net/bonding/bond_main.c, bond_xmit_hash and its ancestors). Zero is
// current kernels. Larger is older.
type Era uint8

// The eras, newest first.
const (
	// EraCurrent is 5.18 and newer, 5.17.6+ and 5.15.38+: only layer3+4 and
	// encap3+4 drop the lowest hash bit (commit 49aefd131739).
	EraCurrent Era = iota
	// EraHostProto is 5.15.0-5.15.37, 5.16 and 5.17.0-5.17.5: the ethertype
	// entered the hash in host byte order; every layer 3 policy drops a bit.
	// Before 5.15.18 and 5.16.4 (commit 429e3d123d9a) layer3+4 and the encap
	// policies read headers at a wrong offset: there no placement by them
	// holds, and Hash says so.
	EraHostProto
	// EraShifted is 5.12-5.14, 5.11.11+ and 5.10.27+: every layer 3 policy
	// drops the lowest hash bit; ethertype in network order; the ICMP
	// identifier in host order (commit a25f82228542).
	EraShifted
	// EraRawID is 5.5-5.11.10: as EraShifted, the ICMP identifier in network
	// order. ICMP echoes and errors have hashes of their own since 5.5 (commit
	// 58deb77cc52d).
	EraRawID
	// EraNoICMP is 4.15-5.4 and the stable kernels of late 2017: as EraRawID,
	// and of ICMP only the addresses count.
	EraNoICMP
	// EraRawProto is 3.17-4.14.0: ethertype in network order, no bit dropped.
	EraRawProto
	// EraNoProto is 3.13-3.16: one hash for all policies, without ethertype.
	EraNoProto
	// EraSeparate is 3.12 and older: one function per policy, 16 bits of the
	// IPv4 addresses, ports of TCP and UDP only.
	EraSeparate
)

// eraWords is the one table of era names, indexed by era.
var eraWords = [...]string{
	"5.18 and newer", "5.15.0 to 5.17.5", "5.10 to 5.14", "5.5 to 5.11.10", "4.15 to 5.4", "3.17 to 4.14", "3.13 to 3.16", "3.12 and older",
}

// Eras lists every era, newest first.
func Eras() []Era {
	all := make([]Era, len(eraWords))
	for i := range all {
		all[i] = Era(i)
	}
	return all
}

// String names the kernels of the era.
func (e Era) String() string {
	if int(e) < len(eraWords) {
		return eraWords[e]
	}
	return fmt.Sprintf("unknown-%d", uint8(e))
}

// ErasOf returns every era that a kernel release may belong to, likeliest
// first; nil when it cannot be read as numbers. More than one means doubt:
// enterprise kernels keep an old number and take newer drivers, and Ubuntu's
// and Debian's "5.15.0-105" hides the stable point release.
func ErasOf(release string) []Era {
	major, minor, patch, rest, ok := splitRelease(release)
	if !ok {
		return nil
	}
	literal := mainline(major, minor, patch)
	if backports(rest) {
		eras := []Era{literal}
		for e := int(literal) - 1; e >= 0; e-- {
			eras = append(eras, Era(e))
		}
		return eras
	}
	hidden := patch == 0 && len(rest) > 1 && rest[0] == '-' && isDigit(rest[1])
	switch series := [2]int{major, minor}; {
	case hidden && (series == [2]int{5, 15} || series == [2]int{5, 17}):
		return []Era{EraCurrent, EraHostProto}
	case hidden && major == 5 && minor >= 5 && minor <= 9:
		return []Era{EraRawID, EraShifted}
	case hidden && series == [2]int{5, 11}:
		return []Era{EraShifted, EraRawID}
	case hidden && series == [2]int{4, 14}:
		return []Era{EraNoICMP, EraRawProto}
	case series == [2]int{4, 9}:
		return longTerm(patch, 60, 100, hidden)
	case series == [2]int{4, 4}:
		return longTerm(patch, 95, 120, hidden)
	}
	return []Era{literal}
}

// mainline is the era of a kernel.org release.
func mainline(major, minor, patch int) Era {
	version := major*1000 + minor
	switch {
	case version >= 5018, version == 5017 && patch >= 6, version == 5015 && patch >= 38:
		return EraCurrent
	case version >= 5015:
		return EraHostProto
	case version >= 5012, version == 5011 && patch >= 11, version == 5010 && (patch == 0 || patch >= 27):
		return EraShifted // 5.10 alone names a series that lives at its end
	case version >= 5005:
		return EraRawID
	case version >= 4015, version == 4014 && patch >= 1:
		return EraNoICMP
	case version >= 3017:
		return EraRawProto
	case version >= 3013:
		return EraNoProto
	}
	return EraSeparate
}

// longTerm is the eras of a long-term series that took the dropped bit in late
// 2017: before the point release last it had not, from first on it had; the
// exact point release lies between.
func longTerm(patch, last, first int, hidden bool) []Era {
	switch {
	case hidden || patch >= last && patch < first:
		return []Era{EraNoICMP, EraRawProto}
	case patch >= first:
		return []Era{EraNoICMP}
	}
	return []Era{EraRawProto}
}

// backports reports a vendor that keeps a kernel's number and takes newer
// drivers: Red Hat and its kin (.el8), Oracle (uek), SUSE, openEuler, Alibaba
// (.al8), Anolis (.an8), Tencent (.tl3, -tlinux4). Amazon's (.amzn2) follow the
// stable series.
func backports(rest string) bool {
	for _, mark := range []string{".el", "uek", "-default", ".oe", "-tlinux"} {
		if strings.Contains(rest, mark) {
			return true
		}
	}
	for _, mark := range []string{".al", ".an", ".tl"} {
		if _, after, found := strings.Cut(rest, mark); found && after != "" && isDigit(after[0]) {
			return true
		}
	}
	return suse(rest)
}

// suse reports SUSE's numbering of whatever flavour, "-150500.33.54-azure":
// numbers with dots between the dashes, where others have one number or words.
func suse(rest string) bool {
	build, flavour, found := strings.Cut(strings.TrimPrefix(rest, "-"), "-")
	if !found || flavour == "" || !strings.Contains(build, ".") {
		return false
	}
	for i := range len(build) {
		if !isDigit(build[i]) && build[i] != '.' {
			return false
		}
	}
	return isDigit(build[0])
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// splitRelease reads "5.15.0-105-generic" as 5, 15, 0 and "-105-generic"; a
// missing patch level is zero.
func splitRelease(release string) (major, minor, patch int, rest string, ok bool) {
	major, rest, ok = leadingNumber(release)
	if !ok || !strings.HasPrefix(rest, ".") {
		return 0, 0, 0, "", false
	}
	minor, rest, ok = leadingNumber(rest[1:])
	if !ok {
		return 0, 0, 0, "", false
	}
	if strings.HasPrefix(rest, ".") {
		if p, after, isNumber := leadingNumber(rest[1:]); isNumber {
			patch, rest = p, after
		}
	}
	return major, minor, patch, rest, true
}

// leadingNumber reads up to four digits: no kernel has more, and longer
// numbers are no releases.
func leadingNumber(s string) (n int, rest string, ok bool) {
	end := 0
	for end < len(s) && isDigit(s[end]) {
		end++
	}
	if end == 0 || end > 4 {
		return 0, s, false
	}
	n, err := strconv.Atoi(s[:end])
	return n, s[end:], err == nil
}
