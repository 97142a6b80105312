package answer

import (
	"cmp"
	"fmt"
	"html"
	"slices"
	"strconv"
	"strings"

	"github.com/linerate/linerate/diagnose/pasted/scene"
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
	if len(boxes) == 0 {
		for _, h := range c.Hosts {
			if h.Switch {
				boxes = append(boxes, channels(h)...)
			}
		}
		if len(boxes) == 0 {
			return ""
		}
		return draw(boxes, []string{"hosts: not read"}, false)
	}
	if len(switches) == 0 {
		return draw(boxes, []string{"switch or peer: not read"}, false)
	}
	return draw(boxes, switches, true)
}

// boxesOf are a host's bundles (bonds, teams, laggs) with their ports; its other links
// where it has none.
func boxesOf(h *piece.Host) []box {
	state := hoststate.Of(h)
	name := cmp.Or(h.Name, "host")
	var masters []string
	for _, l := range state.Links {
		for _, one := range []string{l.Name, l.Master} {
			if one != "" && !slices.Contains(masters, one) {
				masters = append(masters, one)
			}
		}
	}
	var out []box
	for _, master := range masters {
		l, _ := state.Link(master)
		if ports := portsOf(h, state, master); len(ports) > 0 && l.Bridge == nil {
			out = append(out, boxOf(h, state, name, bundleText(l, master), ports))
		}
	}
	if len(out) > 0 {
		return out
	}
	var others []string
	for _, l := range state.Links {
		if l.Kind == "" && l.Name != "lo" && (l.Speed > 0 || len(l.Addresses) > 0 || len(loads(h, "link "+l.Name)) > 0) {
			others = append(others, l.Name)
		}
	}
	if len(others) == 0 {
		return nil
	}
	return []box{boxOf(h, state, name, "", others)}
}

// portsOf are a bundle's ports; none of another link.
func portsOf(h *piece.Host, state netstate.Host, master string) []string {
	if l, _ := state.Link(master); l.Bond != nil {
		return l.Bond.Ports
	}
	if ports := h.Ports[master]; len(ports) > 0 {
		return ports
	}
	var ports []string
	for _, l := range state.Links {
		if l.Master == master {
			ports = append(ports, l.Name)
		}
	}
	return ports
}

