package scene

import (
	"slices"
	"strings"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/unit"
)

// SpeedNow is a link's speed as it is, else as the newest line of the log that says
// the link is up; zero unknown.
func SpeedNow(h *piece.Host, link string) (unit.BitRate, piece.Value) {
	x, ok := Fact(h, link, "speed")
	if speed := piece.Speed(x.Text); ok && speed > 0 {
		return speed, x
	}
	mbps, _, ok := Number(h, "link "+link, "log_speed")
	if !ok || mbps <= 0 {
		return 0, piece.Value{}
	}
	x, _ = h.Get("link "+link, "log_speed")
	return unit.BitRate(mbps) * unit.Mbps, piece.Value{Text: x.Text + " Mbit/s", Source: x.Source}
}

// LinkSpeeds are those of the links that were read and are up, each once. They are looked
// for once: every run is compared with them.
func (v *View) LinkSpeeds() []unit.BitRate {
	if v.speeds != nil {
		return v.speeds
	}
	v.speeds = []unit.BitRate{}
	for _, h := range v.Hosts {
		for _, name := range h.Subjects("link") {
			if speed, _ := SpeedNow(h, name); speed > 0 && !slices.Contains(v.speeds, speed) && !NoLink(h, "link "+name) {
				v.speeds = append(v.speeds, speed)
			}
		}
	}
	return v.speeds
}

// NoLink reports a port that is down: its duplex and speed say nothing.
func NoLink(h *piece.Host, subject string) bool {
	for _, key := range []string{"carrier", "state", "status"} {
		x, _ := h.Get(subject, key)
		switch strings.ToLower(x.Text) {
		case "no", "down", "lowerlayerdown", "no-link", "notconnect", "notconnec", "disabled":
			return true
		}
	}
	x, ok := h.Get(subject, "speed")
	return ok && piece.Speed(x.Text) == 0
}
