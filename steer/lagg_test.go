package steer

import (
	"encoding/binary"
	"hash/fnv"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/linerate/linerate/flow"
)

func laggOf(hash LaggHash, n int, key *uint32) Lagg {
	return Lagg{Proto: LaggLACP, Hash: hash, Ports: Declared(0, n).Ports, Key: key}
}

func macsOn(f flow.Frame) flow.Frame {
	f.SrcMAC, f.DstMAC = flow.MAC{2, 0, 0, 0, 1, 0x11}, flow.MAC{2, 0, 0, 0, 2, 0x22}
	return f
}

// TestLaggHashIsFNV1 compares with the standard library's FNV-1, which starts
// from its own offset: given that as the key, the chain is one hash of all
// bytes in the order of the headers.
func TestLaggHashIsFNV1(t *testing.T) {
	key := uint32(2166136261) // FNV offset basis
	f := macsOn(tcpFrame("192.168.10.1", "192.168.10.2", 40000, 5201))
	wire := append(append([]byte{}, f.SrcMAC[:]...), f.DstMAC[:]...)
	wire = append(append(wire, 192, 168, 10, 1), 192, 168, 10, 2)
	wire = binary.BigEndian.AppendUint16(wire, 40000)
	wire = binary.BigEndian.AppendUint16(wire, 5201)
	for _, c := range []struct {
		hash  LaggHash
		bytes []byte
	}{
		{0, wire}, {LaggL2 | LaggL3 | LaggL4, wire}, {LaggL2, wire[:12]}, {LaggL3, wire[12:20]},
		{LaggL4, wire[20:]}, {LaggL3 | LaggL4, wire[12:]}, {LaggL2 | LaggL3, wire[:20]},
	} {
		h := fnv.New32()
		h.Write(c.bytes)
		p := laggOf(c.hash, 3, &key).Place(f)
		if !p.Known || *p.Hash != h.Sum32() || p.Index != int(h.Sum32()%3) {
			t.Errorf("lagghash %s: %+v, want hash %#x", c.hash, p, h.Sum32())
		}
	}
}

func TestLaggSaysWhatItCannot(t *testing.T) {
	f := macsOn(tcpFrame("192.168.10.1", "192.168.10.2", 40000, 5201))
	f6 := macsOn(tcpFrame("fd00::1", "fd00::2", 40000, 5201))
	fragment := f
	fragment.Fragment = true
	key := uint32(7)
	flowID := laggOf(0, 2, &key)
	flowID.UseFlowID = true
	for _, c := range []struct {
		name  string
		lagg  Lagg
		frame flow.Frame
		want  string
	}{
		{"no key", laggOf(0, 2, nil), f, "random number"},
		{"IPv6 with l4", laggOf(0, 2, &key), f6, "flow label"},
		{"a fragment with l4", laggOf(0, 2, &key), fragment, "fragments"},
		{"use_flowid", flowID, f, "card"},
		{"l2 without MAC", laggOf(0, 2, &key), tcpFrame("10.0.0.1", "10.0.0.2", 1, 2), "MAC"},
		{"roundrobin", Lagg{Proto: LaggRoundRobin, Ports: []string{"a", "b"}}, f, "rotates"},
		{"no ports", Lagg{Proto: LaggLACP}, f, "no usable link"},
	} {
		if p := c.lagg.Place(c.frame); p.Known || !strings.Contains(p.Why, c.want) {
			t.Errorf("%s: known %v, why %q, want unknown with %q", c.name, p.Known, p.Why, c.want)
		}
	}
	if p := (Lagg{Ports: []string{"a", "b"}}).Place(f); !p.Known || p.Index != 0 {
		t.Errorf("failover: %+v, want the first port", p)
	}
	if p := laggOf(LaggL3, 2, &key).Place(f6); !p.Known {
		t.Errorf("IPv6 with l3 alone: %+v, want known", p)
	}
}

// TestLaggGroupsHoldForEveryKey checks what Groups claims without the key
// against what Place says with many keys.
func TestLaggGroupsHoldForEveryKey(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	claims := 0
	for range 300 {
		n := 2 << random.IntN(3)
		l := laggOf(LaggHash(random.IntN(8)), n, nil)
		frames := make([]flow.Frame, 2+random.IntN(5))
		for i := range frames {
			frames[i] = macsOn(tcpFrame("10.0.0.1", "10.0.0.2", 40000+uint16(random.IntN(1000)), 5201))
		}
		groups, known, why := l.Groups(frames)
		if !known {
			if n == 2 {
				t.Fatalf("lagghash %s over 2 ports: not known: %s", l.Hash, why)
			}
			continue
		}
		claims++
		for range 50 {
			key := random.Uint32()
			keyed := laggOf(l.Hash, n, &key)
			got := make([]int, len(frames))
			for i, f := range frames {
				got[i] = keyed.Place(f).Index
			}
			if diff := cmp.Diff([][]int{groups}, Distinct([][]int{got})); diff != "" {
				t.Fatalf("lagghash %s, %d ports, key %#x: groups differ (-claimed +computed):\n%s", l.Hash, n, key, diff)
			}
		}
	}
	if claims < 100 {
		t.Errorf("only %d of 300 cases made a claim", claims)
	}
	if _, known, why := laggOf(0, 3, nil).Groups([]flow.Frame{macsOn(tcpFrame("10.0.0.1", "10.0.0.2", 1, 2))}); known || !strings.Contains(why, "3 ports") {
		t.Errorf("3 ports: known %v, %q", known, why)
	}
}