// bundleText is a bundle's name with its mode and hash policy, or its kind, as far as
// they were read.
func bundleText(l netstate.Link, name string) string {
	words := []string{name}
	switch {
	case l.Bond == nil && l.Kind != "":
		words = append(words, l.Kind)
	case l.Bond != nil && read(l, "Bonding Mode"):
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
	sent, _, toldSent := scene.Shares(h, links, "tx")
	received, _, toldReceived := scene.Shares(h, links, "rx")
	for i, link := range links {
		if i == mostPorts {
			b.more = len(links) - i
			break
		}
		w := wire{name: link, share: max(sent[link], received[link])}
		var words []string
		if l, ok := state.Link(link); ok {
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
		rates := loads(h, "link "+link)
		if words = append(words, rates...); len(rates) == 0 {
			if toldSent {
				words = append(words, fmt.Sprintf("tx %.0f %%", 100*sent[link]))
			}
			if toldReceived {
				words = append(words, fmt.Sprintf("rx %.0f %%", 100*received[link]))
			}
		}
		if toldSent && toldReceived && w.share < 0.01 && w.state == "" {
			w.state = "idle"
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

// Measures of a picture, in its own units: it is scaled to the page's width, and letters
// are readable on a screen of 320 pixels.
const (
	width    = 300
	boxRight = 98
	peerLeft = 216
	bold     = 7.2 // a letter's width in a name, as wide as fonts have it
	plain    = 5.9 // and in what stands below
	line     = 14  // a line's height
	gap      = 10  // between boxes
)

// pen draws: what it has written, how far down, and the same in words.
type pen struct {
	strings.Builder
	y    int
	said []string
}

// draw draws boxes, and across from them what their links lead to: read or not.
func draw(boxes []box, across []string, known bool) string {
	left := len(boxes) - mostBoxes
	p := &pen{y: 6}
	for _, one := range boxes[:min(len(boxes), mostBoxes)] {
		p.box(one)
	}
	bottom := p.y - gap
	class := "box unread"
	if known {
		class = "box"
	}
	fmt.Fprintf(p, `<rect class="%s" x="%d" y="6" width="%d" height="%d" rx="5"/>`, class, peerLeft, width-2-peerLeft, bottom-6)
	var lines []string
	for _, name := range across {
		lines = append(lines, fold(name, width-peerLeft-10, bold)...)
	}
	lines = lines[:min(len(lines), max((bottom-6)/line, 1))]
	for i, words := range lines {
		p.label(peerLeft+6, (6+bottom)/2+4+line*i-line*(len(lines)-1)/2, "name", words)
	}
	if left > 0 {
		p.label(2, p.y+4, "soft", fmt.Sprintf("and %d more, not drawn", left))
		p.y += line
	}
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img" aria-label="%s">%s</svg>`,
		width, p.y, html.EscapeString("Links as read. "+strings.Join(append(p.said, across...), "; ")), p.String())
}

// box draws a host with its links.
func (p *pen) box(b box) {
	names, below := fold(b.name, boxRight-14, bold), fold(b.below, boxRight-14, plain)
	heights, rows := make([]int, len(b.wires)), 0
	for i, w := range b.wires {
		heights[i] = 24 + line*len(fold(w.words, peerLeft-boxRight-8, plain))
		rows += heights[i]
	}
	if b.more > 0 {
		rows += line + 4
	}
	height := max(rows+4, line*(len(names)+len(below))+12)
	fmt.Fprintf(p, `<rect class="box" x="2" y="%d" width="%d" height="%d" rx="5"/>`, p.y, boxRight-2, height)
	for i, words := range names {
		p.label(8, p.y+16+line*i, "name", words)
	}
	for i, words := range below {
		p.label(8, p.y+17+line*(len(names)+i), "soft", words)
	}
	p.said = append(p.said, strings.TrimSuffix(b.name+", "+b.below, ", "))
	at := p.y + (height-rows)/2
	for i, w := range b.wires {
		p.label(boxRight+6, at+13, "link", cut(w.name, peerLeft-boxRight-8, bold))
		fmt.Fprintf(p, `<line class="wire %s" x1="%d" y1="%d" x2="%d" y2="%d" stroke-width="%.1f"/>`, w.state, boxRight, at+19, peerLeft, at+19, 1.5+3.5*min(w.share, 1))
		for j, words := range fold(w.words, peerLeft-boxRight-8, plain) {
			p.label(boxRight+6, at+32+line*j, "soft", words)
		}
		p.said = append(p.said, strings.TrimSuffix(w.name+": "+w.words, ": "))
		at += heights[i]
	}
	if b.more > 0 {
		p.label(boxRight+6, at+line, "soft", "and "+unit.Counted(b.more, "link")+" more")
	}
	p.y += height + gap
}

func (p *pen) label(x, y int, class, text string) {
	fmt.Fprintf(p, `<text class="%s" x="%d" y="%d">%s</text>`, class, x, y, html.EscapeString(text))
}

// cut is a text that keeps to a width, with a sign where it ends early.
func cut(text string, room int, letter float64) string {
	letters := []rune(text)
	if most := int(float64(room) / letter); len(letters) > most {
		return string(letters[:max(most-1, 1)]) + "…"
	}
	return text
}

// fold breaks a text into lines of a width: at blanks, and in words that are too long.
func fold(text string, room int, letter float64) (lines []string) {
	most := max(int(float64(room)/letter), 1)
	var now []rune
	end := func() {
		if len(now) > 0 {
			lines = append(lines, string(now))
		}
		now = nil
	}
	for _, word := range strings.Fields(text) {
		letters := []rune(word)
		if len(now) > 0 && len(now)+1+len(letters) > most {
			end()
		}
		if len(now) > 0 {
			now = append(now, ' ')
		}
		for len(letters) > most {
			now = letters[:most]
			letters = letters[most:]
			end()
		}
		now = append(now, letters...)
	}
	end()
	return lines
}
