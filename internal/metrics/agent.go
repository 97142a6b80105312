package metrics

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/agent/nats/natsagent"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/unit"
)

// AgentConfig is what an agent tells of.
type AgentConfig struct {
	Host, Linerate string // its name on the bus, and the program's version
	Most           agentapi.Role
	Counts         func() natsagent.Counts
	// Observe reads the host's links; nil tells nothing of them. It is called at
	// most once in Every however often it is asked; zero is ten seconds.
	Observe func(context.Context) (netstate.Host, error)
	Every   time.Duration
	Logger  *slog.Logger // nil is silence
}

// An observation takes tens of milliseconds of a core, and is worth so long.
const (
	observeWithin = 5 * time.Second
	usualEvery    = 10 * time.Second
)

type agentCollector struct {
	collector
	cfg AgentConfig

	mu   sync.Mutex
	host netstate.Host
	at   time.Time
}

// Agent tells of an agent and of its host's links and bonds.
func Agent(cfg AgentConfig) prometheus.Collector {
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.Every == 0 {
		cfg.Every = usualEvery
	}
	return &agentCollector{collector: newCollector(OfAgent), cfg: cfg}
}

// Collect implements prometheus.Collector.
func (a *agentCollector) Collect(out chan<- prometheus.Metric) {
	a.tell(out, "linerate_agent_info", 1, a.cfg.Host, a.cfg.Linerate, string(a.cfg.Most))
	a.counts(out, a.cfg.Counts())
	if a.cfg.Observe == nil {
		return
	}
	if host, ok := a.observed(); ok {
		a.links(out, host)
	}
}

func (a *agentCollector) counts(out chan<- prometheus.Metric, c natsagent.Counts) {
	a.tell(out, "linerate_agent_start_time_seconds", seconds(c.Since))
	a.tell(out, "linerate_agent_connected", yes(c.Connected))
	a.tell(out, "linerate_agent_reconnects_total", float64(c.Reconnects))
	a.tell(out, "linerate_agent_bus_bytes_total", float64(c.BytesIn), "receive")
	a.tell(out, "linerate_agent_bus_bytes_total", float64(c.BytesOut), "transmit")
	a.tell(out, "linerate_agent_published_time_seconds", seconds(c.Published))
	a.tell(out, "linerate_agent_conversations", float64(c.Conversations))
	a.tell(out, "linerate_agent_calls_running", float64(c.Running))
	for call, n := range c.Calls {
		outcome := "done"
		if call.Failed {
			outcome = "failed"
		}
		a.tell(out, "linerate_agent_calls_total", float64(n.Count), string(call.Method), outcome)
		a.tell(out, "linerate_agent_call_seconds_total", n.Time.Seconds(), string(call.Method), outcome)
	}
	// From zero on: what appears with its first one has not increased, to
	// Prometheus.
	for _, why := range natsagent.Refusals() {
		a.tell(out, "linerate_agent_refused_total", float64(c.Refused[why]), why)
	}
	for _, change := range natsagent.Changes() {
		a.tell(out, "linerate_agent_changes_total", float64(c.Changes[change]), string(change.Method), strings.ReplaceAll(change.Outcome, " ", "_"))
	}
}

// observed is the host as it is, or was a moment ago; false where it cannot be
// read.
func (a *agentCollector) observed() (netstate.Host, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.at.IsZero() && time.Since(a.at) < a.cfg.Every {
		return a.host, true
	}
	ctx, cancel := context.WithTimeout(context.Background(), observeWithin)
	defer cancel()
	host, err := a.cfg.Observe(ctx)
	if err != nil {
		a.cfg.Logger.Warn("metrics: the host's links were not read", "error", err)
		return host, false
	}
	a.host, a.at = host, time.Now()
	return host, true
}

// links tells of the links. Of containers' ends and tunnels, which come and go
// by thousands, only those with an address or a bond's are told.
func (a *agentCollector) links(out chan<- prometheus.Metric, h netstate.Host) {
	for _, l := range h.Links {
		if l.Kind == "loopback" || l.Kind != "" && l.Bond == nil && l.Port == nil && len(l.Addresses) == 0 {
			continue
		}
		kind := cmp.Or(l.Kind, "device")
		a.tell(out, "linerate_link_up", yes(l.Up && l.Carrier), l.Name, kind)
		a.tell(out, "linerate_link_mtu_bytes", float64(l.MTU), l.Name, kind)
		if l.Speed > 0 {
			a.tell(out, "linerate_link_speed_bytes_per_second", perSecond(l.Speed), l.Name, kind)
		}
		if l.Bond != nil {
			a.bond(out, h, l)
		}
	}
}

func (a *agentCollector) bond(out chan<- prometheus.Metric, h netstate.Host, l netstate.Link) {
	usable := h.UsablePorts(l.Name)
	policy := ""
	if l.Bond.Mode.Hashes() {
		policy = l.Bond.HashPolicy.String()
	}
	a.tell(out, "linerate_bond_info", 1, l.Name, l.Bond.Mode.String(), policy)
	a.tell(out, "linerate_bond_ports", float64(len(l.Bond.Ports)), l.Name)
	a.tell(out, "linerate_bond_ports_usable", float64(len(usable)), l.Name)
	if l.Bond.AD != nil {
		a.tell(out, "linerate_bond_partner", yes(!l.Bond.AD.PartnerMAC.IsZero()), l.Name)
	}
	for _, name := range l.Bond.Ports {
		p, ok := h.Link(name)
		if !ok {
			continue
		}
		a.tell(out, "linerate_bond_port_usable", yes(slices.Contains(usable, name)), l.Name, name)
		if p.Port != nil {
			a.tell(out, "linerate_bond_port_failures_total", float64(p.Port.FailureCount), l.Name, name)
		}
		a.tell(out, "linerate_bond_port_bytes_total", float64(p.Counters.RxBytes), l.Name, name, "receive")
		a.tell(out, "linerate_bond_port_bytes_total", float64(p.Counters.TxBytes), l.Name, name, "transmit")
	}
}

// perSecond is a rate in Prometheus's unit, bytes.
func perSecond(r unit.BitRate) float64 { return float64(r) / 8 }

// seconds is a moment as Prometheus has it; 0 where there is none.
func seconds(t time.Time) float64 {
	if t.IsZero() {
		return 0
	}
	return float64(t.UnixMilli()) / 1000
}
