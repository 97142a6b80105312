package rtnl

import (
	"fmt"
	"math/rand/v2"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/linerate/linerate/internal/kernel/nlattr"
	"github.com/linerate/linerate/steer"
)

// TestKernelNexthops: the objects that ip(8) made stand on the links that they
// lead over, and no group or blackhole on any.
func TestKernelNexthops(t *testing.T) {
	inNewNamespace(t, func() error {
		for _, command := range []string{
			"link add lr0 type veth peer name lr1", "link set lr0 up", "link set lr1 up", "link set lo up", "address add 10.9.0.1/24 dev lr0",
			"nexthop add id 3 via 10.9.0.2 dev lr0", "nexthop add id 8 dev lr0", "nexthop add id 4 blackhole", "nexthop add id 10 group 3",
		} {
			if out, err := exec.Command("ip", strings.Fields(command)...).CombinedOutput(); err != nil {
				t.Fatalf("ip %s: %v: %s", command, err, out)
			}
		}
		host, missing, err := read()
		if err != nil || len(missing) > 0 {
			t.Fatalf("%v, missing %q", err, missing)
		}
		for name, want := range map[string][]int{"lr0": {3, 8}, "lr1": nil, "lo": nil} {
			if l, _ := host.Link(name); !slices.Equal(l.NexthopObjects, want) {
				t.Errorf("%s: %v, want %v", name, l.NexthopObjects, want)
			}
		}
		return nil
	})
}

func TestDecodeNexthop(t *testing.T) {
	head := make([]byte, nexthopHead)
	whole := slices.Concat(head, nlattr.Encode(nhaID, n32(7)), nlattr.Encode(nhaOif, n32(3)))
	if o := decodeNexthop(whole); o.id != 7 || o.index != 3 {
		t.Errorf("%+v", o)
	}
	for n := range whole {
		if o := decodeNexthop(whole[:n]); o.index != 0 {
			t.Errorf("cut at %d: %+v", n, o)
		}
	}
}

// TestKernelNexthopGroups, peers 12n: a route over a group of nexthop objects is placed
// as the kernel places it, 500 flows of each family; a resilient group's is not known.
// Without the compatible mode the kernel names the object alone.
func TestKernelNexthopGroups(t *testing.T) {
	weights := []int{1, 2, 3}
	for _, compatible := range []string{"1", "0"} {
		inNamespaceWithLegs(t, weights, func() error {
			if noSeed() {
				t.Skipf("this kernel has no %s: nothing can be computed, only asked", seedKey)
			}
			if err := setHash(steer.MultipathL4, 0, 12345); err != nil {
				return err
			}
			ip(t, "sysctl -q -w net.ipv4.nexthop_compat_mode="+compatible)
			for _, ipv6 := range []bool{false, true} {
				base := map[bool]int{false: 10, true: 20}[ipv6]
				group := ""
				for i, weight := range weights {
					ip(t, fmt.Sprintf("ip nexthop add id %d via %s dev leg%d", base+i, legAddress(ipv6, i, 2), i))
					group += fmt.Sprintf("/%d,%d", base+i, weight)
				}
				to := farPrefix[ipv6]
				ip(t, fmt.Sprintf("ip nexthop add id %d group %s", base+8, group[1:]))
				ip(t, fmt.Sprintf("ip route del %s", to))
				ip(t, fmt.Sprintf("ip route add %s nhid %d", to, base+8))
				m, err := observedRoute(ipv6)
				if err != nil {
					return err
				}
				equal, err := compare(rand.New(rand.NewPCG(3, 4)), m, ipv6, len(weights), 500)
				if err != nil || equal != 500 {
					t.Errorf("%s, compatible mode %s: %d of 500: %v: %+v", familyName(ipv6), compatible, equal, err, m)
				}
				ip(t, fmt.Sprintf("ip nexthop add id %d group %s type resilient buckets 32", base+9, group[1:]))
				ip(t, fmt.Sprintf("ip route replace %s nhid %d", to, base+9))
				if m, err = observedRoute(ipv6); err != nil {
					return err
				}
				if len(m.Hops) != len(weights) || !strings.Contains(m.Opaque, "resilient") {
					t.Errorf("%s, a resilient group: %+v", familyName(ipv6), m)
				}
			}
			return nil
		})
	}
}

func ip(t *testing.T, command string) {
	t.Helper()
	words := strings.Fields(command)
	if out, err := exec.Command(words[0], words[1:]...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v: %s", command, err, out)
	}
}
