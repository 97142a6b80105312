package console

import (
	"fmt"
	"strings"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/internal/advise/snippet"
	"github.com/linerate/linerate/internal/bondopt"
	"github.com/linerate/linerate/render"
)

// RenderedTo are the formats that a host's system reads; nil for Linux, which has
// many, and for a system that has no format here.
func RenderedTo(system string) []render.Format {
	switch system {
	case bondopt.FreeBSD:
		return []render.Format{render.FormatFreeBSD, render.FormatTrueNAS}
	case bondopt.AIX:
		return []render.Format{render.FormatAIX}
	}
	return nil
}

// NotChanged is what to do about a host that does not run Linux, which nothing here
// changes: the files to write, or the lines to type there.
func NotChanged(file fabric.Fabric, h fabric.Host) string {
	if formats := RenderedTo(h.System); formats != nil {
		hint := fmt.Sprintf("write its files: `linerate render %s --host %s --to %s`", file.File, h.Name, formats[0])
		if h.System == bondopt.FreeBSD {
			hint += ", for TrueNAS CORE --to truenas"
		}
		return hint
	}
	state, err := file.State(h.Name)
	if err != nil {
		return ""
	}
	var lines []string
	for _, l := range state.Links {
		if l.Bond != nil && l.Bond.Own != nil {
			lines = append(lines, snippet.OwnBond(h.System, l.Name, *l.Bond.Own, l.Bond.Ports)...)
		}
	}
	if lines == nil {
		return "change it there"
	}
	return "type there: " + strings.Join(lines, "; ")
}

// OtherSystem is the error for a host that is to be changed and does not run Linux.
func OtherSystem(file fabric.Fabric, h fabric.Host) error {
	return BadUsage(fmt.Sprintf("%s: host %s runs %s, and linerate changes Linux hosts only", file.File, h.Name, bondopt.SystemTitle(h.System)), NotChanged(file, h))
}
