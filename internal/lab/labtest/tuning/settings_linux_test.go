package tuning

import (
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/run/measure"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// lay sets both hosts, live, as an administrator who tries things does.
func (s *stand) lay(to setting) {
	s.t.Helper()
	values := map[string]string{
		"ipv4/tcp_rmem": triple(131072, to.rmem), "ipv4/tcp_wmem": triple(16384, to.wmem),
		// What another setting may have changed.
		"ipv4/tcp_no_metrics_save": "0", "ipv4/tcp_mtu_probing": "0", "core/somaxconn": "4096",
	}
	for key, value := range to.more {
		values[key] = value
	}
	for _, host := range hosts {
		for key, value := range values {
			s.sysctl(host, key, value)
		}
		s.frames(host, to.mtu)
		if s.what.hashes() {
			s.once(host+" policy", to.policy.String(), func() error {
				return s.spaces[host].NS.DoWithSysfs(func() error {
					return os.WriteFile("/sys/class/net/"+bondName+"/bonding/xmit_hash_policy", []byte(to.policy.String()), 0o644)
				})
			})
		}
	}
}

// triple is a tcp_rmem or tcp_wmem.
func triple(initial, most unit.Bytes) string {
	return fmt.Sprintf("4096 %d %d", int64(min(initial, most)), int64(most))
}

// frames sets a host's MTU: a bond passes it on to its ports.
func (s *stand) frames(host string, mtu int) {
	s.t.Helper()
	s.once(host+" mtu", fmt.Sprint(mtu), func() error {
		if s.what.bond {
			return s.builder(host).MTU(bondName, mtu)
		}
		for i := range s.what.rates {
			if err := s.builder(host).MTU(eth(i), mtu); err != nil {
				return err
			}
		}
		return nil
	})
}

func (s *stand) sysctl(host, key, value string) {
	s.t.Helper()
	s.once(host+" "+key, value, func() error {
		return s.spaces[host].NS.Do(func() error { return os.WriteFile("/proc/sys/net/"+key, []byte(value), 0o644) })
	})
}

// once sets what is not so yet.
func (s *stand) once(what, to string, set func() error) {
	s.t.Helper()
	if s.laid[what] == to {
		return
	}
	s.must(set())
	s.laid[what] = to
}

// forget makes lay set everything anew: somebody else has changed hosts.
func (s *stand) forget() { clear(s.laid) }

// trial lays a setting and measures it, both ways at once.
func (s *stand) trial(what setting, window time.Duration) (record.Trial, error) {
	s.t.Helper()
	s.lay(what)
	s.observe()
	return s.run(what, window)
}

// longestWarm is as long as a window: on the long path a loss may keep a
// stream from ever being steady. Turns are measured once: they are repeated
// anyway, and their median counts.
const longestWarm = window

// run measures a setting's traffic on hosts as they are.
func (s *stand) run(what setting, window time.Duration) (record.Trial, error) {
	s.t.Helper()
	spec := measure.Spec{
		From: "near", To: "far", Direction: flow.Both, Streams: what.streams, Ports: what.portsBy(),
		Socket: record.Socket{SndBuf: what.buffer, RcvBuf: what.buffer, Congestion: what.congestion}, Duration: window, LongestWarm: longestWarm, Once: true,
	}
	if what.lanes > 0 {
		lanes, err := predict.Lanes(s.network.Fabric, "near", "far", "")
		s.must(err)
		spec.Lanes = lanes[:min(what.lanes, len(lanes))]
	}
	return measure.Run(s.t.Context(), measure.Config{Network: s.network}, spec)
}

// carried counts how long a host's links carried traffic, by their counters.
type carried struct {
	stop chan struct{}
	done chan time.Duration
}

const (
	watchEvery = 50 * time.Millisecond
	// quiet is what pings, neighbours and LACP send in that time, at most.
	quiet = 8 * unit.KiB
)

// watch begins to count on near's links.
func (s *stand) watch() *carried {
	c := &carried{make(chan struct{}), make(chan time.Duration, 1)}
	ns := s.spaces["near"].NS
	go func() {
		var busy time.Duration
		_ = ns.Do(func() error {
			last, at := linkBytes(), time.Now()
			for {
				select {
				case <-c.stop:
					return nil
				case <-time.After(watchEvery):
				}
				now, then := linkBytes(), time.Now()
				if now-last > quiet {
					busy += then.Sub(at)
				}
				last, at = now, then
			}
		})
		c.done <- busy
	}()
	return c
}

// end stops counting.
func (c *carried) end() time.Duration {
	close(c.stop)
	return <-c.done
}

// linkBytes are what the calling thread's namespace sent and received by its
// ports; zero where it cannot be read.
func linkBytes() (all unit.Bytes) {
	text, err := os.ReadFile("/proc/thread-self/net/dev")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		name, counters, ok := strings.Cut(line, ":")
		fields := strings.Fields(counters)
		if !ok || !strings.HasPrefix(strings.TrimSpace(name), "eth") || len(fields) < 9 {
			continue
		}
		for _, i := range []int{0, 8} {
			var n int64
			_, _ = fmt.Sscan(fields[i], &n) // a kernel's counter is a number
			all += unit.Bytes(n)
		}
	}
	return all
}
