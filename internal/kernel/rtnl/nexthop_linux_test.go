package rtnl

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/linerate/linerate/internal/kernel/nlattr"
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
	if id, index := decodeNexthop(whole); id != 7 || index != 3 {
		t.Errorf("%d over %d", id, index)
	}
	for n := range whole {
		if id, index := decodeNexthop(whole[:n]); index != 0 {
			t.Errorf("cut at %d: %d over %d", n, id, index)
		}
	}
}
