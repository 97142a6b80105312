package measure

import (
	"reflect"
	"strings"
	"testing"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// Code 4.1, 4.2, 4.9: all that a spec asks of its traffic is in what is predicted.
// What it does not say stands here: a field that is added has to be thought of.
func TestTrafficOfSpec(t *testing.T) {
	s := Spec{From: "a", To: "b", Direction: flow.Both, Streams: 2, Protocol: "udp", Ports: "kernel",
		Lanes: make([]flow.Lane, 1), Socket: record.Socket{SndBuf: 1 << 20, Congestion: "bbr", Pacing: 5 * unit.Mbps}}
	v := reflect.ValueOf(s.Traffic())
	var missing []string
	for i := range v.NumField() {
		if v.Type().Field(i).IsExported() && v.Field(i).IsZero() {
			missing = append(missing, v.Type().Field(i).Name)
		}
	}
	if names := strings.Join(missing, " "); names != "LoadedRTT Window ChosenOnly" {
		t.Errorf("not taken over: %s", names)
	}
	s.Rate = 8 * unit.Mbps
	if got := s.Traffic().Pace; got != 4*unit.Mbps {
		t.Errorf("8 Mbit/s of 2 streams: %v each", got)
	}
	s.Socket.Congestion, s.Rate = "reno", 0
	if got := s.Traffic(); got.Congestion != "reno" || got.Pace != 5*unit.Mbps {
		t.Errorf("%+v", got)
	}
	if got := (Spec{}).Traffic().Protocol; got != "tcp" {
		t.Errorf("nothing asked: %q", got)
	}
}
