// Package metrics is what Prometheus is told: of an agent and its bonds, of a
// fleet's server and hosts, and of what paths carried. The names are a promise
// to dashboards and alerts: one table has them, docs/metrics.md shows it, and a
// name in it is not given another meaning. natsagent.Meter counts what an agent
// does, this package tells it. Don't tell what node_exporter has already.
package metrics

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/prometheus/client_golang/prometheus"
)

// Family is one metric by its name.
type Family struct {
	Name string
	Kind prometheus.ValueType
	// Of is what tells it: "agent", "serve", or "paths", which serve and
	// `history --metrics` both do.
	Of     string
	Labels []string
	Help   string
}

// What tells a family.
const (
	OfAgent = "agent"
	OfServe = "serve"
	OfPaths = "paths"
)

// pathLabels are those of every family of paths.
var pathLabels = []string{"from", "to", "direction", "streams", "protocol", "tool", "setting", "phase"}

// families is the one table, in the order in which the documentation has it.
var families = []Family{
	{"linerate_agent_info", prometheus.GaugeValue, OfAgent, []string{"host", "linerate", "most"}, "Which agent this is, and the highest role that it serves; always 1."},
	{"linerate_agent_start_time_seconds", prometheus.GaugeValue, OfAgent, nil, "When the agent began, in seconds since 1970."},
	{"linerate_agent_connected", prometheus.GaugeValue, OfAgent, nil, "1 while the agent has a NATS server, else 0."},
	{"linerate_agent_reconnects_total", prometheus.CounterValue, OfAgent, nil, "How often the agent lost its server and found one again."},
	{"linerate_agent_bus_bytes_total", prometheus.CounterValue, OfAgent, []string{"direction"}, "Bytes of messages over the bus, received and transmitted; not the traffic of measurements."},
	{"linerate_agent_published_time_seconds", prometheus.GaugeValue, OfAgent, nil, "When the host's state was last taken by the bus; 0 is never."},
	{"linerate_agent_conversations", prometheus.GaugeValue, OfAgent, nil, "Controllers that speak with this host now."},
	{"linerate_agent_calls_running", prometheus.GaugeValue, OfAgent, nil, "Requests under way."},
	{"linerate_agent_calls_total", prometheus.CounterValue, OfAgent, []string{"method", "outcome"}, "Requests that ended, done or failed."},
	{"linerate_agent_call_seconds_total", prometheus.CounterValue, OfAgent, []string{"method", "outcome"}, "How long requests took in sum."},
	{"linerate_agent_refused_total", prometheus.CounterValue, OfAgent, []string{"why"}, "Requests that were not begun: role, name, busy, gone or bad."},
	{"linerate_agent_changes_total", prometheus.CounterValue, OfAgent, []string{"method", "outcome"}, "Changes of the host that were asked for: done, failed, or rolled back in the end."},

	{"linerate_link_up", prometheus.GaugeValue, OfAgent, []string{"link", "kind"}, "1 for a link that is up and has carrier, else 0."},
	{"linerate_link_speed_bytes_per_second", prometheus.GaugeValue, OfAgent, []string{"link", "kind"}, "Line rate in each direction; absent where it is not known."},
	{"linerate_link_mtu_bytes", prometheus.GaugeValue, OfAgent, []string{"link", "kind"}, "MTU."},
	{"linerate_bond_info", prometheus.GaugeValue, OfAgent, []string{"bond", "mode", "xmit_hash_policy"}, "How a bond spreads flows; always 1."},
	{"linerate_bond_ports", prometheus.GaugeValue, OfAgent, []string{"bond"}, "Ports that a bond has."},
	{"linerate_bond_ports_usable", prometheus.GaugeValue, OfAgent, []string{"bond"}, "Ports that carry what the bond transmits: up, active, in the active aggregator."},
	{"linerate_bond_partner", prometheus.GaugeValue, OfAgent, []string{"bond"}, "802.3ad: 1 while an LACP partner answers, else 0."},
	{"linerate_bond_port_usable", prometheus.GaugeValue, OfAgent, []string{"bond", "port"}, "1 for a port that carries what the bond transmits, else 0."},
	{"linerate_bond_port_failures_total", prometheus.CounterValue, OfAgent, []string{"bond", "port"}, "How often the bond saw the port's link fail."},
	{"linerate_bond_port_bytes_total", prometheus.CounterValue, OfAgent, []string{"bond", "port", "direction"}, "Bytes that a bond's port received and transmitted: how evenly the hash spreads."},

	{"linerate_serve_connections", prometheus.GaugeValue, OfServe, nil, "Agents and controllers that are connected to this server."},
	{"linerate_serve_bytes_total", prometheus.CounterValue, OfServe, []string{"direction"}, "Bytes of messages that this server received and transmitted."},
	{"linerate_serve_slow_consumers_total", prometheus.CounterValue, OfServe, nil, "Connections that this server closed as they did not read."},
	{"linerate_serve_stored_bytes", prometheus.GaugeValue, OfServe, nil, "What results and states take on this server's disk."},
	{"linerate_fleet_host_info", prometheus.GaugeValue, OfServe, []string{"host", "linerate", "os", "kernel", "most"}, "A host that was ever on the bus; always 1."},
	{"linerate_fleet_host_written_time_seconds", prometheus.GaugeValue, OfServe, []string{"host"}, "When a host's agent last said how it is; agents speak at least every minute and a half."},
	{"linerate_fleet_paths", prometheus.GaugeValue, OfServe, nil, "Paths that are told of; past 10000 the ones measured longest ago are left out."},

	{"linerate_path_goodput_bytes_per_second", prometheus.GaugeValue, OfPaths, pathLabels, "What a path carried when it was last measured, payload of all streams."},
	{"linerate_path_ceiling_bytes_per_second", prometheus.GaugeValue, OfPaths, pathLabels, "What its links allow, payload; absent where it is not known."},
	{"linerate_path_usual_bytes_per_second", prometheus.GaugeValue, OfPaths, pathLabels, "The median of earlier runs; absent where there are none."},
	{"linerate_path_usual_noise_ratio", prometheus.GaugeValue, OfPaths, pathLabels, "How much earlier runs vary around it, a standard deviation as a share; absent below three."},
	{"linerate_path_measured_time_seconds", prometheus.GaugeValue, OfPaths, pathLabels, "When it was last measured."},
}

