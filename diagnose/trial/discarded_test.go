package trial

import (
	"strings"
	"testing"

	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// TestDamaged: segments that reach the receiver with a wrong checksum are what slows TCP
// down, however full the link is; a few are not, nor those of a path that is full.
func TestDamaged(t *testing.T) {
	f := pair{end: end{links: 1, policy: netstate.Layer34}}.fabric()
	const sent10k, again = 10000, 190
	trialOf := func(share unit.BitRate, damaged uint64) record.Trial {
		out := measured(sent(4, rates(share*one), rates(share*one)), func(c *record.TCP) {
			c.SegmentsOut, c.BytesSent, c.BytesRetrans = sent10k, sent10k*1448, again*1448
			c.RTTMS, c.MeanRTTMS, c.MinRTTMS = 17, 17, 10
		})
		out.Ceiling = one
		for i := range out.Lanes {
			out.Lanes[i].Retransmits = again
		}
		out.CPU = []record.CPUUse{{Host: "a", Cores: 4, Busy: 0.2, Busiest: 0.2, TCPExt: map[string]uint64{"TCPFastRetrans": 4 * again, "TCPSackRecovery": 4*again - 20}},
			{Host: "b", Cores: 4, Busy: 0.2, Busiest: 0.2, TCPExt: map[string]uint64{}}}
		if damaged > 0 {
			out.CPU[1].TCPExt["TcpInCsumErrors"] = damaged
		}
		return out
	}
	for _, c := range []struct {
		name  string
		trial record.Trial
		want  record.Cause
		says  bool // that they are damaged
	}{
		{"nearly full", trialOf(0.88, 4*again), record.Congestion, true},
		{"half full", trialOf(0.5, 4*again), record.Congestion, true},
		{"full", trialOf(0.97, 4*again), record.LineRate, false},
		{"lost on the way instead", trialOf(0.5, 0), record.Congestion, false},
		{"a few among many lost", trialOf(0.5, again/4), record.Congestion, false},
	} {
		got := Judge(f, c.trial)
		if got.Cause != c.want || strings.Contains(got.Summary, "wrong checksum") != c.says {
			t.Errorf("%s: %s, %q; want %s, damaged %v", c.name, got.Cause, got.Summary, c.want, c.says)
		}
	}
}

// TestDamagedDatagrams: a socket counts what is damaged as its own drops: it is not the
// receiver that is too slow.
func TestDamagedDatagrams(t *testing.T) {
	f := pair{end: end{links: 1, policy: netstate.Layer34}}.fabric()
	for damaged, want := range map[uint64]record.Cause{0: record.ReceiverCPU, 450: record.Congestion} {
		trial := measured(sent(1, rates(0.5*one), rates(0.5*one)), func(*record.TCP) {})
		trial.Ceiling, trial.Protocol, trial.Tool, trial.UDP = one, "udp", engine, &record.UDP{}
		trial.Lanes[0].UDP = &record.UDP{Payload: 1472, Sent: 10000, Received: 9500, Lost: 500, SocketDrops: 480}
		trial.CPU = []record.CPUUse{{Host: "b", Cores: 4, Busy: 0.2, Busiest: 0.2, TCPExt: map[string]uint64{"UdpInCsumErrors": damaged}}}
		if got := Judge(f, trial); got.Cause != want {
			t.Errorf("%d of 500 damaged: %s, %q", damaged, got.Cause, got.Summary)
		}
	}
}
