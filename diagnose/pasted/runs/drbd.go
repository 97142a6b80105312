package runs

import (
	"fmt"

	"github.com/linerate/linerate/diagnose/pasted/scene"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// resync: DRBD that synchronises no faster than its own controller asks for. Without
// c-max-rate that is 100 MiB/s; while something uses the disk c-min-rate holds it back
// (drbd.conf(5) of 8.4 and 9).
func resync(v *scene.View) {
	for _, h := range v.Hosts {
		bits, at, ok := scene.Number(h, "drbd", "speed_bps")
		if state, told := h.Get("drbd", "state"); !ok || told && !scene.Contains(state.Text, "sync", "verify") {
			continue
		}
		speed := unit.BitRate(bits)
		evidence := []record.Evidence{scene.Saw("resync of DRBD", speed.String(), at)}
		wanted, from, asks := scene.Number(h, "drbd", "want_bps")
		sure, why := 0.58, "nothing here says what limits it, and its controller is conservative as it comes (c-max-rate 100 MiB/s, a small c-fill-target and max-buffers)"
		switch {
		case asks && bits >= 0.85*wanted:
			sure, why = 0.88, fmt.Sprintf("its controller asks for no more (want: %v)", unit.BitRate(wanted))
		case asks:
			sure, why = 0.66, fmt.Sprintf("its controller wants %v and slows down: while anything uses the disk c-min-rate (4 MiB/s in 8.3, 250 KiB/s in 8.4) is all that is left, and few buffers (max-buffers) or slow disks do the same", unit.BitRate(wanted))
		}
		if asks {
			evidence = append(evidence, scene.Saw("wanted", unit.BitRate(wanted).String(), from))
		}
		full := false
		for _, name := range h.Subjects("link") {
			full = full || scene.Close(speed, scene.SpeedOf(h, name), 0.8, 1)
		}
		said, seen, told := scene.Number(h, "said", "copy_most_bps")
		if net, there, ok := scene.Number(h, "said", "net_bps"); ok && net > said {
			said, seen, told = net, there, true
		}
		switch {
		case told && said > 1.5*bits:
			sure = min(sure+0.14, 0.92)
			evidence = append(evidence, scene.Saw("said of other traffic", unit.BitRate(said).String(), seen))
		case full, !asks && scene.NearLineRate(speed) && speed < 2*unit.Gbps:
			sure = 0.4 // as fast as one link
		}
		p := of("drbd")
		v.Add(record.Application, sure, h, "DRBD's resync", fmt.Sprintf("DRBD synchronises at %v: %s. The links are not what limits it.", speed, why), p.remedy, evidence...)
	}
}
