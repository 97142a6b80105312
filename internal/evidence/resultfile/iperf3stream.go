package resultfile

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/linerate/linerate/record"
)

// longestLine bounds one event of a stream.
const longestLine = 16 << 20

// event is a line of iperf3 --json-stream (3.17 and newer).
type event struct {
	Event string          `json:"event"`
	Data  json.RawMessage `json:"data"`
}

// readStream reads the events of one test or of several, one after the other.
// A last line that was cut off is left out.
func readStream(text []byte, out *record.Record) error {
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(make([]byte, 64<<10), longestLine)
	var doc document
	begun, ended, rows := false, false, 0
	finish := func() error {
		if !begun {
			return nil
		}
		doc.cutOff = !ended && doc.Error == ""
		err := addDocument(doc, out)
		doc, begun, ended, rows = document{}, false, false, 0
		return err
	}
	var bad error // of the line before: an error unless it was the last
	for number := 1; lines.Scan(); number++ {
		line := bytes.TrimSpace(lines.Bytes())
		if len(line) == 0 {
			continue
		}
		if bad != nil {
			return bad
		}
		var e event
		if err := json.Unmarshal(line, &e); err != nil {
			bad = fmt.Errorf("line %d: %w", number, err)
			continue
		}
		if e.Event == "start" || !begun {
			if err := finish(); err != nil {
				return err
			}
			begun = true
		}
		if rows++; rows > mostRows {
			return fmt.Errorf("line %d: more than %d events of one test", number, mostRows)
		}
		if err := doc.take(e); err != nil {
			return fmt.Errorf("line %d: %w", number, err)
		}
		ended = ended || e.Event == "end"
	}
	if err := lines.Err(); err != nil {
		return err
	}
	if bad != nil && !begun {
		return bad
	}
	return finish()
}

// take adds one event to the document. Events it does not know are left out:
// newer versions have more.
func (d *document) take(e event) error {
	var err error
	switch e.Event {
	case "start":
		err = json.Unmarshal(e.Data, &d.Start)
	case "interval":
		var i interval
		err = json.Unmarshal(e.Data, &i)
		d.Intervals = append(d.Intervals, i)
	case "end":
		err = json.Unmarshal(e.Data, &d.End)
	case "error":
		err = json.Unmarshal(e.Data, &d.Error)
	case "server_output_json":
		err = json.Unmarshal(e.Data, &d.ServerOutput)
	}
	var kind *json.UnmarshalTypeError
	if errors.As(err, &kind) {
		return nil
	}
	return err
}
