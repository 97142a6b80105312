package answer

import (
	"cmp"
	"fmt"
	"html"
	"slices"
	"strconv"
	"strings"

	"github.com/linerate/linerate/diagnose/pasted"
	"github.com/linerate/linerate/internal/bondopt"
	"github.com/linerate/linerate/internal/evidence/paste/hoststate"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/unit"
)

// What a picture shows at most: more is counted.
const (
	mostBoxes = 6
	mostPorts = 8
)

// box is a host, or a switch where no host's links were read, with its links.
type box struct {
	name, below string // below says what its links are together: a bond's mode
	wires       []wire
	more        int // wires that are not drawn
}

// wire is one link.
type wire struct {
	name  string
	state string // "", "down" or "idle": in the bond, but it carries nothing
	words string // speed and load, as far as they were read
	share float64
}

// Picture draws the hosts of a case, their links and the switch as SVG: what was read
// and nothing else. It is "" where no links were read.
func Picture(c piece.Case) string {
	var boxes []box
	var switches []string
	for _, h := range c.Hosts {
		if h.Switch {
			switches = append(switches, cmp.Or(h.Name, "switch"))
			continue
		}
		boxes = append(boxes, boxesOf(h)...)
	}
	across := strings.Join(switches, ", ")
	if len(boxes) == 0 {
		for _, h := range c.Hosts {
			if h.Switch {
				boxes = append(boxes, channels(h)...)
			}
		}
		across = ""
	}
	if len(boxes) == 0 {
		return ""
	}
	return draw(boxes, across, len(switches) > 0)
}

// boxesOf are a host's bonds with their ports; its other links where it has no bond.
func boxesOf(h *piece.Host) []box {
	state := hoststate.Of(h)
	name := cmp.Or(h.Name, "host")
	var out []box
	var others []string
	for _, l := range state.Links {
		switch {
		case l.Bond != nil && len(l.Bond.Ports) > 0:
			out = append(out, boxOf(h, state, name, bondText(l), l.Bond.Ports))
		case l.Bond == nil && l.Kind == "" && l.Name != "lo" && (l.Speed > 0 || len(l.Addresses) > 0):
			others = append(others, l.Name)
		}
	}
	if len(out) == 0 && len(others) > 0 {
		out = append(out, boxOf(h, state, name, "", others))
	}
	return out
}

// bondText is a bond's name, mode and hash policy, as far as they were read.
func bondText(l netstate.Link) string {
	words := []string{l.Name}
	if read(l, "Bonding Mode") {
		words = append(words, l.Bond.Mode.String())
		if l.Bond.Mode.Hashes() && read(l, "Transmit Hash Policy") {
			words = append(words, l.Bond.HashPolicy.String())
		}
	}
	return strings.Join(words, ", ")
}

// read reports a bond's option that was read, by the kernel's title.
func read(l netstate.Link, title string) bool {
	o, known := bondopt.ByProc(title)
	return known && !slices.Contains(l.Bond.NotRead, o.Name)
}

func boxOf(h *piece.Host, state netstate.Host, name, below string, links []string) box {
	b := box{name: name, below: below}
	shares, _, shared := pasted.Shares(h, links, "tx")
	for i, link := range links {
		if i == mostPorts {
			b.more = len(links) - i
			break
		}
		w := wire{name: link}
		var words []string
		if at := slices.IndexFunc(state.Links, func(l netstate.Link) bool { return l.Name == link }); at >= 0 {
			l := state.Links[at]
			if l.Speed > 0 {
				words = append(words, short(l.Speed))
			}
			switch {
			case !l.Carrier:
				w.state = "down"
			case l.Port != nil && !l.Port.Active:
				w.state = "idle"
			}
		}
		words = append(words, loads(h, "link "+link)...)
		if shared {
			if w.share = shares[link]; len(loads(h, "link "+link)) == 0 {
				words = append(words, fmt.Sprintf("%.0f %% of what was sent", 100*w.share))
			}
			if w.share < 0.01 && w.state == "" {
				w.state = "idle"
			}
		}
		if w.state != "" {
			words = append(words, w.state)
		}
		w.words = strings.Join(words, ", ")
		b.wires = append(b.wires, w)
	}
	return b
}

// loads are the rates that a monitor showed on a link.
func loads(h *piece.Host, subject string) (out []string) {
	for _, way := range []string{"tx", "rx"} {
		v, ok := h.Get(subject, "seen_"+way+"_bps")
		if n, err := strconv.ParseFloat(v.Text, 64); ok && err == nil && n >= 0 {
			out = append(out, way+" "+unit.BitRate(n).String())
		}
	}
	return out
}

// short is a link's speed as cards are named: 10G.
func short(r unit.BitRate) string {
	if r >= unit.Gbps {
		return strconv.FormatFloat(float64(r/unit.Gbps), 'f', -1, 64) + "G"
	}
	return strconv.FormatFloat(float64(r/unit.Mbps), 'f', -1, 64) + "M"
}

