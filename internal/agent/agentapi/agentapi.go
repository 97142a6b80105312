// Package agentapi is what a controller may ask of one host: typed requests
// and replies, versioned, data only; method.go lists them. There is no request
// that carries a shell string, and none that makes a host send to an address the
// controller did not name over this channel.
package agentapi

import (
	"cmp"
	"net/netip"
	"time"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/plan"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// Version is exchanged in Hello; a controller refuses a host of another one.
const Version = 1

// HelloRequest opens a conversation.
type HelloRequest struct {
	Version int `json:"version"`
}

// HelloReply says who answers and what it can do here.
type HelloReply struct {
	Version  int    `json:"version"`
	Linerate string `json:"linerate"`
	Hostname string `json:"hostname"`
	OS       string `json:"os"`
	Arch     string `json:"arch"`
	Kernel   string `json:"kernel"`
	Engine   string `json:"engine"` // "raw" system calls or "portable" package net
	// Capabilities are what the agent can do here; nil is not known, of an
	// agent that is older than they are.
	Capabilities Capabilities `json:"capabilities"`
	// Methods are those that the agent knows, in order; nil is not known.
	Methods []string `json:"methods,omitempty"`
	// Time is the host's clock; zero is not known.
	Time time.Time `json:"time,omitzero"`
	// Machine tells machines apart: hosts of one machine share processors.
	Machine string `json:"machine"`
}

// ObserveRequest asks for the host's network as it is.
type ObserveRequest struct {
	// Sysctls are keys to read besides those that are always read; one that the
	// kernel has not is left out of the reply.
	Sysctls []string `json:"sysctls,omitempty"`
}

// ObserveReply is the observed state.
type ObserveReply struct {
	Host netstate.Host `json:"host"`
	// InNamespace: the agent is in another network namespace than the machine's
	// first, so that what belongs to the whole machine is not its to change.
	InNamespace bool `json:"in_namespace,omitempty"`
}

// PingRequest asks for a series of ICMP echoes, or of connections to the one
// address and port that it names.
type PingRequest struct {
	Dst      netip.Addr    `json:"dst"`
	Src      netip.Addr    `json:"src,omitzero"`
	Count    int           `json:"count"`
	Interval time.Duration `json:"interval_ns"`
	Timeout  time.Duration `json:"timeout_ns"` // for the last reply
	// Packet is the whole IP packet's size; zero is the 84 bytes of ping(8).
	// With DontFragment it probes whether a path lets that size through.
	Packet       int  `json:"packet_bytes,omitempty"`
	DontFragment bool `json:"dont_fragment,omitempty"`
	// TCP, where not zero, times a connection to this port instead of an ICMP
	// echo: a refusal is an answer too.
	TCP int `json:"tcp_port,omitempty"`
}

// PingReply holds the round trips that came back.
type PingReply struct {
	Sent int             `json:"sent_count"`
	RTTs []time.Duration `json:"rtts_ns"`
	// Refused is how many of them were refusals, of connections.
	Refused int `json:"refused_count,omitempty"`
	// TooBig is the path MTU a router named, or the local link's, when the
	// packet did not fit; zero otherwise.
	TooBig int `json:"too_big_bytes,omitempty"`
}

// Key authorises the streams of one session: each stream opens with it, and a
// data port closes on anybody who does not know it.
type Key [16]byte

// SinkRequest opens a receiving end.
type SinkRequest struct {
	Session string       `json:"session"`
	Key     Key          `json:"key"`
	Bind    []netip.Addr `json:"bind"`
	// Port is the port wanted; zero lets the kernel choose one. When it is in
	// use the reply names another.
	Port int `json:"port,omitempty"`
	// Within, where set, are the only ports that may be served: a firewall
	// lets no other through. All in use is ErrPortTaken.
	Within *flow.PortRange `json:"within,omitempty"`
	// Peers are the only addresses served.
	Peers   []netip.Addr `json:"peers"`
	Streams int          `json:"streams"`
	EarlierSocket
	// Socket is what the sockets are asked for.
	Socket record.Socket `json:"socket,omitzero"`
	MPTCP  bool          `json:"mptcp,omitempty"` // serve MPTCP and TCP
	UDP    *Datagrams    `json:"udp,omitempty"`   // serve UDP instead
	Mode   Mode          `json:"mode,omitempty"`
	// Unpinned leaves the streams' threads to the scheduler.
	Unpinned bool          `json:"unpinned,omitempty"`
	Links    []string      `json:"links"` // counters to sample
	Lifetime time.Duration `json:"lifetime_ns"`
}

// EarlierSocket is how controllers of an earlier build ask for part of a Socket.
// Hosts read it, and nothing writes it.
type EarlierSocket struct {
	SocketBuffer unit.Bytes `json:"socket_buffer_bytes,omitempty"`
	Congestion   string     `json:"congestion_control,omitempty"`
}

// Under is a socket, with this for what it does not ask for.
func (e EarlierSocket) Under(s record.Socket) record.Socket {
	s.SndBuf, s.RcvBuf = cmp.Or(s.SndBuf, e.SocketBuffer), cmp.Or(s.RcvBuf, e.SocketBuffer)
	s.Congestion = cmp.Or(s.Congestion, e.Congestion)
	return s
}

// SinkReply says where it listens.
type SinkReply struct {
	Port int `json:"port"`
	// Socket is what the kernel granted.
	Socket record.Socket `json:"socket,omitzero"`
	// Method is how this end moves bytes, its Receive filled.
	Method record.Method `json:"method,omitzero"`
}

// SourceRequest opens a sending end and connects every stream; nothing is
// sent but each stream's opening until Start.
type SourceRequest struct {
	Session string   `json:"session"`
	Key     Key      `json:"key"`
	Streams []Stream `json:"streams"`
	EarlierSocket
	// MPTCP opens each stream as an MPTCP connection; one that falls back to
	// TCP is an error of that stream.
	MPTCP bool       `json:"mptcp,omitempty"`
	UDP   *Datagrams `json:"udp,omitempty"`
	Mode  Mode       `json:"mode,omitempty"`
	// Rate is what each stream offers at the most, payload, kept by small
	// writes; zero is no limit.
	Rate     unit.BitRate  `json:"rate_bps,omitempty"`
	Unpinned bool          `json:"unpinned,omitempty"`
	Links    []string      `json:"links"`
	Lifetime time.Duration `json:"lifetime_ns"`
}

// Stream is one connection to make.
type Stream struct {
	flow.Lane
	Sport uint16 `json:"sport"` // zero: the kernel chooses
	Dport uint16 `json:"dport"`
	// Socket is what this stream's socket is asked for; in a reply what the
	// kernel granted.
	Socket record.Socket `json:"socket,omitzero"`
}

// Mode is how a stream's bytes are moved.
type Mode string

// The modes. A zero-copy sender takes what works best here and says which; a
// zero-copy receiver has the kernel drop the bytes uncopied.
const (
	ModeCopy     Mode = "" // as an application does: every byte is written and read
	ModeZeroCopy Mode = "zerocopy"
	// These name the sender's way of zero copy.
	ModeSendfile    Mode = "sendfile"
	ModeMsgZeroCopy Mode = "msg_zerocopy"
)

// Datagrams asks for UDP.
type Datagrams struct {
	// Payload is what each datagram carries; zero is what fits the MTU.
	Payload int `json:"payload_bytes,omitempty"`
	// Single sends each datagram by itself: no segmentation offload.
	Single bool `json:"single,omitempty"`
}

// SourceReply names the streams as connected, in the order asked for.
type SourceReply struct {
	Streams []Stream `json:"streams"`
	// Method is how this end moves bytes, its Send filled.
	Method record.Method `json:"method,omitzero"`
}

// StartRequest lets a source's streams send.
type StartRequest struct {
	Session string `json:"session"`
	// Limit is what each stream sends before it stops and waits; zero is no
	// limit.
	Limit unit.Bytes `json:"limit_bytes,omitempty"`
}

// SampleRequest reads a session's counters from index Since on.
type SampleRequest struct {
	Session string `json:"session"`
	Since   int    `json:"since"`
}

// SampleReply is the samples since the one asked for.
type SampleReply struct {
	Samples []Sample `json:"samples"`
	// Errors are streams that broke, by index and reason.
	Errors []string `json:"errors,omitempty"`
}

// FinishReply is the last of the samples.
type FinishReply struct {
	Samples []Sample `json:"samples"`
}

// ApplyRequest carries out a plan: journal first, then each step, then a
// check that what was asked is what is. On any failure everything done is
// undone before the reply.
type ApplyRequest struct {
	Plan plan.Plan `json:"plan"`
	// Deadline is how long the change may stand unconfirmed: then the host
	// rolls itself back. Zero is two minutes.
	Deadline time.Duration `json:"deadline_ns,omitempty"`
	// Temporary ends the change with the agent's process: the host puts itself
	// back at once when that dies, or its controller is gone.
	Temporary bool `json:"temporary,omitempty"`
	// Pause is the time between arming the dead man and the first step.
	Pause time.Duration `json:"pause_ns,omitempty"`
	// Gate, where set, keeps the armed change from beginning until a BeginRequest
	// names it: with the guards of several hosts armed none of them can be left
	// half changed. Each change has a gate of its own.
	Gate string `json:"gate,omitempty"`
	// Group is the run that this change is a step of, the record's ID of a
	// `tune`: what the run changed goes back as one. Title says for people what
	// ran. "" is a change by itself.
	Group string `json:"group,omitempty"`
	Title string `json:"title,omitempty"`
	// Check asks only whether a plan could be carried out now: whether the
	// journal takes an entry and no other change is under way. The plan is empty.
	Check bool `json:"check,omitempty"`
}

// ArmedRequest waits until the change of that gate is journalled and its guard
// stands. One that ends before is ErrState.
type ArmedRequest struct {
	Gate string `json:"gate"`
}

// BeginRequest lets an armed change begin; one that is not armed is ErrState.
type BeginRequest struct {
	Gate string `json:"gate"`
	// Abandon ends it instead, with nothing done; also one that is not armed yet.
	Abandon bool `json:"abandon,omitempty"`
}

// ApplyReply names the journal entry, for Confirm and Rollback.
type ApplyReply struct {
	Journal string `json:"journal"`
	// Applied is how many steps changed something.
	Applied int `json:"applied_count"`
	// RolledBack is set, with the reason, when the change did not hold.
	RolledBack string `json:"rolled_back,omitempty"`
}

// RollbackRequest puts back what a journal entry changed; "" is the newest
// pending one.
type RollbackRequest struct {
	Journal string `json:"journal"`
	// Group, where set, puts back all that a run changed, its last step first;
	// Journal is "" then.
	Group string `json:"group,omitempty"`
	// Unconfirmed leaves an entry as it is that was confirmed meanwhile: ErrState.
	Unconfirmed bool `json:"unconfirmed,omitempty"`
}

// RollbackReply says what was put back and what was left because somebody
// else had changed it since. Of a group it is the sum, and Journal is "".
type RollbackReply struct {
	Journal    string   `json:"journal,omitempty"`
	RolledBack int      `json:"undone_count"`
	Left       []string `json:"left,omitempty"`
	// Entries are those of a group, as they went back.
	Entries []RolledBackEntry `json:"entries,omitempty"`
}

// RolledBackEntry is one entry of a group that went back. State is
// ChangeRolledBack, or ChangeFailed where not all could be put back.
type RolledBackEntry struct {
	Journal    string      `json:"journal"`
	State      ChangeState `json:"state"`
	RolledBack int         `json:"undone_count"`
}
