package trial

import (
	"strings"
	"testing"

	"github.com/linerate/linerate/fabric/topology"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// TestSwitchTrunk: a result that is what a described trunk carries, beside hosts with
// room, is the trunk's.
func TestSwitchTrunk(t *testing.T) {
	p := pair{end: end{links: 1, policy: netstate.Layer34, speed: 25e9}}
	trunk := func(links int, hash string) predict.Fabric {
		f := p.fabric()
		left, right := topology.Switch{Name: "left"}, topology.Switch{Name: "right"}
		for name, s := range map[string]*topology.Switch{"a": &left, "b": &right} {
			for _, l := range f.Hosts[name].Links {
				if l.Bond == nil {
					s.Ports = append(s.Ports, topology.Port{Name: "p" + l.Name, Host: name, Link: l.Name})
				}
			}
		}
		c := topology.Channel{Name: "po1", Balance: topology.Balance{Hash: hash}}
		for _, port := range []string{"t0", "t1"}[:links] {
			left.Ports = append(left.Ports, topology.Port{Name: port, Switch: "right", Port: port, Speed: 10e9})
			c.Members = append(c.Members, port)
		}
		left.Channels = []topology.Channel{c}
		net := topology.New([]topology.Switch{left, right})
		for i := range f.Paths {
			f.Paths[i].RTT, f.Paths[i].Switches = 0, net
		}
		return f
	}
	for _, c := range []struct {
		name  string
		f     predict.Fabric
		scale float64 // of the predicted rate
		cause record.Cause
		words string // of the remedy; "" it is not the trunk's
	}{
		{"MAC addresses over two links", trunk(2, "layer2"), 1, record.SingleLink, "switch left"},
		{"one link", trunk(1, "layer2"), 0.98, record.LineRate, "switch left: t0"},
		{"far below what it carries", trunk(2, "layer2"), 0.6, "", ""},
	} {
		predicted, err := predict.Predict(c.f, predict.Traffic{From: "a", To: "b", Direction: forward, Streams: 4})
		if err != nil {
			t.Fatal(err)
		}
		slower := predicted
		slower.Rate *= unit.BitRate(c.scale)
		slower.Links = append([]predict.LinkShare(nil), predicted.Links...)
		for i := range slower.Links {
			slower.Links[i].Load *= unit.BitRate(c.scale)
		}
		got := Judge(c.f, synthesised(c.f, slower))
		if c.words == "" && strings.Contains(got.Remedy, "switch left") || c.words != "" && (got.Cause != c.cause || !strings.Contains(got.Remedy, c.words)) {
			t.Errorf("%s: %s (%s; %s), predicted %v of %v", c.name, got.Cause, got.Summary, got.Remedy, predicted.Rate, predicted.Ceiling)
		}
		if c.cause == record.SingleLink && got.Expected < predicted.Rate*3/2 {
			t.Errorf("%s: %v expected with both links in use, of %v", c.name, got.Expected, predicted.Ceiling)
		}
	}
}