// teller gives out values of the families of one kind of teller.
type collector struct{ descs map[string]told }

type told struct {
	desc *prometheus.Desc
	kind prometheus.ValueType
}

func newCollector(of ...string) collector {
	t := collector{make(map[string]told)}
	for _, f := range families {
		if slices.Contains(of, f.Of) {
			t.descs[f.Name] = told{prometheus.NewDesc(f.Name, f.Help, f.Labels, nil), f.Kind}
		}
	}
	return t
}

// Describe implements prometheus.Collector.
func (t collector) Describe(out chan<- *prometheus.Desc) {
	for _, d := range t.descs {
		out <- d.desc
	}
}

// tell gives out one value. A name that is not in the table is a panic that the
// first test of its teller meets.
func (t collector) tell(out chan<- prometheus.Metric, name string, value float64, labels ...string) {
	d := t.descs[name]
	for i, l := range labels {
		labels[i] = labelValue(l)
	}
	out <- prometheus.MustNewConstMetric(d.desc, d.kind, value, labels...)
}

// labelValue is a text that Prometheus takes: a link's name may hold almost any byte
// (dev_valid_name, net/core/dev.c), a label's value is UTF-8, and at another
// client_golang panics: nothing would be told of any link.
func labelValue(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return strings.Trim(strconv.QuoteToASCII(s), `"`)
}

func yes(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
