package cli

import (
	"fmt"
	"slices"
	"strings"

	diagnoselive "github.com/linerate/linerate/diagnose/live"
	"github.com/linerate/linerate/internal/evidence/livetraffic"
	"github.com/linerate/linerate/unit"
)

// liveText is what was watched, as people read it: the answer, each program,
// the links, what was not seen.
func liveText(w livetraffic.Watched, r diagnoselive.Report, width int) string {
	var b strings.Builder
	b.WriteString(wrapped("", liveHead(w, r), width))
	b.WriteString("\n" + wrapped("", r.Answer, width))
	for _, f := range r.Flows {
		b.WriteString("\n" + liveFlowText(f, width))
	}
	if len(r.Links) > 0 {
		b.WriteString("\n" + liveLinksText(r.Links, width))
	}
	for i, line := range w.Unseen {
		if i == 0 {
			b.WriteString("\nnot seen\n")
		}
		b.WriteString(wrapped("  - ", line, width))
	}
	return b.String()
}

// liveHead says how long was watched and how much is shown.
func liveHead(w livetraffic.Watched, r diagnoselive.Report) string {
	var all unit.BitRate
	connections := 0
	for _, f := range r.Flows {
		all += f.Rate
		connections += len(f.Connections)
	}
	head := fmt.Sprintf("%s, watched for %.1f s: %s, %v in all", w.Host.Name, w.Span.Seconds(), unit.Counted(connections, "connection"), all)
	var rest []string
	if n := w.Rest.Connections; n > 0 {
		rest = append(rest, fmt.Sprintf("%d more with %v", n, w.Rest.Rate))
	}
	if n := w.Rest.Idle; n > 0 {
		rest = append(rest, fmt.Sprintf("%d idle", n))
	}
	if n := w.Rest.Inside; n > 0 {
		rest = append(rest, fmt.Sprintf("%d inside the host", n))
	}
	if len(rest) > 0 {
		head += " (not shown: " + strings.Join(rest, ", ") + ")"
	}
	return head
}

func liveFlowText(f diagnoselive.Flow, width int) string {
	var b strings.Builder
	fmt.Fprint(&b, outdented("", liveFlowHead(f), width))
	found := f.Finding
	b.WriteString(wrapped("  ", fmt.Sprintf("%s (%s, confidence %.0f %%)", found.Summary, found.Cause, 100*found.Confidence), width))
	for _, e := range found.Evidence {
		b.WriteString(wrapped("    - ", e.What+": "+e.Value, width))
	}
	if why := liveDoubt(f); why != "" {
		b.WriteString(wrapped("    - ", why, width))
	}
	if len(found.Also) > 0 {
		b.WriteString("  It may also be:\n")
		for _, other := range found.Also {
			b.WriteString(wrapped("    - ", fmt.Sprintf("%s, %.0f %%: %s", other.Cause, 100*other.Confidence, other.Summary), width))
		}
	}
	if found.Remedy != "" {
		expected := ""
		if found.Expected > 0 {
			expected = fmt.Sprintf(" Up to %v.", found.Expected)
		}
		b.WriteString(wrapped("  To do: ", found.Remedy+"."+expected, width))
	}
	return b.String()
}

// liveFlowHead is "rsync[812] to 10.0.0.2: 9.9 Gbit/s, 2 connections, by eth0".
func liveFlowHead(f diagnoselive.Flow) string {
	way := "to"
	if !f.Sends {
		way = "from"
	}
	who := diagnoselive.Who(f.Program)
	if !strings.HasSuffix(who, " of "+f.Peer.String()) {
		who += " " + way + " " + f.Peer.String()
	}
	head := fmt.Sprintf("%s: %v, %s", who, f.Rate, unit.Counted(len(f.Connections), "connection"))
	var by []string
	for _, name := range f.Links() {
		ports := livePorts(f, name)
		if len(f.Links()) > 1 {
			by = append(by, fmt.Sprintf("%s (%s)", name, ports))
		} else {
			by = append(by, name+" "+ports)
		}
	}
	if len(by) > 0 && f.Sends {
		head += ", by " + strings.Join(by, " and ")
	}
	return head
}

// livePorts are the local ports of the connections on one link.
func livePorts(f diagnoselive.Flow, link string) string {
	const shown = 4
	var ports []string
	for _, c := range f.Connections {
		if c.Link == link {
			ports = append(ports, fmt.Sprint(c.Sport))
		}
	}
	slices.Sort(ports)
	noun := "port "
	if len(ports) > 1 {
		noun = "ports "
	}
	if n := len(ports); n > shown {
		return noun + strings.Join(ports[:shown], ", ") + fmt.Sprintf(" and %d more", n-shown)
	}
	return noun + strings.Join(ports, ", ")
}

// liveDoubt says why the link of a connection is not known; "" when it is.
func liveDoubt(f diagnoselive.Flow) string {
	for _, c := range f.Connections {
		if c.Link == "" && c.Why != "" && f.Sends {
			return "its link is not known: " + c.Why
		}
	}
	return ""
}

// liveLinksText is a row for each link; what does not fit behind one stands
// below it.
func liveLinksText(links []diagnoselive.Link, width int) string {
	name, rate, share, gap := len("link"), 13, 8, "   "
	for _, l := range links {
		name = max(name, len([]rune(l.Name)))
	}
	const wide, room = 12, 80 // of a name; what such a table is laid out for
	if width >= room {
		name = max(name, wide)
	} else {
		rate, share, gap = 10, 7, " "
	}
	var b strings.Builder
	row := func(link, out, outFull, in, inFull, rest string) {
		line := strings.TrimRight(fmt.Sprintf("%-*s %*s %*s%s%*s %*s", name, link, rate, out, share, outFull, gap, rate, in, share, inFull), " ")
		switch {
		case rest != "" && len([]rune(line))+2+len([]rune(rest)) > width:
			line += "\n" + strings.TrimRight(wrapped("  ", rest, width), "\n")
		case rest != "":
			line += "  " + rest
		}
		b.WriteString(line + "\n")
	}
	row("link", "out", "full", "in", "full", "connections")
	for _, l := range links {
		row(l.Name, l.Tx.String(), liveShare(l.Out, l.OutCeiling), l.Rx.String(), liveShare(l.In, l.InCeiling), liveLinkNotes(l))
	}
	return b.String()
}

// liveLinkNotes are a link's connections, and what is odd about it.
func liveLinkNotes(l diagnoselive.Link) string {
	var notes []string
	if l.Connections > 0 {
		notes = append(notes, fmt.Sprint(l.Connections))
	}
	if l.Unused {
		notes = append(notes, "not used by "+l.Bond)
	}
	if l.TxDrops > 0 {
		notes = append(notes, fmt.Sprintf("%d dropped", l.TxDrops))
	}
	return strings.Join(notes, " ")
}

// liveShare is a link's share; "?" where its rate is not known.
func liveShare(share float64, ceiling unit.BitRate) string {
	if ceiling <= 0 {
		return "?"
	}
	return fmt.Sprintf("%.1f %%", 100*share)
}
