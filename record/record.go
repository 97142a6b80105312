// Package record is the versioned schema of a measurement: what was asked,
// where it ran, what came out; the causes that limit a result are its words.
// Plain data with its own consistency rules; it must never measure or judge.
package record

import (
	"time"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/unit"
)

// Schema names the version of this format.
const Schema = "linerate.record/v1"

// Record is one run of measure, demo or tune.
type Record struct {
	Schema      string      `json:"schema"`
	ID          string      `json:"id"`
	Started     time.Time   `json:"started"`
	Linerate    string      `json:"linerate"` // version of the program
	Fabric      Fabric      `json:"fabric"`
	Environment Environment `json:"environment"`
	Latency     []Latency   `json:"latency"`
	Trials      []Trial     `json:"trials"`
	// Steps is what tune or demo did between the trials of phase "before" and
	// those of phase "after"; empty in a plain measurement.
	Steps []Step `json:"steps,omitempty"`
	// Tuning is what a run of tune came to; nil of others.
	Tuning *Tuning `json:"tuning,omitempty"`
	// Failures are the pairs that could not be measured.
	Failures []Failure `json:"failures,omitempty"`
	// Groups are the sums of trials that ran at the same time; Sweeps what
	// came of trials that differ in one setting.
	Groups []Group `json:"groups,omitempty"`
	Sweeps []Sweep `json:"sweeps,omitempty"`
	// Ended says why the run ended before all was measured, where a cap or a
	// watched host ended it.
	Ended string `json:"ended,omitempty"`
	// Asked is what the run was to measure; nil where that is not known.
	Asked *Asked `json:"asked,omitempty"`
	// Resumed is when an interrupted run was gone on with.
	Resumed []time.Time `json:"resumed,omitempty"`
}

// Asked is the matrix that a run measures: a record with fewer trials is
// unfinished.
type Asked struct {
	Trials     int              `json:"trials_count"`
	Streams    []int            `json:"streams"`
	Directions []flow.Direction `json:"directions"`
	// Digest stands for everything else that the trials were asked for; "" is
	// a run that cannot be gone on with, such as a sweep.
	Digest string `json:"digest,omitempty"`
}

// Unfinished is how many trials are missing of what was asked for; zero also
// where that is not known.
func (r Record) Unfinished() int {
	if r.Asked == nil {
		return 0
	}
	return max(r.Asked.Trials-len(r.Trials), 0)
}

// Interrupted reports a record that lacks trials which were not tried: the run
// did not come to its end, and nothing that it was told ended it.
func (r Record) Interrupted() bool {
	missing := r.Unfinished()
	for _, f := range r.Failures {
		if f.Streams > 0 {
			missing--
		}
	}
	return missing > 0 && r.Ended == ""
}

// Fabric is the declared fabric's text and the paths measured.
type Fabric struct {
	File  string      `json:"file,omitempty"`
	Text  string      `json:"text,omitempty"`
	Paths []flow.Path `json:"paths,omitempty"`
}

// Environment is where the run happened.
type Environment struct {
	Kernel  string `json:"kernel"`
	BackEnd string `json:"back_end,omitempty"` // lab back end, "" on real hosts
	Why     string `json:"back_end_reason,omitempty"`
	// Hosts is what was observed before the first trial; After holds the
	// state at the end where a run changed hosts.
	Hosts []netstate.Host `json:"hosts"`
	After []netstate.Host `json:"hosts_after,omitempty"`
}

// Latency is one round-trip series. Times are in milliseconds.
type Latency struct {
	From      string  `json:"from"`
	To        string  `json:"to"`
	MinMS     float64 `json:"min_ms"`
	AvgMS     float64 `json:"avg_ms"`
	MaxMS     float64 `json:"max_ms"`
	P50MS     float64 `json:"p50_ms,omitempty"`
	P99MS     float64 `json:"p99_ms"`
	MdevMS    float64 `json:"mdev_ms,omitempty"` // standard deviation, as ping(8) has it
	LossRatio float64 `json:"loss_ratio"`
	Sent      int     `json:"sent_count"`
	// Protocol is "icmp" or "tcp"; "" is icmp.
	Protocol string `json:"protocol,omitempty"`
	// Load is what ran meanwhile; nil is an idle path.
	Load *Load `json:"load,omitempty"`
	// Notes say what is odd about the series.
	Notes []string `json:"notes,omitempty"`
	// PathMTU is the largest packet that probes with don't-fragment got
	// through, IP header included; zero when not probed.
	PathMTU int `json:"path_mtu_bytes,omitempty"`
}

