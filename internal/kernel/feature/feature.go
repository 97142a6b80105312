// Package feature finds out what the running kernel can do, by trying it in a
// network namespace that is thrown away. A probe has three answers: yes, no,
// could not tell. It changes nothing outside that namespace: a kernel module
// that is on disk and not loaded is not loaded to find out.
package feature

import (
	"errors"
	"fmt"
	"io/fs"
)

// State is a probe's answer. Zero is "unknown": it could not be told.
type State uint8

// The three answers.
const (
	Unknown State = iota
	Yes
	No
)

// stateWords is the one table of the answers' words.
var stateWords = [...]string{"unknown", "yes", "no"}

// String is the word.
func (s State) String() string {
	if int(s) < len(stateWords) {
		return stateWords[s]
	}
	return fmt.Sprintf("state-%d", s)
}

// MarshalText writes String.
func (s State) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads what MarshalText writes.
func (s *State) UnmarshalText(b []byte) error {
	for i, w := range stateWords {
		if w == string(b) {
			*s = State(i)
			return nil
		}
	}
	return fmt.Errorf("parse answer %q: want one of %v", b, stateWords)
}

// Answer is what a probe found.
type Answer struct {
	State State `json:"state"`
	// Why is the evidence: what was tried and what the kernel said.
	Why string `json:"why"`
	// Min is the first kernel that has the feature; "" for one older than any
	// kernel linerate meets.
	Min string `json:"min,omitempty"`
}

// Name names a feature.
type Name string

// The features probed.
const (
	NetNS   Name = "netns"
	Veth    Name = "veth"
	Bridge  Name = "bridge"
	Bonding Name = "bonding"
	VLAN    Name = "8021q"
	TBF     Name = "tbf"
	HTB     Name = "htb"
	Netem   Name = "netem"
	FQ      Name = "fq"
	MPTCP   Name = "mptcp"
	BBR     Name = "tcp_bbr"
	// MatchAll is the classifier that a cable's silent failure is made of, and
	// with IFB a card that ports share.
	MatchAll  Name = "matchall"
	IFB       Name = "ifb"
	NFSClient Name = "nfs"
	NFSServer Name = "nfsd"
)

// form is how a feature is probed.
type form uint8

const (
	formNamespace form = iota
	formLink           // a link kind: RTM_NEWLINK
	formQdisc          // a queueing discipline: RTM_NEWQDISC
	formSocket
	formFiles  // a file system: /proc/filesystems
	formModule // nothing tells but the module files
)

// features is the one table of what can be probed: the kernel's kind word and
// the module that brings it.
var features = [...]struct {
	name   Name
	form   form
	kind   string
	module string
	min    string
}{
	{NetNS, formNamespace, "", "", "2.6.29"},
	{Veth, formLink, "veth", "veth", "2.6.24"},
	{Bridge, formLink, "bridge", "bridge", ""},
	{Bonding, formLink, "bond", "bonding", ""},
	{VLAN, formLink, "vlan", "8021q", ""},
	{TBF, formQdisc, "tbf", "sch_tbf", ""},
	{HTB, formQdisc, "htb", "sch_htb", ""},
	{Netem, formQdisc, "netem", "sch_netem", ""},
	{FQ, formQdisc, "fq", "sch_fq", "3.12"},
	{MPTCP, formSocket, "", "", "5.6"},
	{BBR, formModule, "", "tcp_bbr", "4.9"},
	{MatchAll, formModule, "", "cls_matchall", "4.8"},
	{IFB, formLink, "ifb", "ifb", ""},
	{NFSClient, formFiles, "nfs", "nfs", ""},
	{NFSServer, formFiles, "nfsd", "nfsd", ""},
}

// Names lists every feature.
func Names() []Name {
	names := make([]Name, 0, len(features))
	for _, f := range features {
		names = append(names, f.name)
	}
	return names
}

// Probe answers for each feature asked for; for all of them when none is
// named. A name outside Names is answered "unknown". Without CAP_SYS_ADMIN
// answers come from the module files alone, where those tell. Nothing is
// cached: what is loaded or permitted changes.
func Probe(names ...Name) map[Name]Answer {
	if len(names) == 0 {
		names = Names()
	}
	return probe(names)
}

// Missing is the error of an operation that needs a feature this kernel lacks
// or that could not be told. It is errors.ErrUnsupported when the answer is
// no.
type Missing struct {
	Name   Name
	Answer Answer
}

// Error is one line with the evidence.
func (m *Missing) Error() string {
	if m.Answer.State == Unknown {
		return fmt.Sprintf("%s: could not tell whether this kernel has it: %s", m.Name, m.Answer.Why)
	}
	if m.Answer.Min != "" {
		return fmt.Sprintf("%s: not available (since Linux %s): %s", m.Name, m.Answer.Min, m.Answer.Why)
	}
	return fmt.Sprintf("%s: not available: %s", m.Name, m.Answer.Why)
}

// Is matches errors.ErrUnsupported when the answer was no.
func (m *Missing) Is(target error) bool {
	return target == errors.ErrUnsupported && m.Answer.State == No
}

// Need is nil when every named feature is there, else a *Missing for each
// that is not, joined.
func Need(names ...Name) error {
	if len(names) == 0 {
		return nil
	}
	answers := Probe(names...)
	var problems []error
	for _, n := range names {
		if a := answers[n]; a.State != Yes {
			problems = append(problems, &Missing{Name: n, Answer: a})
		}
	}
	return errors.Join(problems...)
}

// module is what the module files say of a module.
type module uint8

const (
	moduleNoFiles module = iota // the files are not there or say nothing
	moduleAbsent
	moduleOnDisk
	moduleLoaded // or built in
)

// moduleState reads proc/modules and the module tree of a kernel release.
func moduleState(root fs.FS, release, name string) module {
	if loaded, err := fs.ReadFile(root, "proc/modules"); err == nil && listsModule(loaded, name) {
		return moduleLoaded
	}
	dir := "lib/modules/" + release + "/"
	builtin, builtinErr := fs.ReadFile(root, dir+"modules.builtin")
	if builtinErr == nil && listsFile(builtin, name) {
		return moduleLoaded
	}
	dep, depErr := fs.ReadFile(root, dir+"modules.dep")
	switch {
	case depErr == nil && listsFile(dep, name):
		return moduleOnDisk
	case depErr == nil && builtinErr == nil:
		return moduleAbsent
	}
	return moduleNoFiles
}
