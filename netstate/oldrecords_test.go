package netstate

import (
	"encoding/json"
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestLinkOfOldRecords: what records before tunnels of all kinds called vxlan is the
// tunnel that it was, and everything beside it is read; what is written is read alike.
func TestLinkOfOldRecords(t *testing.T) {
	want := Link{Name: "vx0", Kind: "vxlan", MTU: 1450, Tunnel: &Tunnel{Kind: "vxlan", ID: 42, Lower: "bond0", Remote: netip.MustParseAddr("192.0.2.2")}}
	for name, text := range map[string]string{
		"old": `{"name":"vx0","kind":"vxlan","mtu_bytes":1450,"vxlan":{"id":42,"lower":"bond0","remote":"192.0.2.2"}}`,
		"new": `{"name":"vx0","kind":"vxlan","mtu_bytes":1450,"tunnel":{"kind":"vxlan","id":42,"lower":"bond0","remote":"192.0.2.2"}}`,
	} {
		var got Link
		if err := json.Unmarshal([]byte(text), &got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b netip.Addr) bool { return a == b })); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	again, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got Link
	if err := json.Unmarshal(again, &got); err != nil || got.Tunnel == nil || *got.Tunnel != *want.Tunnel || got.MTU != 1450 {
		t.Errorf("%s: %+v, %v", again, got, err)
	}
	if err := json.Unmarshal([]byte(`{"name": 7}`), &got); err == nil {
		t.Error("a name that is a number is taken")
	}
}