// RoundTrip is how long the path takes there and back: of an idle path that is what its
// latency is, and zero where nothing came back or something ran meanwhile.
func (l Latency) RoundTrip() time.Duration {
	if l.Load != nil || !(l.AvgMS > 0) {
		return 0
	}
	return time.Duration(l.AvgMS * float64(time.Millisecond))
}

// Phase tells the trials of one record apart.
type Phase string

// Phases of a tuning run; a plain measurement has none.
const (
	PhaseBefore Phase = "before"
	PhaseStep   Phase = "step"
	PhaseAfter  Phase = "after"
)

// Trial is one throughput measurement over one common window.
type Trial struct {
	Phase     Phase          `json:"phase,omitempty"`
	Step      string         `json:"step,omitempty"`
	From      string         `json:"from"`
	To        string         `json:"to"`
	Direction flow.Direction `json:"direction"`
	Streams   int            `json:"streams"` // in each direction
	Protocol  string         `json:"protocol"`
	Tool      string         `json:"tool"`
	Ports     string         `json:"ports"` // "chosen" or "kernel"
	MTU       int            `json:"mtu_bytes,omitempty"`
	Congest   string         `json:"congestion_control,omitempty"`
	Started   time.Time      `json:"started"`
	// Goodput is payload received over the common window, all lanes summed;
	// for direction both the sum of the two ways.
	Goodput     unit.BitRate `json:"goodput_bps"`
	GoodputLow  unit.BitRate `json:"goodput_low_bps"`
	GoodputHigh unit.BitRate `json:"goodput_high_bps"`
	Forward     unit.BitRate `json:"forward_bps,omitempty"` // direction both only
	Reverse     unit.BitRate `json:"reverse_bps,omitempty"`
	// Wire is payload plus the headers of every segment, from the Ethernet
	// header on.
	Wire unit.BitRate `json:"wire_bps"`
	// Unread is how much more waited in the receivers' buffers at the end of
	// the window than at its start (negative: less): what the links delivered
	// and goodput does not count, as a rate over the window.
	Unread unit.BitRate `json:"unread_bps,omitempty"`
	// Claimed is what clients that know nothing of each other would report in
	// sum: for each stream the bytes handed to its socket, whether they arrived
	// or not, over its own time from start to end. It is no goodput.
	Claimed    unit.BitRate `json:"claimed_bps,omitempty"`
	Ceiling    unit.BitRate `json:"ceiling_bps"`
	CeilingMTU int          `json:"ceiling_mtu_bytes,omitempty"`
	// RateLimit is what the run let the streams of each direction offer in
	// sum, payload; zero is no limit.
	RateLimit unit.BitRate `json:"rate_limit_bps,omitempty"`
	Predicted unit.BitRate `json:"predicted_bps,omitempty"`
	Limit     Cause        `json:"predicted_limit,omitempty"`
	// Window is the length of the common window, WarmUp what came before it.
	Window float64 `json:"window_s"`
	WarmUp float64 `json:"warm_up_s"`
	// Stop says what ended the window: "duration", "interval" (confidence
	// reached) or "maximum"; "bytes" and "seconds" are caps, "watch" is the
	// latency of a watched host, "stalled" that nothing arrived at all.
	Stop string `json:"stop,omitempty"`
	// Group is shared by trials that ran at the same time, in one window.
	Group string `json:"group,omitempty"`
	// Variant tells the trials of a sweep apart, such as "mss=1448".
	Variant string `json:"variant,omitempty"`
	Method  Method `json:"method,omitzero"`
	// Blocks are the means of consecutive blocks of the window: what the
	// interval is computed from, and what compare compares.
	Blocks      []unit.BitRate `json:"blocks_bps,omitempty"`
	BlockLength float64        `json:"block_s,omitempty"`
	// Series is the rate between consecutive samples from the first byte on,
	// warm-up included, and the time of each sample's end since the start.
	Series   []unit.BitRate `json:"series_bps,omitempty"`
	SeriesAt []float64      `json:"series_at_s,omitempty"` // seconds from the first byte to the end of each sample
	// Shaper is the token bucket that the series shows; nil where it shows none.
	Shaper *TokenBucket `json:"shaper,omitempty"`
	// Outages are what streams felt when a link failed or returned.
	Outages []Outage  `json:"outages,omitempty"`
	UDP     *UDP      `json:"udp,omitempty"`
	Lanes   []Lane    `json:"lanes"`
	Links   []LinkUse `json:"links"`
	CPU     []CPUUse  `json:"cpu"`
	// Switches are what those of the fabric that could be asked counted meanwhile.
	Switches []SwitchUse `json:"switches,omitempty"`
	// Sizes are packets sent alone to see which size gets through: made where
	// streams stood still, or on request.
	Sizes []SizeProbe `json:"size_probes,omitempty"`
	// Routes are the links that the senders' kernels say packets leave by.
	Routes  []RouteTaken `json:"routes,omitempty"`
	Notes   []string     `json:"notes"`
	Finding *Finding     `json:"finding,omitempty"`
}

