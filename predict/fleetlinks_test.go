package predict

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict/testfabric"
)

// fanIn is a store with four links and clients whose MAC addresses end as
// given; the switch hashes MAC addresses.
func fanIn(ends ...byte) Fabric {
	f := star(len(ends))
	store := testfabric.Bond{Name: "store", Addrs: []string{"10.0.0.1/24"}, Ports: 4, Speed: 1e9, Mode: netstate.LACP, Policy: netstate.Layer2, Mtu: 1500, Kernel: "6.1"}.Host()
	i := slices.IndexFunc(store.Links, func(l netstate.Link) bool { return l.Name == "bond0" })
	store.Links[i].MAC = flow.MAC{2, 0, 0, 0, 0, 0xf0}
	f.Hosts["store"] = store
	for i, end := range ends {
		h := f.Hosts[f.Paths[i].From]
		h.Links[0].MAC = flow.MAC{2, 0, 0, 0, 1, end}
		f.Paths[i].SwitchHash = "layer2"
	}
	return f
}

// TestTogetherLinks: what arrives over each link when several hosts send at
// once: by layer2 the last bytes of both MAC addresses and 0x0800 decide, here
// the client's last byte modulo four.
func TestTogetherLinks(t *testing.T) {
	for _, c := range []struct {
		ends []byte
		want []string // streams and links' worth of payload
	}{
		{[]byte{4, 5, 6, 7}, []string{"1 1.00", "1 1.00", "1 1.00", "1 1.00"}},
		{[]byte{4, 8, 6, 2}, []string{"2 1.00", "0 0.00", "2 1.00", "0 0.00"}},
		{[]byte{1}, []string{"0 0.00", "1 1.00", "0 0.00", "0 0.00"}},
	} {
		f := fanIn(c.ends...)
		rows, err := Together(f, all(f, flow.Forward, 1))
		if err != nil {
			t.Fatal(err)
		}
		streams, load := map[string]float64{}, map[string]float64{}
		for _, r := range rows {
			sum := 0.0
			for _, l := range r.TogetherLinks {
				if l.Host == "store" && !l.Transmit {
					streams[l.Link] += l.Streams
					load[l.Link] += float64(l.Load)
					sum += float64(l.Load)
				}
			}
			if !near(r.Together, sum, 1e-9) {
				t.Errorf("%v: %s sends %v, %v of it over links", c.ends, r.From, r.Together, sum)
			}
		}
		var got []string
		for i := range 4 {
			name := fmt.Sprintf("store%d", i)
			got = append(got, fmt.Sprintf("%.0f %.2f", streams[name], load[name]/(1e9*1448/1538)))
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%v (-want +got)\n%s", c.ends, diff)
		}
	}
}
