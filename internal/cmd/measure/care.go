package measure

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/lab"
	"github.com/linerate/linerate/internal/run/campaign"
	"github.com/linerate/linerate/internal/run/latencyguard"
	"github.com/linerate/linerate/internal/run/measure"
	"github.com/linerate/linerate/unit"
)

// careFlags are what measure does for a network in use, and what it breaks in
// one that is not.
type careFlags struct {
	rate, bytes, seconds, fail string
	watch                      []string
	factor                     float64
}

func (k *careFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&k.rate, "rate-limit", "", "the most that all streams of a direction send together,\nsuch as 2G; none lets UDP flood the path, TCP has no limit anyway")
	c.Flags().StringVar(&k.bytes, "max-bytes", "", "end the run before it has moved more payload than this,\nsuch as 20G (to within what flows in 0.2 s)")
	c.Flags().StringVar(&k.seconds, "max-seconds", "", "end the run after so many seconds of measuring")
	c.Flags().StringArrayVar(&k.watch, "watch", nil, "an address, or a host of the fabric, that the measured hosts\nping meanwhile: the run ends when its latency rises (repeatable)")
	c.Flags().Float64Var(&k.factor, "watch-factor", latencyguard.DefaultFactor, "how many times its idle median a watched latency may be")
	c.Flags().StringVar(&k.fail, "fail-link", "", "HOST/LINK[@AT[,FOR]]: take a lab host's link down AT into each\nmeasurement, FOR so long (default @2s,3s)")
}

// over lays the flags over a matrix, as far as that needs no host.
func (k *careFlags) over(m *campaign.Matrix) error {
	if k.rate == "none" {
		m.Base.Flood = true
	} else if k.rate != "" {
		r, err := unit.ParseBitRate(k.rate)
		if err != nil || r <= 0 {
			return console.BadUsage("--rate-limit: want a rate above zero, such as 2G, not "+k.rate, "")
		}
		m.Base.Rate = r
	}
	if k.bytes != "" {
		b, err := unit.ParseBytes(k.bytes)
		if err != nil || b <= 0 {
			return console.BadUsage("--max-bytes: want a size above zero, such as 20G, not "+k.bytes, "")
		}
		m.Care.MaxBytes = b
	}
	if k.seconds != "" {
		d, err := parseSeconds(k.seconds)
		if err != nil || d < time.Second {
			return console.BadUsage("--max-seconds: want one second or more, such as 30, not "+k.seconds, "")
		}
		m.Care.MaxTime = d
	}
	if !(k.factor > 1) || k.factor > 1000 {
		return console.BadUsage(fmt.Sprintf("--watch-factor: want more than 1, such as 3, not %v", k.factor), "")
	}
	m.Care.Watch = k.watch
	return k.failOver(m)
}

// hosts checks the flags that name hosts of the fabric, and lays them over a
// matrix.
func (k *careFlags) hosts(m *campaign.Matrix, f fabric.Fabric) error {
	if err := k.watchOver(m, f); err != nil || m.Base.Fail == nil {
		return err
	}
	return k.failing(f, m.Base.Fail.Host)
}

// parseSeconds reads a number of seconds, or a time with its unit.
func parseSeconds(s string) (time.Duration, error) {
	if n, err := strconv.ParseFloat(s, 64); err == nil && n >= 0 && n < 1e9 {
		return time.Duration(n * float64(time.Second)), nil
	}
	return unit.ParseDuration(s)
}

func (k *careFlags) watchOver(m *campaign.Matrix, f fabric.Fabric) error {
	for _, w := range k.watch {
		if a, err := netip.ParseAddr(w); err == nil {
			if a.IsUnspecified() || a.IsMulticast() {
				return console.BadUsage("--watch: "+w+" is no host's address", "")
			}
			continue
		}
		if !isHost(f, w) {
			return console.BadUsage("--watch: "+w+" is neither an address nor a host of the fabric", "write its address, or declare it under hosts:")
		}
	}
	m.Care.Watch, m.Care.Rule = k.watch, latencyguard.Rule{Factor: k.factor}
	return nil
}

func isHost(f fabric.Fabric, name string) bool {
	return slices.ContainsFunc(f.Hosts, func(h fabric.Host) bool { return h.Name == name })
}

// The times of --fail-link where they are not given: enough before to see what
// runs, enough after for LACP to take the link back.
const (
	failAt     = 2 * time.Second
	failFor    = 3 * time.Second
	failWindow = 10 * time.Second
	failAfter  = time.Second // the least that has to be left
)

const failHint = "linerate lab exec two-links-tuned -- linerate measure netns:linerate-alpha netns:linerate-beta --fail-link linerate-alpha/eth0"

// failing refuses to take down a link of anything but a lab's host.
func (k *careFlags) failing(f fabric.Fabric, host string) error {
	reach := ""
	for _, h := range f.Hosts {
		if h.Name == host {
			reach = h.Reach
		}
	}
	if !isHost(f, host) {
		return console.BadUsage("--fail-link: no host "+host, "write HOST/LINK with a host's name as the fabric has it")
	}
	if name, ok := strings.CutPrefix(reach, "netns:"); !ok || !lab.Owns(name) {
		return console.BadUsage("--fail-link: "+host+" is no lab host: links are taken down in a lab only", failHint)
	}
	return nil
}

func (k *careFlags) failOver(m *campaign.Matrix) error {
	if k.fail == "" {
		return nil
	}
	fail, err := parseFail(k.fail)
	if err != nil {
		return err
	}
	if m.Duration == 0 {
		m.Duration = max(failWindow, fail.At+fail.For+5*time.Second)
	}
	if m.Duration < fail.At+fail.For+failAfter {
		return console.BadUsage(fmt.Sprintf("--fail-link: the link comes back %v into a measurement of %v, want at least %v after it", fail.At+fail.For, m.Duration, failAfter), "leave --duration out, or make it longer")
	}
	m.Base.Fail = &fail
	return nil
}

// parseFail reads HOST/LINK[@AT[,FOR]].
func parseFail(s string) (measure.Failing, error) {
	wrong := func(why string) (measure.Failing, error) {
		return measure.Failing{}, console.BadUsage("--fail-link: "+why, "write HOST/LINK, HOST/LINK@2s or HOST/LINK@2s,3s")
	}
	name, times, timed := strings.Cut(s, "@")
	host, link, ok := strings.Cut(name, "/")
	if !ok || host == "" || link == "" || strings.Contains(link, "/") {
		return wrong("want HOST/LINK, not " + s)
	}
	out := measure.Failing{Host: host, Link: link, At: failAt, For: failFor}
	if !timed {
		return out, nil
	}
	at, long, both := strings.Cut(times, ",")
	var err error
	if out.At, err = unit.ParseDuration(at); err != nil {
		return wrong(err.Error())
	}
	if both {
		if out.For, err = unit.ParseDuration(long); err != nil {
			return wrong(err.Error())
		}
	}
	if out.At < 500*time.Millisecond || out.For < 100*time.Millisecond || out.At+out.For > 10*time.Minute {
		return wrong("want it to go down half a second or later, for a tenth of a second or longer, and all within ten minutes")
	}
	return out, nil
}

// journalFor is where a measurement journals what it breaks: with the lab, as a
// lab's hosts are only there for it. "" is the usual place.
func journalFor(m campaign.Matrix) string {
	if m.Base.Fail != nil {
		return console.LabJournal
	}
	return ""
}