// Lane is one stream: where it went and what TCP said of it.
type Lane struct {
	flow.Lane
	Way         flow.Direction `json:"way"` // forward or reverse
	Sport       uint16         `json:"sport"`
	Dport       uint16         `json:"dport"`
	Goodput     unit.BitRate   `json:"goodput_bps"`
	Retransmits uint64         `json:"retransmits_count"`
	// EgressLink is where steer places the stream on the sender ("" unknown);
	// IngressLink where it arrives, where a known hash tells.
	EgressLink  string `json:"egress_link"`
	IngressLink string `json:"ingress_link"`
	TCP         TCP    `json:"tcp"`
	// Buffers as the kernel counts them at the end.
	RcvBuf unit.Bytes `json:"rcvbuf_bytes,omitempty"`
	SndBuf unit.Bytes `json:"sndbuf_bytes,omitempty"`
	// Asked and Granted are the sender's socket as it was wanted and as the
	// kernel made it, the receive buffer and its window the receiver's; nil
	// where nothing was asked for.
	Asked   *Socket `json:"asked,omitempty"`
	Granted *Socket `json:"granted,omitempty"`
	UDP     *UDP    `json:"udp,omitempty"`
	// Subflows are an MPTCP connection's at the end of the window.
	Subflows []Subflow `json:"subflows,omitempty"`
}

// LinkUse is one physical link's counters over the window.
type LinkUse struct {
	Host string       `json:"host"`
	Link string       `json:"link"`
	Tx   unit.BitRate `json:"tx_bps"` // as the link's byte counter counts
	Rx   unit.BitRate `json:"rx_bps"`
	// TxPayload and RxPayload are the counters less one set of headers a
	// counted packet: what the link's bytes say about TCP payload.
	TxPayload unit.BitRate `json:"tx_payload_bps"`
	RxPayload unit.BitRate `json:"rx_payload_bps"`
	Ceiling   unit.BitRate `json:"ceiling_bps"` // payload, the way that the trial's goes
	Drops     uint64       `json:"drops_count"`
	TxPackets uint64       `json:"tx_packets_count,omitempty"`
	RxPackets uint64       `json:"rx_packets_count,omitempty"`
	// Qdisc counters over the window, where the link's queue keeps them.
	QdiscDrops      uint64     `json:"qdisc_drops_count,omitempty"`
	QdiscOverlimits uint64     `json:"qdisc_overlimits_count,omitempty"` // kept for other readers
	QdiscBacklog    unit.Bytes `json:"qdisc_backlog_bytes,omitempty"`    // at the end; kept for other readers
	// MeanBacklog is what waited in the link's queues over the window's samples.
	MeanBacklog unit.Bytes `json:"mean_backlog_bytes,omitempty"`
	Requeues    uint64     `json:"requeues_count,omitempty"` // packets that the device sent back; kept for other readers
	// Throttled is how often fq delayed packets of a flow (TCA_FQ's stats).
	Throttled uint64 `json:"throttled_count,omitempty"`
	// RxMissed are packets that the device had no room for, RxCRC damaged ones,
	// which Drops has too: kept for other readers.
	RxMissed uint64 `json:"rx_missed_count,omitempty"`
	RxCRC    uint64 `json:"rx_crc_errors_count,omitempty"`
	// Driver are the increases of those of the driver's own counters that say
	// why packets wait or are lost: pause frames, rings without room, a cloud's
	// allowances, PCIe stalls. Names are the driver's (`ethtool -S`); what they
	// mean netstate.MeaningOf says. Nil is not read.
	Driver map[string]uint64 `json:"driver_counters,omitzero"`
}

