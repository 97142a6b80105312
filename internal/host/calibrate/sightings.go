package calibrate

import (
	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/steer"
)

// Sightings are a reply as steer.Fit takes them.
func Sightings(r agentapi.CalibrateReply) []steer.Sighting {
	out := make([]steer.Sighting, len(r.Frames))
	for i, f := range r.Frames {
		out[i] = steer.Sighting{Frame: f.Frame, Link: f.Link}
	}
	return out
}
