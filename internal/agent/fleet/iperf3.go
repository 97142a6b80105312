package fleet

import (
	"context"

	"github.com/linerate/linerate/internal/agent/agentapi"
)

// OpenIPerf3 connects the host to an iperf3 server and prepares a test.
func (h *Host) OpenIPerf3(ctx context.Context, r agentapi.IPerf3OpenRequest) (agentapi.IPerf3OpenReply, error) {
	return call[agentapi.IPerf3OpenReply](ctx, h, agentapi.MethodIPerf3Open, r)
}

// StartIPerf3 lets bytes flow.
func (h *Host) StartIPerf3(ctx context.Context, r agentapi.IPerf3StartRequest) (agentapi.IPerf3StartReply, error) {
	return call[agentapi.IPerf3StartReply](ctx, h, agentapi.MethodIPerf3Start, r)
}

// SampleIPerf3 counts a test now.
func (h *Host) SampleIPerf3(ctx context.Context, r agentapi.SampleRequest) (agentapi.SampleReply, error) {
	return call[agentapi.SampleReply](ctx, h, agentapi.MethodIPerf3Sample, r)
}

// EndIPerf3 ends a test and asks the server for its results.
func (h *Host) EndIPerf3(ctx context.Context, r agentapi.IPerf3EndRequest) (agentapi.IPerf3EndReply, error) {
	return call[agentapi.IPerf3EndReply](ctx, h, agentapi.MethodIPerf3End, r)
}
