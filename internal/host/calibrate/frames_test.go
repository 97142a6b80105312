package calibrate

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/steer"
)

var bondMAC = flow.MAC{2, 0, 0, 0, 0, 7}

// Whatever the number of ports, the frames that are sent can be enough: with
// room for one in two that other traffic hides, each seen twice.
func TestEnoughCanBeSeen(t *testing.T) {
	for ports := 2; ports <= 256; ports++ {
		all, need := len(flows(bondMAC, ports)), enough(ports)
		if need < 4 || need > all || 2*need > mostFrames {
			t.Errorf("%d ports: %d of %d frames are to be placed with %d sent", ports, need, all, mostFrames)
		}
	}
}

// The frames tell eras apart on every number of ports, and a bond of which
// nothing can be told is known before they are sent.
func TestFramesTellEras(t *testing.T) {
	for ports := 2; ports <= 32; ports++ {
		for _, policy := range netstate.HashPolicies() {
			b := steer.Declared(policy, ports)
			can, why := b.TellsEras(flows(bondMAC, ports))
			want := map[netstate.HashPolicy]string{netstate.Encap34: "random number", netstate.VLANSrcMAC: "nothing to find out"}[policy]
			if can != (want == "") || !strings.Contains(why, want) {
				t.Errorf("%s over %d ports: %t, %q, want %q", policy, ports, can, why, want)
			}
		}
	}
}

// What is on the wire is the frame that it was made from, field by field where
// RFC 791 and RFC 8200 have them.
func TestEncodesFrames(t *testing.T) {
	for _, f := range flows(bondMAC, 8) {
		wire, etherType := encode(f)
		want := [][]byte{f.DstMAC[:], f.SrcMAC[:], binary.BigEndian.AppendUint16(nil, etherType)}
		at := []int{0, 6, 12}
		if f.Src.IsValid() {
			proto, src, dst, ports := 23, 26, 30, 34
			if f.Src.Is6() {
				proto, src, dst, ports = 20, 22, 38, 54
			}
			at = append(at, proto, src, dst, ports)
			want = append(want, []byte{byte(f.Proto)}, f.Src.AsSlice(), f.Dst.AsSlice(), binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint16(nil, f.Sport), f.Dport))
		}
		for i, field := range want {
			if got := wire[at[i]:][:len(field)]; !bytes.Equal(got, field) {
				t.Errorf("%+v (EtherType %#x): % x at %d, want % x", f, etherType, got, at[i], field)
			}
		}
	}
}
