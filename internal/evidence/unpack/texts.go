package unpack

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/linerate/linerate/internal/evidence/paste/archive"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/unit"
)

// contents are what a walk has found, or why it found nothing.
func (w *walk) contents(err error) (Contents, error) {
	if err != nil && !errors.Is(err, errEnough) {
		return Contents{}, err
	}
	if w.dropped.names > 0 {
		w.note(unit.Counted(w.dropped.names, "member") + " left out: the path leads out of the archive, or has control characters")
	}
	if w.dropped.cut > 0 {
		w.note(fmt.Sprintf("%s larger than %d MiB: of each the beginning was read", unit.Counted(w.dropped.cut, "file"), w.most.member>>20))
	}
	if w.dropped.locked > 0 {
		w.note(unit.Counted(w.dropped.locked, "encrypted member") + " left out: unpack it with its password, and name the directory")
	}
	if n := w.dropped.empty; n > 0 {
		w.note(unit.Counted(n, "empty file") + " of /proc: tar packs them so; copy them with `cp -r` first, then pack the copy")
	}
	if n := w.dropped.notes; n > 0 {
		w.notes = append(w.notes, unit.Counted(n, "more note"))
	}
	if w.single != nil {
		return Contents{Single: true, Notes: w.notes, Texts: []piece.Text{{Name: w.single.name, Bytes: w.single.text}}}, nil
	}
	c := Contents{Notes: w.notes, Capture: w.captured()}
	w.part()
	slices.SortStableFunc(w.order, func(a, b *found) int {
		return cmp.Or(strings.Compare(a.Root, b.Root), cmp.Compare(class(a.Member), class(b.Member)), strings.Compare(a.name, b.name), cmp.Compare(a.first, b.first))
	})
	roots := w.roots()
	for _, f := range w.order {
		if f.Names || f.Command == "" && f.Path == "" {
			continue
		}
		c.Texts = append(c.Texts, piece.Text{
			Name: shown(f), Host: cmp.Or(f.Host, roots[f.Root]), Bytes: f.text, Command: f.Command, Path: f.Path, First: f.first,
		})
	}
	return c, nil
}

// captured reports a copy of /proc and /sys and nothing else, which internal/host/observe
// reads better.
func (w *walk) captured() bool {
	if w.capture {
		return true
	}
	links := false
	for _, f := range w.order {
		if f.Root != w.order[0].Root || f.Several || f.Command != "" && f.Command != "uname -r" {
			return false
		}
		links = links || strings.HasPrefix(f.Path, "/sys/class/net/") && strings.HasSuffix(f.Path, "/mtu")
	}
	return links
}

// class orders what is read of a host: what is configured before what runs, for the
// last value counts; logs at the end.
func class(m archive.Member) int {
	switch {
	case m.Log:
		return 3
	case m.Command != "":
		return 2
	case strings.HasPrefix(m.Path, "/etc/"):
		return 0
	}
	return 1
}

// part puts the outputs of a text in its place that has several.
func (w *walk) part() {
	var out []*found
	for _, f := range w.order {
		if !f.Several {
			out = append(out, f)
			continue
		}
		parts, _ := archive.Parts(f.text)
		for _, p := range parts {
			p.Root = f.Root
			if host, rank := archive.NameIn(p.Member, p.Text); host != "" {
				if now, ok := w.names[p.Root]; !ok || rank < now.rank {
					w.names[p.Root] = named{host, rank}
				}
			}
			out = append(out, &found{Member: p.Member, name: f.name, text: p.Text, first: p.First})
		}
	}
	w.order = out
}

// roots are the hosts' directories in the archive, each with the host's name: what a
// file in it says, what the report's name has in it, the directory's, the archive's.
func (w *walk) roots() map[string]string {
	out := make(map[string]string)
	for _, f := range w.order {
		out[f.Root] = ""
	}
	for root := range out {
		own := ""
		if root != "" && (len(out) > 1 || archive.Packed(root)) {
			own = archive.NameOf(root)
		}
		out[root] = cmp.Or(w.names[root].host, archive.ReportOf(root), archive.ReportOf(w.name), own, archive.NameOf(w.name))
	}
	return out
}

// shown is a member's name as people read it: without the directory that stands for
// its host.
func shown(f *found) string {
	return path.Clean(strings.TrimPrefix(strings.TrimPrefix(f.name, f.Root), "/"))
}
