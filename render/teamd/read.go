package teamd

import (
	"errors"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/linerate/linerate/fabric/yamldoc"
	"github.com/linerate/linerate/render"
	"github.com/linerate/linerate/render/readback"
)

// Dir is where teamd's unit looks for configurations (teamd@.service).
const Dir = "/etc/teamd/"

// Read returns the bonds that teamd's configurations, text by path, come to. The error
// is render.ErrEmpty where no file is a configuration.
func Read(files map[string]string) (render.Found, error) {
	h := readback.New()
	var warnings []render.Warning
	for _, file := range slices.Sorted(maps.Keys(files)) {
		config, err := Parse(files[file])
		if err != nil {
			var problem yamldoc.Problem
			errors.As(err, &problem)
			h.Unread = append(h.Unread, render.Unread{Path: file, Line: max(problem.Line, 1), Column: problem.Column, Key: path.Base(file), Why: problem.What})
			continue
		}
		name := strings.TrimSuffix(path.Base(file), path.Ext(file))
		if device := config.Get("device"); device != nil {
			name = device.Text
		}
		switch {
		case !readback.LinkName(name):
			h.Miss(file, 1, "device", name, "is no interface's name")
			continue
		case h.Kinds[name] != "":
			h.Miss(file, 1, "device", name, "another file configures this team")
			continue
		}
		Move(h, Team{Name: name, Config: config, File: file})
		h.Mark(file, files[file], 1, strings.Count(files[file], "\n")+1)
		warnings = append(warnings, Moved(render.FormatTeamd, name))
	}
	found, err := h.Found()
	found.Warnings = warnings
	return found, err
}

// Is reports a text that is teamd's configuration.
func Is(text string) bool {
	if !strings.HasPrefix(strings.TrimSpace(text), "{") {
		return false
	}
	config, err := Parse(text)
	return err == nil && (config.Get("runner").Get("name") != nil || config.Get("link_watch") != nil ||
		config.Get("device") != nil && config.Get("ports") != nil)
}
