package campaign

import (
	"net/netip"
	"testing"
	"time"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/run/measure"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// TestJudgeByTheTrialsOwnFlags (code 4.2): the prediction that is kept beside a trial
// is that of the trial's own congestion control, pace and addresses.
func TestJudgeByTheTrialsOwnFlags(t *testing.T) {
	host := func(n string, addr string) netstate.Host {
		return netstate.Host{Name: n, Kernel: netstate.Kernel{OS: "linux", Release: "6.1.0"}, Links: []netstate.Link{{Name: "eth0", MTU: 1500, Up: true, Carrier: true, Speed: 10 * unit.Gbps, Addresses: []netip.Prefix{netip.MustParsePrefix(addr)}}},
			Sysctls: map[string]netstate.Sysctl{"net.ipv4.tcp_rmem": {Value: "4096 131072 536870912"}, "net.ipv4.tcp_wmem": {Value: "4096 131072 536870912"}, "net.ipv4.tcp_congestion_control": {Value: "cubic"}, "net.ipv4.tcp_adv_win_scale": {Value: "1"}}}
	}
	f := predict.Fabric{Hosts: map[string]netstate.Host{"a": host("a", "10.0.0.1/24"), "b": host("b", "10.0.0.2/24")}, Paths: []fabric.Path{{From: "a", To: "b", RTT: 40 * time.Millisecond, Loss: 0.001}}}
	for n, last := range map[string]string{"a": "1", "b": "2"} { // a second lane, a hundredth as fast
		h := f.Hosts[n]
		h.Links = append(h.Links, netstate.Link{Name: "eth1", MTU: 1500, Up: true, Carrier: true, Speed: 10 * unit.Mbps, Addresses: []netip.Prefix{netip.MustParsePrefix("10.0.1." + last + "/24")}})
		f.Hosts[n] = h
	}
	rates := map[string]unit.BitRate{}
	ask := func(change func(*measure.Spec, *predict.Traffic)) (kept, own unit.BitRate) {
		spec := measure.Spec{From: "a", To: "b", Direction: flow.Forward, Streams: 1, Protocol: "tcp", Ports: "chosen"}
		tr := predict.Traffic{From: "a", To: "b", Direction: flow.Forward, Streams: 1, Protocol: "tcp", Ports: "chosen"}
		change(&spec, &tr)
		c := &Campaign{cfg: Config{Tell: func(Event) {}, Now: time.Now}, state: f}
		var trial record.Trial
		trial.From, trial.To, trial.Direction, trial.Streams = "a", "b", flow.Forward, 1
		c.judge(t.Context(), &trial, spec)
		p, err := predict.Predict(f, tr)
		if err != nil {
			t.Fatal(err)
		}
		return trial.Predicted, p.Rate
	}
	for name, change := range map[string]func(*measure.Spec, *predict.Traffic){
		"one lane of two": func(s *measure.Spec, tr *predict.Traffic) {
			s.Lanes = []flow.Lane{{Src: netip.MustParseAddr("10.0.1.1"), Dst: netip.MustParseAddr("10.0.1.2")}}
			tr.Lanes = s.Lanes
		},
		"nothing asked":    func(*measure.Spec, *predict.Traffic) {},
		"--congestion bbr": func(s *measure.Spec, tr *predict.Traffic) { s.Socket.Congestion, tr.Congestion = "bbr", "bbr" },
		"--rate-limit 8M":  func(s *measure.Spec, tr *predict.Traffic) { s.Rate, tr.Pace = 8e6, 8e6 },
		"--socket-buffer 64K": func(s *measure.Spec, tr *predict.Traffic) {
			s.Socket.SndBuf, s.Socket.RcvBuf, tr.SocketBuffer = 64<<10, 64<<10, 64<<10
		},
		"--pacing 5M": func(s *measure.Spec, tr *predict.Traffic) { s.Socket.Pacing, tr.Pace = 5e6, 5e6 },
	} {
		kept, own := ask(change)
		if kept != own || own == 0 {
			t.Errorf("%s: the record says predicted %v, predict for that traffic %v", name, kept, own)
		}
		rates[name] = kept
	}
	for name, kept := range rates {
		if name != "nothing asked" && kept == rates["nothing asked"] {
			t.Errorf("%s: %v, as where nothing is asked", name, kept)
		}
	}
}

// TestSumOfUDP (code 4.1): the sum of a run of UDP is held against UDP's ceiling.
func TestSumOfUDP(t *testing.T) {
	host := func(n, addr string) netstate.Host {
		return netstate.Host{Name: n, Links: []netstate.Link{{Name: "eth0", MTU: 1500, Up: true, Carrier: true, Speed: 100 * unit.Mbps, Addresses: []netip.Prefix{netip.MustParsePrefix(addr)}}}}
	}
	f := predict.Fabric{Hosts: map[string]netstate.Host{"a": host("a", "10.0.0.1/24"), "b": host("b", "10.0.0.2/24")}, Paths: []fabric.Path{{From: "a", To: "b"}}}
	c := &Campaign{state: f}
	for protocol, carried := range map[string]unit.BitRate{"udp": 95.7 * unit.Mbps, "tcp": 94.9 * unit.Mbps} {
		spec := measure.Spec{From: "a", To: "b", Direction: flow.Forward, Streams: 1, Protocol: protocol}
		own, _, err := predict.CeilingOf(f, spec.Traffic(), 0)
		if err != nil {
			t.Fatal(err)
		}
		g := c.sum([]measure.Spec{spec}, []record.Trial{{From: "a", To: "b", Direction: flow.Forward, Streams: 1, Protocol: protocol, Goodput: carried, Forward: carried, Ceiling: own}})
		if g.Ceiling != own || len(g.Notes) > 0 {
			t.Errorf("%s: %v of %v together, of %v alone: %q", protocol, g.Goodput, g.Ceiling, own, g.Notes)
		}
	}
}