// channels are a switch's, where the text is about nothing else.
func channels(h *piece.Host) (out []box) {
	for _, name := range h.Subjects("channel") {
		members, _ := h.Get("channel "+name, "members")
		ports := strings.Fields(members.Text)
		if len(ports) == 0 {
			continue
		}
		b := box{name: cmp.Or(h.Name, "switch"), below: name}
		for i, port := range ports {
			if i == mostPorts {
				b.more = len(ports) - i
				break
			}
			var words []string
			if speed, _ := h.Get("port "+port, "speed"); piece.Speed(speed.Text) > 0 {
				words = append(words, short(piece.Speed(speed.Text)))
			}
			b.wires = append(b.wires, wire{name: port, words: strings.Join(append(words, loads(h, "port "+port)...), ", ")})
		}
		out = append(out, b)
	}
	return out
}

// Measures of a picture, in its own units: it is scaled to the page's width.
const (
	width     = 340
	boxRight  = 118
	peerLeft  = 268
	rowHeight = 34
	lettering = 6.2 // a letter's width
)

func draw(boxes []box, across string, switches bool) string {
	left := 0
	if len(boxes) > mostBoxes {
		left, boxes = len(boxes)-mostBoxes, boxes[:mostBoxes]
	}
	var b strings.Builder
	var said []string
	y := 8
	for _, one := range boxes {
		rows := len(one.wires)
		height := max(rows*rowHeight, 44)
		if one.more > 0 {
			height += 18
		}
		fmt.Fprintf(&b, `<rect class="box" x="4" y="%d" width="%d" height="%d" rx="5"/>`, y, boxRight-4, height)
		label(&b, 10, y+18, "name", one.name, boxRight-14)
		for i, line := range fold(one.below, boxRight-14) {
			if 36+15*i > height {
				break
			}
			label(&b, 10, y+34+15*i, "soft", line, boxRight-14)
		}
		said = append(said, strings.TrimSuffix(one.name+", "+one.below, ", "))
		for i, w := range one.wires {
			at := y + i*rowHeight + (height-rows*rowHeight)/2 + rowHeight/2 + 6
			if one.more > 0 {
				at -= 9
			}
			thick := 1.5 + 5*min(w.share, 1)
			fmt.Fprintf(&b, `<line class="wire %s" x1="%d" y1="%d" x2="%d" y2="%d" stroke-width="%.1f"/>`, w.state, boxRight, at, peerLeft, at, thick)
			label(&b, boxRight+4, at-15+2, "link", w.name, peerLeft-boxRight-8)
			said = append(said, strings.TrimSuffix(w.name+": "+w.words, ": "))
			label(&b, boxRight+4, at+13, "soft", w.words, peerLeft-boxRight-8)
		}
		if one.more > 0 {
			label(&b, boxRight+4, y+height-4, "soft", fmt.Sprintf("and %s more", unit.Counted(one.more, "link")), peerLeft-boxRight-8)
		}
		y += height + 12
	}
	bottom := y - 12
	fmt.Fprintf(&b, `<rect class="%s" x="%d" y="8" width="%d" height="%d" rx="5"/>`, map[bool]string{true: "box", false: "box unread"}[across != ""], peerLeft, width-4-peerLeft, bottom-8)
	words := cmp.Or(across, map[bool]string{true: "hosts: not read", false: "switch or peer: not read"}[switches])
	lines := fold(words, width-peerLeft-16)
	for i, line := range lines {
		label(&b, peerLeft+6, (8+bottom)/2+4+15*i-7*(len(lines)-1), "name", line, width-peerLeft-12)
	}
	if left > 0 {
		label(&b, 10, y+8, "soft", fmt.Sprintf("and %d more, not drawn", left), width-20)
		y += 20
	}
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img" aria-label="%s">%s</svg>`,
		width, y, html.EscapeString("Links as read. "+strings.Join(said, "; ")+"; "+words), b.String())
}

// label writes a text that keeps to a width: what does not fit is cut.
func label(b *strings.Builder, x, y int, class, text string, room int) {
	if most := int(float64(room) / lettering); len([]rune(text)) > most {
		text = string([]rune(text)[:max(most-1, 1)]) + "…"
	}
	if text != "" {
		fmt.Fprintf(b, `<text class="%s" x="%d" y="%d">%s</text>`, class, x, y, html.EscapeString(text))
	}
}

// fold breaks a text at blanks into lines of a width.
func fold(text string, room int) (lines []string) {
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && float64(len([]rune(line+" "+word)))*lettering > float64(room) {
			lines = append(lines, line)
			line = ""
		}
		line = strings.TrimSpace(line + " " + word)
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}
