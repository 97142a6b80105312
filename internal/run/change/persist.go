package change

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/agent/ask"
	"github.com/linerate/linerate/internal/wanted"
	"github.com/linerate/linerate/plan"
	"github.com/linerate/linerate/render"
	"github.com/linerate/linerate/render/formats"
	"github.com/linerate/linerate/render/ifupdown"
)

// ErrNoFiles is a namespace that is to keep a change in files.
var ErrNoFiles = errors.New("a network namespace has no files of its own")

// persist adds the files that keep the change over a reboot.
func (c *Change) persist(ctx context.Context, part *Host, want wanted.State) error {
	fileless := c.inside[part.Name] && c.cfg.Roots[part.Name] == ""
	part.Persist, part.PersistWhy = backEnd(c.before.Hosts[part.Name], fileless)
	asked := c.cfg.Persist
	switch asked {
	case "", PersistAuto, PersistAlways:
	case PersistNone:
		part.Persist, part.PersistWhy = "", "as asked: until the next reboot"
		return nil
	default:
		part.Persist, part.PersistWhy = render.Format(asked), "as asked"
	}
	if fileless {
		if part.Persist != "" {
			return fmt.Errorf("keep it in %s files: %w", part.Persist, ErrNoFiles)
		}
		return nil
	}
	explicit := asked != "" && asked != PersistAuto // always, or a format
	if part.Persist != "" && (explicit || changesNetwork(part.Plan)) {
		if err := c.files(ctx, part, want, part.Persist); err != nil {
			return err
		}
	}
	if part.Persist != "" || changesSysctls(part.Plan) {
		return c.files(ctx, part, want, render.FormatSysctl)
	}
	return nil
}

func changesSysctls(p plan.Plan) bool {
	return slices.ContainsFunc(p.Steps, func(s plan.Step) bool { return s.Kind == plan.Sysctl })
}

func changesNetwork(p plan.Plan) bool {
	return slices.ContainsFunc(p.Steps, func(s plan.Step) bool { return s.Kind != plan.Sysctl })
}

// files renders one format into the plan.
func (c *Change) files(ctx context.Context, part *Host, want wanted.State, format render.Format) error {
	old, err := ask.Call(ctx, c.hosts[part.Name], agentapi.ConfigFiles, agentapi.ConfigFilesRequest{Format: format})
	if err != nil {
		return fmt.Errorf("read %s files: %w", format, err)
	}
	declared, _ := c.cfg.Fabric.Host(part.Name)
	if !c.cfg.Exact {
		var left string
		if declared, left = keeping(declared, format, old.Files); left != "" {
			part.Warnings = append(part.Warnings, left)
		}
	}
	in := render.Input{Host: declared, State: want.Host, Old: old.Files, Sysctls: map[string]string{}, SysctlReasons: map[string]string{}}
	for key, reason := range want.Reasons {
		if v, isSysctl := want.Host.Sysctls[key]; isSysctl {
			in.Sysctls[key], in.SysctlReasons[key] = v.Value, words(reason)
		}
	}
	out, err := formats.Write(format, in)
	if errors.Is(err, render.ErrEmpty) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, w := range out.Warnings {
		part.Warnings = append(part.Warnings, w.String())
	}
	for _, f := range out.Files {
		text := f.Text
		file := plan.File{Path: f.Path, Mode: f.Mode, New: &text}
		if was, there := old.Files[f.Path]; there {
			if was == text {
				continue
			}
			file.Old = &was
		}
		part.Plan.Files = append(part.Plan.Files, file)
	}
	if format == render.FormatIfupdown {
		after := map[string]string{}
		maps.Copy(after, old.Files)
		for _, f := range out.Files {
			after[f.Path] = f.Text
		}
		part.Warnings = append(part.Warnings, ifupdown.Reloads(after, want.Host)...)
	}
	return nil
}

func words(r plan.Reason) string {
	if r.Why == "" {
		return r.By
	}
	return r.By + ": " + r.Why
}
