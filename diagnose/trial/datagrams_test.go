package trial

import (
	"testing"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// datagramTrial is a trial of UDP over one half used link.
func datagramTrial(goodput, limit unit.BitRate, u record.UDP) record.Trial {
	ceiling := 972 * unit.Mbps
	return record.Trial{
		From: "alpha", To: "beta", Direction: flow.Forward, Streams: 1, Protocol: "udp", Goodput: goodput, Ceiling: ceiling, RateLimit: limit, Window: 2, UDP: &u,
		Lanes: []record.Lane{{Way: flow.Forward, Goodput: goodput, UDP: &u}},
		Links: []record.LinkUse{{Host: "alpha", Link: "eth0", TxPayload: goodput, Ceiling: ceiling}, {Host: "beta", Link: "eth0", RxPayload: goodput, Ceiling: ceiling}},
		CPU:   []record.CPUUse{{Host: "alpha", Cores: 4, Busy: 1}, {Host: "beta", Cores: 4, Busy: 1}},
	}
}

func TestDatagrams(t *testing.T) {
	half := 480 * unit.Mbps
	for _, c := range []struct {
		name   string
		trial  record.Trial
		change func(*record.Trial)
		want   record.Cause
	}{
		{"all that was offered arrived", datagramTrial(half, half, record.UDP{Sent: 1000, Received: 1000}), nil, record.Pacing},
		{"the offer is the ceiling", datagramTrial(970*unit.Mbps, 972*unit.Mbps, record.UDP{Sent: 1000, Received: 1000}), nil, record.LineRate},
		{"half was lost on the way", datagramTrial(half, 2*half, record.UDP{Sent: 1000, Received: 500, Lost: 500}), nil, record.Congestion},
		{"the receiver's sockets dropped it", datagramTrial(half, 2*half, record.UDP{Sent: 1000, Received: 500, Lost: 500, SocketDrops: 400}), nil, record.ReceiverCPU},
		{"the sender's queue dropped it", datagramTrial(half, 2*half, record.UDP{Sent: 1000, Received: 500, Lost: 500}), func(r *record.Trial) { r.Links[0].QdiscDrops = 450 }, record.Congestion},
		{"nothing was lost, nothing was full", datagramTrial(half, 0, record.UDP{Sent: 1000, Received: 1000}), nil, record.Unknown},
		{"the sender's thread was full", datagramTrial(half, 0, record.UDP{Sent: 1000, Received: 1000}), func(r *record.Trial) { r.CPU[0].BusiestThread = 0.99 }, record.SenderCPU},
	} {
		if c.change != nil {
			c.change(&c.trial)
		}
		f := Judge(predict.Fabric{}, c.trial)
		if f.Cause != c.want || f.Summary == "" || f.Remedy == "" && c.want != record.LineRate {
			t.Errorf("%s: %s, want %s: %s", c.name, f.Cause, c.want, f.Summary)
		}
	}
}
