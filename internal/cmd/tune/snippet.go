package tune

import (
	"fmt"
	"slices"
	"strings"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/plaintext"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// snippet is how another program comes to the traffic that carries most: what its
// streams are, and the command that names their ports where a bond chooses the
// link by them.
type snippet struct {
	// Words are the traffic, Pairs how many of its streams go between which
	// addresses where those are several.
	Words string   `json:"traffic"`
	Pairs []string `json:"pairs,omitempty"`
	// Command chooses source ports; "" where they do not matter, or none can say.
	Command string `json:"command,omitempty"`
}

// snippetOf is the snippet for the traffic of a record's result, which is empty where
// there is none; nil where no traffic is told.
func (t *tuneRun) snippetOf(r record.Record, result record.Trial, load record.TunedLoad) *snippet {
	if load.Streams == 0 {
		return nil
	}
	out := &snippet{Words: loadWords(load)}
	pairs, counts := pairsOf(result)
	if len(pairs) > 1 {
		for i, p := range pairs {
			out.Pairs = append(out.Pairs, fmt.Sprintf("%s: %v to %v", unit.Counted(counts[i], "stream"), p.Src, p.Dst))
		}
	}
	if load.Ports == "chosen" && len(pairs) > 0 {
		out.Command = t.pickCommand(r, result, pairs)
	}
	return out
}

// trialOf is the last trial of a phase in a direction.
func trialOf(r record.Record, phase record.Phase, d flow.Direction) (record.Trial, bool) {
	for _, trial := range slices.Backward(r.Trials) {
		if trial.Phase == phase && trial.Direction == d {
			return trial, true
		}
	}
	return record.Trial{}, false
}

// pairsOf are the pairs of addresses of a trial's streams, in the order of the
// streams, and how many streams each has. Of both directions it is those of the
// first: the others are beside them.
func pairsOf(t record.Trial) (pairs []flow.Lane, counts []int) {
	for _, l := range t.Lanes {
		if l.Way != t.Lanes[0].Way {
			continue
		}
		i := slices.Index(pairs, l.Lane)
		if i < 0 {
			i, pairs, counts = len(pairs), append(pairs, l.Lane), append(counts, 0)
		}
		counts[i]++
	}
	return pairs, counts
}

// pickCommand is the `steer pick` that finds such ports again; "" where the sender
// has no bond below these addresses, and ports choose nothing.
func (t *tuneRun) pickCommand(r record.Record, result record.Trial, pairs []flow.Lane) string {
	sender := result.From
	if len(result.Lanes) > 0 && result.Lanes[0].Way == flow.Reverse {
		sender = result.To
	}
	link, ok := hostOf(r, sender).LinkWith(pairs[0].Src)
	if !ok {
		return ""
	}
	_, _, bond := hostOf(r, sender).Below(link.Name)
	declared, _ := t.file.Host(sender)
	if bond == nil || declared.Reach == "" {
		return ""
	}
	words := []string{"linerate steer pick --host", plaintext.ShellWord(declared.Reach), "--bond", plaintext.ShellWord(bond.Name)}
	for _, p := range pairs {
		words = append(words, fmt.Sprintf("--lane %v,%v", p.Src, p.Dst))
	}
	return strings.Join(append(words, fmt.Sprintf("--streams %d --for iperf3", result.Streams)), " ")
}

// hostOf is a host as the tune left it.
func hostOf(r record.Record, name string) netstate.Host {
	for _, all := range [][]netstate.Host{r.Environment.After, r.Environment.Hosts} {
		for _, h := range all {
			if h.Name == name {
				return h
			}
		}
	}
	return netstate.Host{}
}
