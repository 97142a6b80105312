package steer

import (
	"testing"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
)

// A run of ports is one: consecutive, even where such a run exists, and no
// port to be avoided in it.
func TestPickWindow(t *testing.T) {
	one := []flow.Lane{lane("192.168.10.1", "192.168.10.2")}
	for _, tt := range []struct {
		name  string
		req   PickRequest
		first uint16
		even  bool
	}{
		{"two on two", PickRequest{Near: Declared(netstate.Layer34, 2), Lanes: one, Streams: 2}, 40001, true},
		{"eight on four", PickRequest{Near: Declared(netstate.Layer34, 4), Lanes: one, Streams: 8}, 40000, true},
		{"avoiding", PickRequest{Near: Declared(netstate.Layer34, 2), Lanes: one, Streams: 2, Avoid: []uint16{40002, 40005}}, 40003, true},
		{"another far side", PickRequest{Near: Declared(netstate.Layer34, 2), Far: Declared(netstate.Layer34, 3), Lanes: one, Streams: 6}, 0, true},
		{"four on four", PickRequest{Near: Declared(netstate.Layer34, 4), Lanes: one, Streams: 4, FirstPort: 40000, LastPort: 40100}, 40001, false},
	} {
		p, err := PickWindow(tt.req)
		if err != nil || p.Even != tt.even || len(p.Streams) != tt.req.Streams {
			t.Errorf("%s: %v even %t, %v", tt.name, p.Streams, p.Even, err)
			continue
		}
		if tt.first != 0 && p.Streams[0].Sport != tt.first {
			t.Errorf("%s: begins at %d, want %d", tt.name, p.Streams[0].Sport, tt.first)
		}
		for i, s := range p.Streams {
			if int(s.Sport) != int(p.Streams[0].Sport)+i {
				t.Errorf("%s: port %d is %d", tt.name, i, s.Sport)
			}
			f := flow.Frame{Tuple: s.Tuple(flow.TCP)}
			if got := tt.req.Near.Place(f).Index; got != s.Link {
				t.Errorf("%s: Place says %d, the run %d", tt.name, got, s.Link)
			}
		}
	}
	if _, err := PickWindow(PickRequest{Near: Declared(netstate.Layer34, 2), Lanes: one, Streams: 3, FirstPort: 10, LastPort: 14, Avoid: []uint16{12}}); err == nil {
		t.Error("a run across a port to be avoided")
	}
}
