package record

import "github.com/linerate/linerate/unit"

// Tuning is what a run of tune came to, beside its steps and trials.
type Tuning struct {
	// Group is the journal's name for all that the run changed on hosts.
	Group string `json:"group,omitempty"`
	// Objective is "throughput" or "latency", Target the share of the ceiling
	// that was asked for.
	Objective string  `json:"objective"`
	Target    float64 `json:"target_ratio"`
	// Windows and Traffic are what the run cost the network: measurements, and
	// seconds in which it sent, warm-ups included.
	Windows int     `json:"windows_count"`
	Traffic float64 `json:"traffic_s"`
	// Stopped says why the search ended: "target", "nothing left to try",
	// "windows", "traffic".
	Stopped string `json:"stopped"`
	// Settings are what the hosts were asked for, in the order it was tried.
	Settings []Setting `json:"settings"`
	// Load is the traffic that carries most.
	Load TunedLoad `json:"load"`
	// Left are remedies that were not tried, and why.
	Left []string `json:"left,omitempty"`
}

// TunedLoad is traffic as a tune left it.
type TunedLoad struct {
	Streams  int          `json:"streams"`
	Ports    string       `json:"ports"`
	Pace     unit.BitRate `json:"pace_bps,omitempty"` // of each stream; zero is none
	ZeroCopy bool         `json:"zero_copy,omitempty"`
	// SocketBuffer is what each socket asks for; zero leaves autotuning on.
	SocketBuffer unit.Bytes `json:"socket_buffer_bytes,omitempty"`
	// Congestion is the congestion control that each socket asks for; "" is the
	// host's.
	Congestion string `json:"congestion_control,omitempty"`
}

// Setting is one value on one host that a tune tried.
type Setting struct {
	Host string `json:"host"`
	// What is the value's name, such as "xmit_hash_policy of bond0".
	What string `json:"what"`
	Old  string `json:"old"`
	New  string `json:"new"`
	Kept bool   `json:"kept"`
	// Gain is that of the step that it was part of, which may hold others; of a
	// bundle's part what is lost without it, by prediction: Predicted.
	Gain      float64 `json:"gain_ratio"`
	Predicted bool    `json:"predicted,omitempty"`
	// Step is the step's number in the record, from zero; Why its reason.
	Step int    `json:"step"`
	Why  string `json:"why"`
	// Command is what a person would type.
	Command string `json:"command"`
}
