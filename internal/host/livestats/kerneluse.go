package livestats

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/advise/workload"
	"github.com/linerate/linerate/internal/kernel/procfs"
)

// service is what the kernel itself serves or uses over TCP. Its sockets have
// no program.
type service struct {
	ports []flow.PortRange // of the server (IANA's, or the kernel's default)
	name  string
	kinds []string // of file systems
}

func (s service) has(port uint16) bool {
	return slices.ContainsFunc(s.ports, func(r flow.PortRange) bool { return port >= r.First && port <= r.Last })
}

// services are the workloads of the kernel's, and what is none of them.
func services() []service {
	all := []service{
		{[]flow.PortRange{{First: 988, Last: 988}}, "Lustre", nil},
		{[]flow.PortRange{{First: 564, Last: 564}}, "9P", []string{"9p"}},
	}
	for _, w := range workload.Programs() {
		if w.Kernel {
			all = append(all, service{w.Ports, w.Protocol, w.Mounts})
		}
	}
	return all
}

// kernelUse says what the kernel uses a connection for: "NFS mount /data of
// 10.0.0.2", "NFS server", or "" where neither ports nor mounts tell. Mounted
// is set when there is a mount of that server.
func kernelUse(t flow.Tuple, mounts []procfs.Mount) (use string, mounted bool) {
	all := services()
	for _, s := range all {
		if s.has(t.Dport) {
			return s.client(t.Dst, mounts)
		}
	}
	for _, s := range all {
		if s.has(t.Sport) {
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