// CPUUse is one host's processors over the window, in cores.
type CPUUse struct {
	Host    string  `json:"host"`
	Cores   int     `json:"cores_count"`
	Busy    float64 `json:"busy_cores"`
	Softirq float64 `json:"softirq_cores"`
	Busiest float64 `json:"busiest_core_ratio"`
	// BusiestThread is the share of one core the busiest stream thread took.
	BusiestThread float64 `json:"busiest_thread_ratio,omitempty"`
	// PerCore is each core over the window; empty where it was not read.
	PerCore []CoreUse `json:"per_core,omitempty"`
	// Threads is each stream thread of the host, in the order of the lanes.
	Threads []ThreadUse `json:"threads,omitempty"`
	// SoftnetDrops are packets that found the backlog full
	// (/proc/net/softnet_stat), over the window.
	SoftnetDrops uint64 `json:"softnet_drops_count,omitempty"`
	// TimeSqueezes are polls that ended with work left (net.core.netdev_budget):
	// explain has them as evidence, and alone they are not judged.
	TimeSqueezes uint64 `json:"time_squeezes_count,omitempty"`
	// Quota is how many cores the control group that the streams run in may
	// use, zero no limit; Throttled the share of the window in which it was
	// stopped for having used them up, the processors on which it was added up
	// and at most 1.
	Quota     float64 `json:"quota_cores,omitempty"`
	Throttled float64 `json:"throttled_ratio,omitempty"`
	// Steal is the share of the machine's time that a hypervisor took away.
	Steal float64 `json:"steal_ratio,omitempty"`
	// TCPExt are the increases of those of /proc/net/netstat's and snmp's counters
	// that say what TCP waits for on this host.
	// Empty is read and nothing happened, nil not read.
	TCPExt map[string]uint64 `json:"tcp_ext,omitzero"`
	// Shared marks a machine whose processors the other host runs on too
	// (a lab): sender and receiver cannot be told apart by it.
	Shared bool `json:"shared,omitempty"`
}

// Step is one thing tune tried.
type Step struct {
	Change string `json:"change"`
	Why    string `json:"why"`
	// Before and After are A and B of the proof, at the same traffic.
	Before unit.BitRate `json:"before_bps"`
	After  unit.BitRate `json:"after_bps"`
	Kept   bool         `json:"kept"`
	// Verdict says why it was kept or reverted.
	Verdict string `json:"verdict,omitempty"`
	// Commands are what a person would type for the same change.
	Commands []string `json:"commands,omitempty"`
}

// Failure is a pair that was not measured.
type Failure struct {
	From      string         `json:"from"`
	To        string         `json:"to"`
	Direction flow.Direction `json:"direction,omitempty"`
	Streams   int            `json:"streams,omitempty"`
	Error     string         `json:"error"`
	// Reason classes the error where a program can act on it: "refused",
	// "silent", "blocked", "port-taken", "unreachable".
	Reason string `json:"reason,omitempty"`
}
