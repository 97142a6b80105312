package onswitch

import (
	"strings"
	"testing"

	"github.com/linerate/linerate/fabric/topology"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// counted is what two switches say of a trunk of two links between hosts a and b, in bit/s
// that left sent by each.
func counted(t0, t1 unit.BitRate) record.Trial {
	port := func(name, host, sw string, tx unit.BitRate) record.PortUse {
		bytes := uint64(tx * 10 / 8)
		zero := uint64(0)
		p := record.PortUse{Port: name, Tx: tx, TxBytes: &bytes, TxDrops: &zero, RxErrors: &zero, Speed: 10 * unit.Gbps}
		if p.Host, p.Switch = host, sw; sw != "" {
			p.Channel = "bond0"
		}
		return p
	}
	back := unit.Mbps // acknowledgements
	return record.Trial{From: "a", To: "b", Switches: []record.SwitchUse{
		{Switch: "right", Source: "snmp", Window: true, Ports: []record.PortUse{port("pb", "b", "", t0+t1), port("t0", "", "left", back), port("t1", "", "left", 0)}},
		{Switch: "left", Source: "snmp", Window: true, Ports: []record.PortUse{port("pa", "a", "", back), port("pc", "c", "", 0), port("t0", "", "right", t0), port("t1", "", "right", t1)}},
	}}
}

func described(hash string) *topology.Network {
	return topology.New([]topology.Switch{
		{Name: "left", Balance: topology.Balance{Hash: hash}, Ports: []topology.Port{{Name: "pa", Host: "a", Link: "e"}, {Name: "t0", Switch: "right", Port: "t0"}, {Name: "t1", Switch: "right", Port: "t1"}},
			Channels: []topology.Channel{{Name: "bond0", Members: []string{"t0", "t1"}}}},
		{Name: "right", Ports: []topology.Port{{Name: "pb", Host: "b", Link: "e"}}},
	})
}

func TestLimit(t *testing.T) {
	const G = unit.Gbps
	for name, c := range map[string]struct {
		t0, t1 unit.BitRate
		flows  int
		hash   string
		cause  record.Cause // "" none
		words  string
	}{
		"one of two by MAC":         {9.8 * G, 0.001 * G, 8, "src-mac", record.SingleLink, "its hash, src-mac, reads nothing"},
		"one of two, hash unknown":  {9.8 * G, 0.001 * G, 8, "", record.HashImbalance, "nobody said"},
		"one of two by ports":       {9.8 * G, 0.5 * G, 8, "layer3+4", record.HashImbalance, "its hash, layer3+4, put them"},
		"one flow":                  {0.001 * G, 9.7 * G, 1, "layer3+4", record.SingleLink, "never splits"},
		"both full":                 {9.8 * G, 9.7 * G, 8, "layer3+4", record.LineRate, "are full"},
		"one of two, far from full": {3 * G, 0.001 * G, 8, "src-mac", "", ""},
		"one full, one half":        {9.8 * G, 5 * G, 3, "layer3+4", "", ""},
	} {
		trial := counted(c.t0, c.t1)
		found, ok := Limit(trial, Flows{From: "a", To: "b", Rate: (c.t0 + c.t1) * 0.95, Count: c.flows, Pairs: 1, Network: described(c.hash)})
		if ok != (c.cause != "") || found.Cause != c.cause || !strings.Contains(found.Summary, c.words) {
			t.Errorf("%s: %v %+v", name, ok, found)
		}
		if ok && (!found.Between || len(found.Evidence) < 2 || !strings.Contains(found.Evidence[0].Source, "SNMP")) {
			t.Errorf("%s: %+v", name, found)
		}
		if !Counted(trial, "a", "b", c.t0+c.t1) {
			t.Errorf("%s: the trunk was counted", name)
		}
	}
	trial := counted(9.8*G, 0)
	if _, ok := Limit(trial, Flows{From: "b", To: "a", Rate: 9 * G, Count: 8}); ok {
		t.Error("the way back is not what the counters show")
	}
	if _, ok := Limit(trial, Flows{From: "c", To: "b", Rate: 30 * G, Count: 8}); ok {
		t.Error("the flows went another way: it sent less than half")
	}
	for i := range trial.Switches {
		for k := range trial.Switches[i].Ports {
			trial.Switches[i].Ports[k].TxBytes = nil
		}
	}
	if _, ok := Limit(trial, Flows{From: "a", To: "b", Rate: 9 * G, Count: 8}); ok || Counted(trial, "a", "b", 9*G) {
		t.Error("what was not read is evidence")
	}
}

func TestLosses(t *testing.T) {
	trial := counted(5*unit.Gbps, 4*unit.Gbps)
	n, few, other := uint64(900), uint64(3), uint64(5000)
	for i := range trial.Switches {
		s := &trial.Switches[i]
		for k := range s.Ports {
			switch p := &s.Ports[k]; s.Switch + " " + p.Port {
			case "left t1":
				p.TxDrops = &n
			case "right t0":
				p.RxErrors = &few
				p.TxDrops = &other // of the other direction
			case "left pc":
				p.TxDrops, p.RxErrors = &other, &other // another host's
			}
		}
	}
	all := Losses(trial, "a", "b")
	if len(all) != 2 || all[0].Port != "t1" || all[0].Damaged || all[1].Port != "t0" || !all[1].Damaged || all[1].Peer != "left" {
		t.Fatalf("%+v", all)
	}
	if w := all[0].Words(); w != "port t1 of switch left dropped 900 frames" {
		t.Error(w)
	}
	if !strings.Contains(all[1].Remedy(), "cable or optic between left and port t0 of switch right") {
		t.Error(all[1].Remedy())
	}
}
