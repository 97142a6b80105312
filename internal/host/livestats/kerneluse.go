package livestats

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/kernel/procfs"
)

// service is what the kernel itself serves or uses over TCP. Its sockets have
// no program.
type service struct {
	first, last uint16 // ports of the server (IANA's, or the kernel's default)
	name        string
	kinds       []string // of file systems
}

// services is the one table of them.
var services = [...]service{
	{2049, 2049, "NFS", []string{"nfs", "nfs4"}},
	{445, 445, "SMB", []string{"cifs", "smb3"}},
	{3260, 3260, "iSCSI", nil},
	{4420, 4420, "NVMe over TCP", nil},
	{3300, 3300, "ceph", []string{"ceph"}},
	{6789, 6789, "ceph", []string{"ceph"}},
	{6800, 7568, "ceph", []string{"ceph"}},
	{7788, 7799, "DRBD", nil},
	{988, 988, "Lustre", nil},
	{564, 564, "9P", []string{"9p"}},
}

// kernelUse says what the kernel uses a connection for: "NFS mount /data of
// 10.0.0.2", "NFS server", or "" where neither ports nor mounts tell. Mounted
// is set when there is a mount of that server.
func kernelUse(t flow.Tuple, mounts []procfs.Mount) (use string, mounted bool) {
	for _, s := range services {
		if t.Dport >= s.first && t.Dport <= s.last {
			return s.client(t.Dst, mounts)
		}
	}
	for _, s := range services {
		if t.Sport >= s.first && t.Sport <= s.last {
			return s.name + " server", false
		}
	}
	return "", false
}

func (s service) client(server netip.Addr, mounts []procfs.Mount) (use string, mounted bool) {
	var points []string
	for _, m := range mounts {
		if slices.Contains(s.kinds, m.Kind) && slices.Contains(m.Servers, server) && !slices.Contains(points, m.Point) {
			points = append(points, m.Point)
		}
	}
	switch len(points) {
	case 0:
		return fmt.Sprintf("%s of %s", s.name, server), false
	case 1:
		return fmt.Sprintf("%s mount %s of %s", s.name, points[0], server), true
	}
	return fmt.Sprintf("%s mounts %s of %s", s.name, strings.Join(points, ", "), server), true
}
