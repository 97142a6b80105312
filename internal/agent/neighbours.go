package agent

import (
	"context"
	"fmt"
	"io/fs"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/host/observe"
	"github.com/linerate/linerate/internal/kernel/lldp"
	"github.com/linerate/linerate/internal/kernel/rtnl"
	"github.com/linerate/linerate/internal/traffic/corerate"
	"github.com/linerate/linerate/netstate"
)

func (a *Agent) lldp(ctx context.Context, req agentapi.LLDPRequest) (agentapi.LLDPReply, error) {
	reply := agentapi.LLDPReply{Neighbors: []netstate.Neighbor{}}
	req, err := req.Check()
	if err != nil {
		return reply, err
	}
	err = a.cfg.Namespace.Do(func() error {
		ports, err := portsNamed(req.Links)
		if err != nil {
			return err
		}
		heard, err := lldp.Listen(ctx, ports, req.Wait)
		reply.Neighbors = append(reply.Neighbors, heard...)
		return err
	})
	return reply, err
}

func portsNamed(names []string) ([]lldp.Port, error) {
	links, err := rtnl.Links()
	if err != nil {
		return nil, err
	}
	host := netstate.Host{Links: links}
	var ports []lldp.Port
	for _, name := range names {
		l, ok := host.Link(name)
		if !ok {
			return nil, fmt.Errorf("listen on %s: %w", name, fs.ErrNotExist)
		}
		ports = append(ports, lldp.Port{Name: name, Index: l.Index})
	}
	return ports, nil
}

func (a *Agent) coreRate(ctx context.Context, req agentapi.CoreRateRequest) (agentapi.CoreRateReply, error) {
	return corerate.Run(ctx, corerate.Config{Namespace: a.cfg.Namespace, CPU: a.counters.processors, Time: req.Span(), Logger: a.cfg.Logger})
}

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
