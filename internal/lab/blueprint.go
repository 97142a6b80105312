package lab

import (
	"encoding/json"
	"fmt"
	"net/netip"

	"github.com/linerate/linerate/internal/lab/scenario"
)

// Blueprint is what a lab is built of, in a form that travels into its kernel
// and stays in its state: a network of the lab's own or a scenario's file,
// exactly one of the two.
type Blueprint struct {
	// Lab sets the namespaces apart, see Topology.Lab.
	Lab      string    `json:"lab"`
	Topology *Topology `json:"topology,omitempty"`
	File     *File     `json:"file,omitempty"`
}

// File is a scenario's file as it was read.
type File struct {
	Name string `json:"name"` // for complaints
	Text string `json:"text"`
}

// Member is one host of a lab, or its switch.
type Member struct {
	Host      string         `json:"host"`
	Namespace string         `json:"namespace"` // in the lab's kernel
	Addresses []netip.Prefix `json:"addresses"`
}

// Members are the hosts, the switch last. The error is that of reading the
// file.
func (b Blueprint) Members() ([]Member, error) {
	if b.Topology != nil {
		return b.topology().members(), nil
	}
	n, err := b.network()
	if err != nil {
		return nil, err
	}
	return n.members(), nil
}

// Namespaces are those of all members.
func (b Blueprint) Namespaces() ([]string, error) {
	members, err := b.Members()
	return namespaces(members), err
}

func namespaces(members []Member) []string {
	var names []string
	for _, m := range members {
		names = append(names, m.Namespace)
	}
	return names
}

func (b Blueprint) topology() Topology {
	t := *b.Topology
	t.Lab = b.Lab
	return t
}

func (b Blueprint) network() (Network, error) {
	s, err := scenario.Parse(b.File.Name, []byte(b.File.Text))
	if err != nil {
		return Network{}, err
	}
	return networkOf(b.Lab, s, nil), nil
}

func (t Topology) members() []Member {
	var all []Member
	for _, h := range t.Hosts {
		all = append(all, Member{h.Name, t.Namespace(h.Name), h.Addresses})
	}
	return append(all, Member{Host: switchName, Namespace: t.Namespace(switchName)})
}

func (n Network) members() []Member {
	var all []Member
	for _, h := range n.Fabric.Hosts {
		m := Member{Host: h.Name, Namespace: n.namespace(h.Name)}
		if state, err := n.Fabric.State(h.Name); err == nil { // the host is of this very file
			for _, l := range state.Links {
				m.Addresses = append(m.Addresses, l.Addresses...)
			}
		}
		all = append(all, m)
	}
	return append(all, Member{Host: switchName, Namespace: n.namespace(switchName)})
}

// maxBlueprint is what one argument of a command may hold (MAX_ARG_STRLEN), to
// round numbers.
const maxBlueprint = 120 << 10

// encode is the blueprint as an argument of the guest's command.
func (b Blueprint) encode() (string, error) {
	text, err := json.Marshal(b)
	if err != nil {
		return "", fmt.Errorf("encode blueprint: %w", err)
	}
	if len(text) > maxBlueprint {
		return "", fmt.Errorf("encode blueprint: %d bytes, want at most %d for a lab that stands", len(text), maxBlueprint)
	}
	return string(text), nil
}

// DecodeBlueprint reads the argument of `lab stand`.
func DecodeBlueprint(text string) (b Blueprint, err error) {
	if err := json.Unmarshal([]byte(text), &b); err != nil {
		return b, fmt.Errorf("read blueprint: %w", err)
	}
	if (b.Topology == nil) == (b.File == nil) {
		return b, fmt.Errorf("read blueprint: want a topology or a file")
	}
	return b, nil
}
