// Package connections says what a program's connections carry between two hosts:
// as many as its options make, to as many addresses, from ports that nobody
// chose. And which of its options, or of the hosts', would carry more. What
// programs do is internal/advise/workload's knowledge; the package must never
// name an option by itself.
package connections

import (
	"fmt"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/advise/workload"
	"github.com/linerate/linerate/predict"
)

// Question is a program between two hosts. The first host of the path is the
// client, which opens the connections: forward is what it sends.
type Question struct {
	Fabric predict.Fabric
	Path   fabric.Path
	// Measure says what sockets ask for and how long the rate is read; its
	// streams, ports and protocol are the program's own.
	Measure fabric.Measure
	Use     workload.Use
}

// Opened is what the program opens between the two hosts.
type Opened struct {
	// Use has the numbers that go by the client's cores.
	Use workload.Use
	// Connections carry data, in all; they take turns on the lanes.
	Connections int
	Lanes       []flow.Lane
	// Had is how many pairs of addresses the hosts have.
	Had int
}

// Opened resolves addresses and numbers. Errors: those of predict.Lanes and of
// workload.Use.
func (q Question) Opened() (Opened, error) {
	lanes, err := predict.Lanes(q.Fabric, q.Path.From, q.Path.To, "")
	if err != nil {
		return Opened{}, err
	}
	use, err := q.Use.Settled(q.Fabric.Hosts[q.Path.From].CPU.Cores)
	if err != nil {
		return Opened{}, fmt.Errorf("%s to %s: %w", q.Path.From, q.Path.To, err)
	}
	o, err := use.Over(len(lanes))
	if err != nil {
		return Opened{}, fmt.Errorf("%s to %s: %w", q.Path.From, q.Path.To, err)
	}
	return Opened{Use: use, Connections: o.Connections, Lanes: lanes[:min(o.Pairs, len(lanes))], Had: len(lanes)}, nil
}

// Predict returns what the connections carry in one direction, with ports that
// nobody chose. Errors: those of Opened and of predict.Predict.
func (q Question) Predict(d flow.Direction) (predict.Prediction, error) {
	o, err := q.Opened()
	if err != nil {
		return predict.Prediction{}, err
	}
	return predict.Predict(q.Fabric, q.traffic(o, d, predict.PortsKernel))
}

// traffic is what the program sends.
func (q Question) traffic(o Opened, d flow.Direction, ports string) predict.Traffic {
	t := predict.TrafficOf(q.Path, q.Measure, d, o.Connections)
	t.Protocol, t.Ports, t.Lanes = "tcp", ports, o.Lanes
	return t
}
