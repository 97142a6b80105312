package record

import (
	"reflect"
	"slices"
	"strings"

	"github.com/linerate/linerate/internal/plaintext"
)

// Remedy is what to do about a cause: one or more ways, the first to try first. A
// person reads its Text, a program does its steps; both say the same.
type Remedy []Way

// Way is steps that belong together, in their order.
type Way []Action

// Action is one thing to do, exactly one of Run, Option, Switch and Ask.
type Action struct {
	// Host is where Run is typed; for Switch the host that the switch's ports lead to.
	Host string `json:"host,omitempty"`
	// Run is a command, program and arguments. It needs root on Host.
	Run []string `json:"run,omitempty"`
	// Option is an option to measure with again, Value what it is given; "" leaves it out.
	Option string `json:"option,omitempty"`
	Value  string `json:"value,omitempty"`
	// Switch is what the switch must do toward Host, with the ports that lead to Host's
	// Links where it is about single ones; Lines how it is said there, none where nobody
	// knows its system.
	Switch SwitchSetting `json:"switch,omitempty"`
	Links  []string      `json:"links,omitempty"`
	Lines  []string      `json:"lines,omitempty"`
	// Ask is what only a person can do, in words; code in them is between backquotes.
	Ask string `json:"ask,omitempty"`
}

// SwitchSetting is a setting of a switch, whatever its system calls it.
type SwitchSetting string

const (
	// HashPorts has the switch choose links by addresses and ports.
	HashPorts SwitchSetting = "hash-ports"
	// OneChannel puts ports into the LACP channel that the host's others are in.
	OneChannel SwitchSetting = "one-channel"
)

var switchWords = map[SwitchSetting]string{
	HashPorts:  "let its hash toward HOST read addresses and ports (layer3+4)",
	OneChannel: "put the ports that lead to LINKS of HOST into the LACP channel of its others, with the same speed",
}

// Run is a command on a host.
func Run(host string, argv ...string) Action { return Action{Host: host, Run: argv} }

// Sysctl sets a tunable of a host.
func Sysctl(host, key, value string) Action { return Run(host, "sysctl", "-w", key+"="+value) }

// Option measures again with an option of the program; value "" leaves it out.
func Option(name, value string) Action { return Action{Option: name, Value: value} }

// Ask is what only a person can do.
func Ask(text string) Action { return Action{Ask: text} }

// Do is a remedy of one way.
func Do(steps ...Action) Remedy { return Remedy{steps} }

// Or is the remedy with another way, to try after those it has.
func (r Remedy) Or(steps ...Action) Remedy { return append(slices.Clone(r), steps) }

// Joined is the way and what another adds to it.
func (w Way) Joined(other Way) Way {
	out := slices.Clone(w)
	for _, a := range other {
		if !slices.ContainsFunc(out, func(b Action) bool { return reflect.DeepEqual(a, b) }) {
			out = append(out, a)
		}
	}
	// What is measured again comes after what is changed.
	changes := func(a Action) bool { return a.Option == "" }
	measures := slices.DeleteFunc(slices.Clone(out), changes)
	return append(slices.DeleteFunc(out, func(a Action) bool { return !changes(a) }), measures...)
}

// Text is the remedy as a person reads it; "" for none.
func (r Remedy) Text() string {
	var ways []string
	for _, w := range r {
		if text := w.Text(); text != "" {
			ways = append(ways, text)
		}
	}
	return strings.Join(ways, "; or ")
}

// Text is the way's steps, commands of one host together, and how they last.
func (w Way) Text() string {
	var parts []string
	var commands Way
	for i := 0; i < len(w); {
		s, n := w[i], 1
		switch {
		case len(s.Run) > 0:
			words := []string{"`" + s.Line() + "`"}
			for ; i+n < len(w) && len(w[i+n].Run) > 0 && w[i+n].Host == s.Host; n++ {
				words = append(words, "`"+w[i+n].Line()+"`")
			}
			parts = append(parts, "on "+s.Host+": "+strings.Join(words, ", "))
			commands = append(commands, w[i:i+n]...)
		case s.Option != "" && s.Value == "":
			parts = append(parts, "leave `"+s.Option+"` out")
		case s.Option != "":
			words := []string{s.Line()}
			for ; i+n < len(w) && w[i+n].Option != "" && w[i+n].Value != ""; n++ {
				words = append(words, w[i+n].Line())
			}
			parts = append(parts, "measure with `"+strings.Join(words, " ")+"`")
		case s.Switch != "":
			text := "on the switch: " + strings.NewReplacer("HOST", s.Host, "LINKS", strings.Join(s.Links, ", ")).Replace(switchWords[s.Switch])
			for k, line := range s.Lines {
				text += []string{" (", ", "}[min(k, 1)] + "`" + line + "`"
			}
			if len(s.Lines) > 0 {
				text += ")"
			}
			parts = append(parts, text)
		case s.Ask != "":
			parts = append(parts, s.Ask)
		}
		i += n
	}
	return strings.Join(parts, "; then ") + lasting(commands)
}

// Line is the command as it is typed, or the option; "" for other steps.
func (s Action) Line() string {
	words := s.Run
	if s.Option != "" {
		words = []string{s.Option, s.Value}
	}
	var out []string
	for _, word := range words {
		out = append(out, plaintext.ShellWord(word))
	}
	return strings.Join(out, " ")
}

// lasting says of a way's commands what keeps the change over a boot.
func lasting(commands Way) string {
	var files []string
	add := func(file string) {
		if !slices.Contains(files, file) {
			files = append(files, file)
		}
	}
	for _, s := range commands {
		switch {
		case s.Run[0] == "sysctl":
			add("/etc/sysctl.d/")
		case s.Run[0] != "ip" || s.Run[1] != "neigh": // what is forgotten is learned anew
			add("the network configuration")
		}
	}
	if len(files) == 0 {
		return ""
	}
	return " (until the next boot; to keep it, the same in " + strings.Join(files, " and ") + ")"
}

// Commands are the lines to type for the first way, each with the host where that
// matters, and the options to measure with again; none where only a person can do it.
func (r Remedy) Commands() (lines []string, options string) {
	if len(r) == 0 {
		return nil, ""
	}
	var given []string
	for _, s := range r[0] {
		switch {
		case len(s.Run) > 0:
			lines = append(lines, s.Line()+"  # on "+s.Host)
		case s.Option != "" && s.Value != "":
			given = append(given, s.Line())
		}
	}
	return lines, strings.Join(given, " ")
}

// Asks are the words for what only a person can do, and of a remedy with nothing else.
func (r Remedy) Asks() []string {
	var out []string
	for _, w := range r {
		for _, s := range w {
			if s.Ask != "" {
				out = append(out, s.Ask)
			}
		}
	}
	return out
}

// Do writes a remedy down: its words, and its steps for programs.
func (f *Finding) Do(r Remedy) { f.Remedy, f.Ways = r.Text(), r }

// ByHand is a remedy that only a person can carry out.
func ByHand(text string) Remedy { return Do(Ask(text)) }
