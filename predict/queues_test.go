package predict_test

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/record"
)

// guests is docs/examples/guests.yaml, changed.
func guests(t *testing.T, changes ...string) predict.Fabric {
	t.Helper()
	text, err := os.ReadFile("../docs/examples/guests.yaml")
	if err != nil {
		t.Fatal(err)
	}
	out := string(text)
	for i := 0; i < len(changes); i += 2 {
		if !strings.Contains(out, changes[i]) {
			t.Fatalf("the example has no %q", changes[i])
		}
		out = strings.ReplaceAll(out, changes[i], changes[i+1])
	}
	file, err := fabric.Parse("guests.yaml", []byte(out))
	if err != nil {
		t.Fatal(err)
	}
	f := predict.Fabric{Hosts: map[string]netstate.Host{}, Paths: file.Paths}
	for _, h := range file.Hosts {
		if f.Hosts[h.Name], err = file.State(h.Name); err != nil {
			t.Fatal(err)
		}
	}
	return f
}

const oneQueue = "queues: 1, queue_rate: 16G"

func rateOf(t *testing.T, f predict.Fabric, from, to string, streams int, d flow.Direction) predict.Prediction {
	t.Helper()
	p, err := predict.Predict(f, predict.Traffic{From: from, To: to, Streams: streams, Direction: d})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestGuestQueues: a guest goes no faster than its queues, one flow no faster than one of
// them, several flows by chance; both ways share them; what nobody measured is unknown.
func TestGuestQueues(t *testing.T) {
	for _, c := range []struct {
		queues  int
		streams int
		mean    float64 // Gbit/s between two guests of one host, whose links carry 37.7
	}{
		{1, 1, 16}, {1, 8, 16}, {2, 1, 16}, {2, 2, 24}, {2, 64, 32}, {4, 1, 16}, {4, 64, 37.66}, {8, 2, 30},
	} {
		f := guests(t, oneQueue, fmt.Sprintf("queues: %d, queue_rate: 16G", c.queues))
		p := rateOf(t, f, "g1", "g2", c.streams, flow.Forward)
		if got := float64(p.Rate) / 1e9; math.Abs(got-c.mean) > 0.1 {
			t.Errorf("%d queues, %d streams: %.2f Gbit/s, want %.2f: %+v", c.queues, c.streams, got, c.mean, p.Limits[0])
		}
	}
	f := guests(t)
	p := rateOf(t, f, "g1", "g2", 4, flow.Forward)
	if p.Limits[0].Cause != record.SenderCPU || !strings.Contains(p.Limits[0].Why, "1 queue (virtio)") {
		t.Errorf("limit: %+v", p.Limits[0])
	}
	if p = rateOf(t, f, "g2", "g1", 4, flow.Forward); p.Limits[0].Cause != record.ReceiverCPU {
		t.Errorf("to the guest: %+v", p.Limits[0])
	}
	if p = rateOf(t, f, "g1", "g2", 4, flow.Both); math.Abs(float64(p.Rate)-16e9) > 1e8 {
		t.Errorf("both ways: %v", p.Rate)
	}
	p = rateOf(t, guests(t, oneQueue, "queues: 1"), "g1", "g2", 4, flow.Forward)
	if p.Rate < 37e9 || !strings.Contains(fmt.Sprint(p.Limits), "hardware.links.eth0.queue_rate") {
		t.Errorf("nobody measured it: %v, %v", p.Rate, p.Limits)
	}
}

// TestGuestsOverBonds: below a bridge balance-alb and -tlb send by several ports, by what
// they read, and what the switch sends to guests comes by the active one.
func TestGuestsOverBonds(t *testing.T) {
	const channel = "    channels: {po1: {members: [p0, p1], mode: lacp, hash: layer3+4}}\n"
	for _, c := range []struct{ hash, out, in string }{
		{"balance-alb", "balance-alb puts all flows between two addresses on one link", "hears the guests"},
		{"balance-tlb", "balance-tlb puts all flows between two hosts on one link", "hears the guests"},
	} {
		f := guests(t, "hash: layer2}", "hash: "+c.hash+"}", channel, "", oneQueue, "queues: 4, queue_rate: 16G")
		for way, said := range map[flow.Direction]string{flow.Forward: c.out, flow.Reverse: c.in} {
			p := rateOf(t, f, "g1", "s", 8, way)
			if p.Rate > 9.5e9 || p.Limits[0].Cause != record.SingleLink || !strings.Contains(p.Limits[0].Why, said) {
				t.Errorf("%s, %s: %v, %+v", c.hash, way, p.Rate, p.Limits[0])
			}
		}
		all := []predict.Traffic{{From: "g1", To: "s", Streams: 8, Direction: flow.Reverse}, {From: "g2", To: "s", Streams: 8, Direction: flow.Reverse}}
		together, err := predict.Together(f, all)
		if err != nil {
			t.Fatal(err)
		}
		sum := 0.0
		for _, p := range together {
			sum += float64(p.Together)
		}
		if sum > 9.5e9 {
			t.Errorf("%s: two guests receive %.1f Gbit/s by the active port", c.hash, sum/1e9)
		}
	}
}
