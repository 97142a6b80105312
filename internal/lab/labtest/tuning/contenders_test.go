package tuning

import (
	"fmt"
	"strings"

	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/unit"
)

// setting is how hosts are and what runs between them. Buffers are those of a
// host whose windows are not scaled; see scaled.
type setting struct {
	policy     netstate.HashPolicy
	mtu        int
	rmem, wmem unit.Bytes // the largest of tcp_rmem and tcp_wmem
	buffer     unit.Bytes // that sockets ask for; zero is none
	congestion string     // of each socket; "" the kernel's
	streams    int
	ports      string // predict.PortsKernel where it is ""
	lanes      int    // the first so many; zero is all
	// more are further sysctls, under /proc/sys/net.
	more map[string]string
}

func (s setting) String() string {
	var b strings.Builder
	plural := "s"
	if s.streams == 1 {
		plural = ""
	}
	fmt.Fprintf(&b, "%d stream%s, MTU %d, rmem %s, wmem %s", s.streams, plural, s.mtu, s.rmem, s.wmem)
	if s.buffer > 0 {
		fmt.Fprintf(&b, ", sockets ask for %s", s.buffer)
	}
	fmt.Fprintf(&b, ", %v", s.policy)
	if s.congestion != "" {
		fmt.Fprintf(&b, ", %s", s.congestion)
	}
	return b.String()
}

func (s setting) portsBy() string {
	if s.ports == "" {
		return predict.PortsKernel
	}
	return s.ports
}

// scaled is a recipe's setting in a scenario whose windows are smaller than
// the kernel's.
func (s setting) scaled(by int) setting {
	n := unit.Bytes(by)
	s.rmem, s.wmem, s.buffer = s.rmem/n, s.wmem/n, s.buffer/n
	return s
}

// asFound is the scenario as somebody found it: one stream, on the first lane.
func asFound(s scenario) setting {
	return setting{policy: s.policy, mtu: usualMTU, rmem: usualRmem, wmem: usualWmem, streams: 1, lanes: 1}.scaled(s.windows)
}

// profile is tuned's network-throughput (2.20, with throughput-performance
// below it): what of it touches traffic. The rest is of processors and disks.
// Four streams, which it says nothing of, are the better of what people run.
func profile(s scenario) setting {
	out := setting{policy: s.policy, mtu: usualMTU, rmem: 16 * unit.MiB, wmem: 16 * unit.MiB, streams: 4}.scaled(s.windows)
	out.more = map[string]string{"core/somaxconn": "2048"}
	return out
}

// research is ESnet's advice for hosts of 10 Gb/s over paths to 100 ms:
// buffers of 32 MB, MTU probing, no metrics kept; its fq needs the place that
// the lab's shaper has, and cannot be laid there.
func research(s scenario) setting {
	out := setting{policy: s.policy, mtu: s.mtu, rmem: 32 * unit.MiB, wmem: 32 * unit.MiB, streams: 4}.scaled(s.windows)
	out.more = map[string]string{"ipv4/tcp_no_metrics_save": "1", "ipv4/tcp_mtu_probing": "1"}
	return out
}

// leastBuffer of a grid's point: below it a stream of large frames stands
// still, on a path of next to no length.
const leastBuffer = 64 * unit.KiB

// grid is the full search: streams {1, 2, 4, 8} x buffers {default, 2 and 4
// bandwidth-delay products} x policy {layer2, layer3+4} x MTU {1500, 9000} x
// {cubic, bbr}. An axis that the scenario has but one point of collapses: the
// policy without a bond that hashes, the MTU behind a switch of 1500.
func grid(s scenario) []setting {
	policies, sizes := []netstate.HashPolicy{netstate.Layer2, netstate.Layer34}, []int{usualMTU, jumbo}
	if !s.hashes() {
		policies = policies[:1]
	}
	if s.mtu < jumbo {
		sizes = sizes[:1]
	}
	found := asFound(s)
	var out []setting
	for _, mtu := range sizes {
		for _, policy := range policies {
			for _, products := range []unit.Bytes{0, 2, 4} {
				point := setting{policy: policy, mtu: mtu, rmem: found.rmem, wmem: found.wmem}
				if products > 0 {
					point.rmem = max(leastBuffer, products*s.bdp())
					point.wmem = point.rmem
				}
				for _, streams := range []int{1, 2, 4, 8} {
					for _, congestion := range []string{"cubic", "bbr"} {
						point.streams, point.congestion = streams, congestion
						out = append(out, point)
					}
				}
			}
		}
	}
	return out
}
