package report

import (
	"strings"
	"testing"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/record"
)

func TestTextDatagrams(t *testing.T) {
	trial := record.Trial{
		From: "a", To: "b", Direction: flow.Forward, Streams: 2, Protocol: "udp", Goodput: 97e6, Ceiling: 97.2e6,
		UDP:   &record.UDP{Payload: 1472, Sent: 25491, Received: 16591, Lost: 8900, LossRatio: 8900.0 / 25491, Reordered: 3, JitterMS: 0.022},
		Notes: []string{"limited by the measuring host's own processor: the thread sending stream 1 used 98 % of a core on a; not a link's figure"},
	}
	again := trial
	again.Streams, again.UDP = 4, &record.UDP{Payload: 1472, Sent: 100, Received: 100}
	text := Text(record.Record{Trials: []record.Trial{trial, again}}, 80)
	for _, want := range []string{
		"a → b forward        2      1472  25491  34.91 %          3  0.022",
		"a → b forward        4      1472    100     none          0  -",
		"a → b forward, 2 streams and 1 more trial: limited by the measuring host's own",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the text lacks %q:\n%s", want, text)
		}
	}
}

func TestTextNotesEnd(t *testing.T) {
	var r record.Record
	for _, n := range strings.Split("abcdefghij", "") {
		r.Trials = append(r.Trials, record.Trial{From: "a", To: "b", Direction: flow.Forward, Streams: 1, Notes: []string{n}})
	}
	lines := textNotes(r, 80)
	if len(lines) != 2+textNotesMost+1 || !strings.Contains(lines[len(lines)-1], "and 2 more notes in the record") {
		t.Errorf("notes %q", lines)
	}
}
