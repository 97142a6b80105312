package procfs

import (
	"bytes"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// Mount is a file system that comes over the network.
type Mount struct {
	// Kind is the kernel's word ("nfs4", "cifs", "ceph"), Source what is
	// mounted, Point where.
	Kind, Source, Point string
	// Servers are the addresses that the kernel says it uses, or that stand in
	// the source; none where it names no address.
	Servers []netip.Addr
}

// networkKinds are the file systems that move their bytes over sockets of the
// kernel's own.
var networkKinds = []string{"nfs", "nfs4", "cifs", "smb3", "ceph", "9p", "afs"}

// ParseMounts reads /proc/mounts as far as file systems of the network go, in
// file order. A line that is no mount is left out.
func ParseMounts(text []byte) ([]Mount, error) {
	var all []Mount
	err := lines(text, func(line []byte) error {
		f := strings.Fields(string(line))
		if len(f) < 4 || !slices.Contains(networkKinds, f[2]) {
			return nil
		}
		m := Mount{Source: Unescaped(f[0]), Point: Unescaped(f[1]), Kind: f[2]}
		for option := range strings.SplitSeq(f[3], ",") {
			key, value, _ := strings.Cut(option, "=")
			if a, err := netip.ParseAddr(value); err == nil && key == "addr" {
				m.Servers = append(m.Servers, a.Unmap())
			}
		}
		if len(m.Servers) == 0 {
			m.Servers = sourceAddrs(m.Source)
		}
		all = append(all, m)
		return nil
	})
	return all, err
}

// sourceAddrs are the addresses in a source such as ceph's
// "10.0.0.1:6789,10.0.0.2:6789:/".
func sourceAddrs(source string) (all []netip.Addr) {
	for part := range strings.SplitSeq(source, ",") {
		host, _, _ := strings.Cut(part, ":/")
		if a, err := netip.ParseAddrPort(host); err == nil {
			all = append(all, a.Addr().Unmap())
		} else if a, err := netip.ParseAddr(host); err == nil {
			all = append(all, a.Unmap())
		}
	}
	return all
}

// Unescaped undoes the octal escapes of blanks and backslashes (mangle_path,
// fs/seq_file.c).
func Unescaped(word string) string {
	var b bytes.Buffer
	for i := 0; i < len(word); i++ {
		if word[i] == '\\' && i+4 <= len(word) {
			if n, err := strconv.ParseUint(word[i+1:i+4], 8, 8); err == nil {
				b.WriteByte(byte(n))
				i += 3
				continue
			}
		}
		b.WriteByte(word[i])
	}
	return b.String()
}
