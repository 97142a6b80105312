package agent

import (
	"context"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/host/observe"
)

func (a *Agent) capture(ctx context.Context, req agentapi.CaptureRequest) (agentapi.CaptureReply, error) {
	var made observe.Archive
	err := a.cfg.Namespace.DoWithSysfs(func() (err error) {
		made, err = observe.Capture(ctx, observe.CaptureConfig{
			Config: observe.Config{Logger: a.cfg.Logger}, Name: a.name(), Anonymous: req.Anonymous, Version: a.cfg.Version,
		})
		return err
	})
	return agentapi.CaptureReply{Archive: made.Content, Files: made.Files, Missing: made.About.Missing}, err
}
