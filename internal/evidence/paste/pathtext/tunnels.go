package pathtext

import (
	"strings"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
)

// sink is what this package's readers put facts into.
type sink struct{ *piece.Sink }

// readTunnel says which tunnel or overlay a line names. A form's own line, "Backend used
// (e.g. vxlan or udp): udp", has the answer behind its colon.
func readTunnel(text string, said func(key, value string)) {
	if cluster.MatchString(text) {
		said("cluster", cluster.FindString(text))
	}
	if m := backend.FindStringSubmatch(text); m != nil {
		name := strings.ToLower(m[1])
		if name == "udp" {
			name = "flannel-udp"
		}
		said("tunnel", name)
		return
	}
	if m := directive.FindStringSubmatch(text); m != nil {
		said("tunnel", map[bool]string{true: "openvpn", false: map[bool]string{true: "wireguard", false: "ipsec"}[m[2] != ""]}[m[1] != ""])
		return
	}
	if flannelUDP.MatchString(text) && !notUDP.MatchString(text) {
		said("tunnel", "flannel-udp")
		return
	}
	for _, t := range tunnels {
		if t.words.MatchString(text) {
			said("tunnel", t.name)
			return
		}
	}
}

var sentenceEnd = piece.Compile(`[.!?;]\s`)

func sentences(text string) []string { return piece.Cut(text, sentenceEnd) }
