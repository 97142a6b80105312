// Package wanted turns what a fabric file says of a host, and what the host
// is now, into the host as it is wanted, with who wants each value and
// why, and what is left as it is. It must never look at a real host: what it
// knows of one it is given. Don't order steps here, and don't drop what the file
// wants without a word.
package wanted

import (
	"fmt"
	"maps"
	"slices"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/fabric/yamldoc"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/plan"
)

// Request is a question for a wanted host.
type Request struct {
	Fabric fabric.Fabric
	// Host is the name of the host in the fabric.
	Host string
	// Observed is the host as it is now. Its sysctls must hold those of Sysctls
	// that the kernel has: one that is missing is taken for one that it lacks.
	Observed netstate.Host
	// FromFile says that Observed is what the file itself tells of a host that nobody
	// has looked at: a match that covers nothing of it is left to who reads the file.
	FromFile bool
	// Exact also removes the static addresses, routes and rules of the file's
	// devices, and the MPTCP endpoints, that the file does not say. Without it
	// they stay, and are named in State.Left.
	Exact bool
	// Profiles takes the place of the file's own list; nil leaves it.
	Profiles []string
	// InNamespace leaves out what belongs to the whole machine and cannot be
	// set in a network namespace other than the first.
	InNamespace bool
}

// State is the host that is wanted.
type State struct {
	// Host is complete: Observed with what the file says laid over it. A MAC
	// that follows from another link's is zero.
	Host netstate.Host
	// Reasons says who wants a value and why, by plan.Step.Target of the step
	// that would set it.
	Reasons map[string]plan.Reason
	// Left are things that are not as the file, or a profile, would have them,
	// and stay as they are; each with the reason.
	Left []string
	// Warnings are things that will happen and that somebody should know.
	Warnings []string
}

// Of returns the host that the fabric wants where Observed is now. The error is
// yamldoc.Problems, with the file's line and column for everything that cannot
// be had; nothing is returned beside it.
func Of(r Request) (State, error) {
	file, ok := r.Fabric.Host(r.Host)
	if !ok {
		return State{}, fmt.Errorf("find host %q in %s: no such host", r.Host, r.Fabric.File)
	}
	want := r.Observed.Clone()
	want.Routes, want.Rules = slices.Clone(r.Observed.Routes), slices.Clone(r.Observed.Rules)
	b := &builder{
		request: r, file: file, at: r.Fabric.Places().Host(r.Host), observed: r.Observed, want: want,
		reasons: map[string]plan.Reason{}, devices: map[string][]string{}, declared: map[string]string{},
	}
	b.build()
	if len(b.problems) > 0 {
		return State{}, b.problems
	}
	return State{Host: b.want, Reasons: b.reasons, Left: b.left, Warnings: b.warnings}, nil
}

// builder lays a file over an observed host, part by part.
type builder struct {
	request  Request
	file     fabric.Host
	at       fabric.Places // of the host
	observed netstate.Host
	want     netstate.Host
	reasons  map[string]plan.Reason
	left     []string
	warnings []string
	problems yamldoc.Problems

	// devices are the links behind every netplan ID, declared the IDs of links.
	devices  map[string][]string
	declared map[string]string
	// own are the routes that the file asks for, with their places, wanted its
	// rules, and needed the sysctls that its other wishes rest on.
	own    []placedRoute
	wanted []netstate.Rule
	needed []need
}

// placedRoute is a route of the file and where it stands there.
type placedRoute struct {
	route netstate.Route
	path  []any
}

func (b *builder) build() {
	b.remove()
	b.find()
	b.ethernets()
	b.dummies()
	b.bonds()
	b.ovsBonds()
	b.vlans()
	b.others()
	b.attributes()
	b.settleMTUs()
	b.addresses()
	b.extraAddresses()
	b.settings()
	b.forgetOffloads()
	b.routes()
	b.multipath()
	b.extraRoutes(true)
	b.rules()
	b.sourceRules()
	b.extraRoutes(false)
	b.extraRules()
	b.reachability()
	b.mptcp()
	b.sysctls()
}

// because notes who wants what a step would set; the first to say so is kept.
func (b *builder) because(s plan.Step, by, why string) {
	if t := s.Target(); b.reasons[t] == (plan.Reason{}) {
		b.reasons[t] = plan.Reason{By: by, Why: why}
	}
}

// wrong is a problem with what the path in the file's host says.
func (b *builder) wrong(path []any, hint, format string, args ...any) {
	b.problems = append(b.problems, b.at.Problem(b.request.Host+": "+fmt.Sprintf(format, args...), hint, path...))
}

func (b *builder) leave(format string, args ...any) {
	b.left = append(b.left, fmt.Sprintf(format, args...))
}

func (b *builder) warn(format string, args ...any) {
	b.warnings = append(b.warnings, fmt.Sprintf(format, args...))
}

// change gives the wanted link to f, and puts it back.
func (b *builder) change(name string, f func(*netstate.Link)) {
	if l, ok := b.want.Link(name); ok {
		f(&l)
		b.want.SetLink(l)
	}
}

// network is the path of a definition's key in the file.
func network(section, id string, more ...any) []any {
	return append([]any{"network", section, id}, more...)
}

// nearest is " (nearest: X)", or nothing.
func (b *builder) nearestLink(name string) string {
	var names []string
	for _, l := range b.observed.Links {
		names = append(names, l.Name)
	}
	return yamldoc.Nearest(name, names)
}

// copied is a bond that shares nothing with its source.
func copied(b netstate.Bond) *netstate.Bond {
	b.Ports = slices.Clone(b.Ports)
	b.Options = maps.Clone(b.Options)
	return &b
}
