package record

import "github.com/linerate/linerate/unit"

// TCP is TCP_INFO over the window (include/uapi/linux/tcp.h): shares of the
// window's time, last values of the rest, sender's side unless said.
type TCP struct {
	BusyRatio       float64      `json:"busy_ratio"`
	RwndLimited     float64      `json:"rwnd_limited_ratio"`
	SndbufLimited   float64      `json:"sndbuf_limited_ratio"`
	RTTMS           float64      `json:"rtt_ms"`
	MinRTTMS        float64      `json:"min_rtt_ms"`
	SndMSS          int          `json:"snd_mss_bytes"`
	SndCwnd         int          `json:"snd_cwnd_packets,omitempty"` // the congestion window at the end, in segments
	SndWnd          unit.Bytes   `json:"snd_wnd_bytes,omitempty"`
	Delivery        unit.BitRate `json:"delivery_bps"` // the kernel's estimate of what arrives; kept for other readers
	Reordering      int          `json:"reordering_count"`
	SegmentsOut     uint64       `json:"data_segments_out_count,omitempty"`
	SegmentsIn      uint64       `json:"data_segments_in_count,omitempty"` // receiver's side
	BytesRetrans    uint64       `json:"bytes_retrans_bytes,omitempty"`
	NotSent         unit.Bytes   `json:"notsent_bytes,omitempty"`
	AppLimited      bool         `json:"app_limited,omitempty"`
	PathMTU         int          `json:"pmtu_bytes,omitempty"`
	RcvSpace        unit.Bytes   `json:"rcv_space_bytes,omitempty"` // receiver's side; kept for other readers
	RcvOutOfOrder   uint64       `json:"rcv_ooopack_count,omitempty"`
	CongestionState string       `json:"ca_state,omitempty"` // open, disorder, cwr, recovery or loss; kept for other readers
	// What follows is over the window's samples: means, shares of the samples,
	// increases of counters. Zero where the kernel does not count it.
	MeanRTTMS float64 `json:"mean_rtt_ms,omitempty"`
	// HighestRTTMS is the longest smoothed round trip of a sample: a queue
	// that fills and empties shows in it.
	HighestRTTMS float64 `json:"highest_rtt_ms,omitempty"`
	MeanCwnd     float64 `json:"mean_cwnd_packets,omitempty"` // the congestion window, in segments
	// Ssthresh is zero while slow start was never left; kept for other readers.
	Ssthresh int `json:"snd_ssthresh_packets,omitempty"`
	// Pacing is what TCP itself paces at (tcp_info.tcpi_pacing_rate), MaxPacing
	// the application's limit (SO_MAX_PACING_RATE); zero is none.
	Pacing     unit.BitRate `json:"pacing_bps,omitempty"`
	MaxPacing  unit.BitRate `json:"max_pacing_bps,omitempty"`
	BytesSent  uint64       `json:"bytes_sent_bytes,omitempty"` // repetitions included
	DSACKDups  uint64       `json:"dsack_dups_count,omitempty"` // repeated in vain
	ReordSeen  uint64       `json:"reord_seen_count,omitempty"`
	Timeouts   uint64       `json:"total_rto_count,omitempty"`  // Linux 6.7
	Recovering float64      `json:"recovering_ratio,omitempty"` // samples in recovery or loss
	Disordered float64      `json:"disordered_ratio,omitempty"` // samples in disorder
	// Starved is the share of the samples in which less than a segment waited
	// to be sent and the last delivery was limited by the application
	// (tcp_rate_check_app_limited of net/ipv4/tcp_rate.c).
	Starved     float64    `json:"starved_ratio,omitempty"`
	MeanNotSent unit.Bytes `json:"mean_notsent_bytes,omitempty"` // kept for other readers
	// MeanUnread is what waited to be read at the receiver, kept for other readers;
	// Unheeded the share of the samples in which it filled more than half of the
	// window there.
	MeanUnread unit.Bytes `json:"mean_unread_bytes,omitempty"`
	Unheeded   float64    `json:"unheeded_ratio,omitempty"`
	RcvWnd     unit.Bytes `json:"rcv_wnd_bytes,omitempty"` // receiver's own, Linux 6.2
	RcvMSS     int        `json:"rcv_mss_bytes,omitempty"` // receiver's side
	// RcvRTTMS is the receiver's own estimate of the round trip; kept for other readers.
	RcvRTTMS float64 `json:"rcv_rtt_ms,omitempty"`
	// MeanInFlight is how many segments were on the way, CwndLimited the share
	// of the samples in which they filled the congestion window.
	MeanInFlight float64 `json:"mean_in_flight_packets,omitempty"`
	CwndLimited  float64 `json:"cwnd_limited_ratio,omitempty"`
	// MeanBelow is what waits in the queues and drivers of the sender's own host,
	// headers and the kernel's overhead included (sk_wmem_alloc): a queue here, and
	// not on the way. It is kept for other readers.
	MeanBelow unit.Bytes `json:"mean_below_bytes,omitempty"`
	// ECNMarks are packets that arrived with a mark of a queue on the way.
	ECNMarks uint64 `json:"delivered_ce_count,omitempty"`
	// TimeoutMS is the time that timeouts took (Linux 6.7), Rehashes how often
	// TCP chose another transmit hash, and with it another path (6.2). Both are
	// kept for other readers.
	TimeoutMS float64 `json:"total_rto_ms,omitempty"`
	Rehashes  uint64  `json:"rehash_count,omitempty"` // kept for other readers
	// SocketDrops are segments that the receiver's socket dropped for want of
	// memory (sk_drops).
	SocketDrops uint64 `json:"socket_drops_count,omitempty"`
	// Samples is how many the means and shares are of; zero where nothing but
	// the last values was read.
	Samples int `json:"samples_count,omitempty"`
}

// ECNMarks are the packets of the streams that arrived with a mark of a queue on the way.
func ECNMarks(lanes []Lane) (marks uint64) {
	for _, l := range lanes {
		marks += l.TCP.ECNMarks
	}
	return marks
}
