package agentapi

import "time"

// MethodName names a request on the wire.
type MethodName string

// Method is one request that a host answers, with the types of the request and
// of its reply. A request is added in two places: its value here and its
// handler in package agent.
type Method[Req, Rep any] AnyMethod

// AnyMethod is a Method where its types do not matter: to what carries it.
type AnyMethod struct {
	Name MethodName
	// Role is what somebody on NATS must be to ask for it. A method without one
	// is refused there to everybody.
	Role Role
	// Audited: it changes the host, so that the host's audit log has it.
	Audited bool
}

// Empty is a request that names nothing, or a reply that only says that it is
// done.
type Empty struct{}

// SessionRequest is about one session: to finish it is to stop its streams, close
// its sockets and free its ports; a tool's client is waited for.
type SessionRequest struct {
	Session string `json:"session"`
	// Wait is how long a tool's client may still run; the host is not told.
	Wait time.Duration `json:"-"`
}

// Any is the method without its types.
func (m Method[Req, Rep]) Any() AnyMethod { return AnyMethod(m) }

// Check is the request's own verdict on its bounds; nil where it has none.
func Check(request any) error {
	if r, ok := request.(interface{ Check() error }); ok {
		return r.Check()
	}
	return nil
}

// The methods of a host. Reading configuration files takes the highest role: they
// may hold secrets.
var (
	Hello     = Method[HelloRequest, HelloReply]{Name: "hello", Role: RoleWatch}
	Observe   = Method[ObserveRequest, ObserveReply]{Name: "observe", Role: RoleWatch}
	Capture   = Method[CaptureRequest, CaptureReply]{Name: "capture", Role: RoleWatch}
	Journal   = Method[Empty, JournalReply]{Name: "journal", Role: RoleWatch}
	LLDP      = Method[LLDPRequest, LLDPReply]{Name: "lldp", Role: RoleWatch}
	Routes    = Method[RoutesRequest, RoutesReply]{Name: "routes", Role: RoleWatch}
	Sockets   = Method[SocketsRequest, SocketsReply]{Name: "sockets", Role: RoleWatch}
	Traffic   = Method[TrafficRequest, TrafficReply]{Name: "traffic", Role: RoleWatch}
	Calibrate = Method[CalibrateRequest, CalibrateReply]{Name: "calibrate", Role: RoleMeasure}
	CoreRate  = Method[CoreRateRequest, CoreRateReply]{Name: "core-rate", Role: RoleMeasure}
	Ping      = Method[PingRequest, PingReply]{Name: "ping", Role: RoleMeasure}

	Lock    = Method[LockRequest, LockReply]{Name: "hold", Role: RoleMeasure}
	Release = Method[Empty, Empty]{Name: "release", Role: RoleMeasure}

	OpenSink    = Method[SinkRequest, SinkReply]{Name: "sink", Role: RoleMeasure}
	OpenSource  = Method[SourceRequest, SourceReply]{Name: "source", Role: RoleMeasure}
	Start       = Method[StartRequest, Empty]{Name: "start", Role: RoleMeasure}
	ReadSamples = Method[SampleRequest, SampleReply]{Name: "sample", Role: RoleMeasure}
	Finish      = Method[SessionRequest, FinishReply]{Name: "finish", Role: RoleMeasure}

	OpenIPerf3   = Method[IPerf3OpenRequest, IPerf3OpenReply]{Name: "iperf3-open", Role: RoleMeasure}
	StartIPerf3  = Method[SessionRequest, Empty]{Name: "iperf3-start", Role: RoleMeasure}
	SampleIPerf3 = Method[SampleRequest, SampleReply]{Name: "iperf3-sample", Role: RoleMeasure}
	EndIPerf3    = Method[SessionRequest, IPerf3EndReply]{Name: "iperf3-end", Role: RoleMeasure}

	StartTool = Method[ToolRequest, ToolReply]{Name: "tool-start", Role: RoleMeasure}
	EndTool   = Method[SessionRequest, ToolEndReply]{Name: "tool-end", Role: RoleMeasure}

	Apply       = Method[ApplyRequest, ApplyReply]{Name: "apply", Role: RoleChange, Audited: true}
	Armed       = Method[ArmedRequest, Empty]{Name: "apply-armed", Role: RoleChange}
	Begin       = Method[BeginRequest, Empty]{Name: "apply-begin", Role: RoleChange}
	Confirm     = Method[ConfirmRequest, Empty]{Name: "confirm", Role: RoleChange, Audited: true}
	Rollback    = Method[RollbackRequest, RollbackReply]{Name: "rollback", Role: RoleChange, Audited: true}
	ConfigFiles = Method[ConfigFilesRequest, ConfigFilesReply]{Name: "config-files", Role: RoleChange}
)
