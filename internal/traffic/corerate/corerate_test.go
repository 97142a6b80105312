package corerate

import (
	"math"
	"strings"
	"testing"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/traffic/placement"
)

// machine is physical cores of two threads each on two nodes, numbered as Linux
// does: first threads of all cores, then the second.
func machine(cores int) []placement.Core {
	var all []placement.Core
	for i := range 2 * cores {
		physical := i % cores
		all = append(all, placement.Core{ID: i, Physical: physical, Node: 2 * physical / cores, Cache: 4 * physical / cores})
	}
	return all
}

func TestChooseCores(t *testing.T) {
	every := func(n int) (ids []int) {
		for i := range n {
			ids = append(ids, i)
		}
		return ids
	}
	for _, tt := range []struct {
		name             string
		cores            []placement.Core
		allowed          []int
		busy             map[int]float64
		sender, receiver int
	}{
		{"all idle: the highest, and a neighbour by cache", machine(8), every(16), nil, 15, 14},
		{"never the other thread of the same core", machine(2), []int{1, 3, 0}, nil, 3, 0},
		{"two threads of one core are all there is", machine(2), []int{1, 3}, nil, 3, 1},
		{"the idlest first, its neighbour by node", machine(8), every(8), map[int]float64{7: 0.9, 6: 0.5, 5: 0.3, 4: 0.2, 3: 0.2, 2: 0.2, 1: 0, 0: 0.4}, 1, 3},
		{"a little load does not matter", machine(8), every(8), map[int]float64{7: 0.04, 6: 0.03}, 7, 6},
		{"the same memory node before an idler core", machine(8), []int{0, 1, 6, 7}, map[int]float64{6: 0.9}, 7, 6},
		{"one core allowed", machine(8), []int{5}, nil, 5, 5},
		{"none that is known", machine(2), []int{99}, nil, -1, -1},
		{"none at all", nil, nil, nil, -1, -1},
	} {
		sender, receiver := chooseCores(tt.cores, tt.allowed, tt.busy)
		if sender != tt.sender || receiver != tt.receiver {
			t.Errorf("%s: %d and %d, want %d and %d", tt.name, sender, receiver, tt.sender, tt.receiver)
		}
	}
}

func near(got, want float64) bool { return math.Abs(got-want) <= 1e-9*math.Abs(want) }

// TestJudge: rates are per second of the busier core's own work, whatever else
// ran on it, and each kind of work has its own time.
func TestJudge(t *testing.T) {
	// In one second 2 GB: the sender's core full with 0.7 s of its thread and
	// 0.3 s of software interrupts, the receiver's half used.
	plain := reading{bytes: 2e9, sender: coreUse{busy: 1, softirq: 0.3, thread: 0.7}, receiver: coreUse{busy: 0.5, thread: 0.5}}
	// The same on a kernel that counts software interrupts in the thread's time.
	counted := plain
	counted.sender.thread = 1
	// Somebody else's work on the receiver's core.
	disturbedRound := plain
	disturbedRound.receiver.busy = 1
	slower := plain
	slower.bytes = 1e9
	unseen := plain
	unseen.receiver = coreUse{busy: 0.5, softirq: 0.5, thread: 0.5}
	alone := reading{bytes: 1e9, sender: coreUse{busy: 1, softirq: 0.2, thread: 0.4}, receiver: coreUse{busy: 1, softirq: 0.2, thread: 0.4}, alone: true}
	packets := []reading{{packets: 4e5, sent: 5e5, sender: coreUse{busy: 1, softirq: 0.5, thread: 0.5}, receiver: coreUse{busy: 1, thread: 1}}}
	for _, tt := range []struct {
		name    string
		streams []reading
		rate    float64
		most    float64
		work    agentapi.CoreWork
		notes   []string
	}{
		{"a quiet host", []reading{plain}, 16e9, 16e9 / 0.7, agentapi.CoreWork{Send: 0.35, Softirq: 0.15, Receive: 0.25}, nil},
		{"software interrupts in the thread's time", []reading{counted}, 16e9, 16e9 / 0.7, agentapi.CoreWork{Send: 0.35, Softirq: 0.15, Receive: 0.25}, nil},
		{"other work beside", []reading{disturbedRound}, 16e9, 16e9 / 0.7, agentapi.CoreWork{Send: 0.35, Softirq: 0.15, Receive: 0.25}, []string{"core 2: caches"}},
		{"the best round's rate counts, and what all of them took", []reading{slower, plain}, 16e9, 3e9 * 8 / 1.4, agentapi.CoreWork{Send: 1.4 / 3, Softirq: 0.6 / 3, Receive: 1.0 / 3}, []string{"50 % apart"}},
		{"no tick hit the receiver's thread", []reading{unseen}, 16e9, 16e9 / 0.7, agentapi.CoreWork{Send: 0.35, Softirq: 0.15 + 0.125, Receive: 0.125}, nil},
		{"one core for both", []reading{alone}, 8e9, 8e9 / 0.4, agentapi.CoreWork{Send: 0.4, Softirq: 0.2, Receive: 0.4}, []string{"only one core"}},
		{"nothing arrived", []reading{{sender: coreUse{busy: 1, thread: 1}}}, 0, 0, agentapi.CoreWork{}, nil},
		{"no time was counted", []reading{{bytes: 1e9}}, 0, 0, agentapi.CoreWork{}, nil},
	} {
		got := judge(agentapi.CoreRateReply{Sender: 1, Receiver: 2}, tt.streams, packets)
		if !near(float64(got.StreamRate), tt.rate) || !near(float64(got.StreamMost), tt.most) {
			t.Errorf("%s: %v, at most %v; want %v and %v", tt.name, got.StreamRate, got.StreamMost, tt.rate, tt.most)
		}
		for what, pair := range map[string][2]float64{
			"sending": {got.Stream.Send, tt.work.Send}, "softirq": {got.Stream.Softirq, tt.work.Softirq}, "receiving": {got.Stream.Receive, tt.work.Receive},
		} {
			if !near(pair[0], pair[1]) && math.Abs(pair[0]-pair[1]) > 1e-12 {
				t.Errorf("%s: %s takes %v s a gigabyte, want %v", tt.name, what, pair[0], pair[1])
			}
		}
		if !near(got.PacketRate, 4e5) { // the receiver's, which dropped a fifth
			t.Errorf("%s: %v packets a second", tt.name, got.PacketRate)
		}
		if len(got.Notes) != len(tt.notes) || len(tt.notes) > 0 && !strings.Contains(got.Notes[0], tt.notes[0]) {
			t.Errorf("%s: notes %q, want %q", tt.name, got.Notes, tt.notes)
		}
	}
}
