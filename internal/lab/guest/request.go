package guest

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Request is a command to run in a lab kernel that stands: this very program
// with other arguments.
type Request struct {
	Args []string `json:"args"`
	Env  []string `json:"env"` // added to a clean environment
	// Dir is the working directory, absolute; User-Mode Linux shows the host's
	// there, writable.
	Dir string `json:"dir"`
	// Together sends its standard error the way of its output, in the order in which
	// both were written.
	Together bool `json:"together,omitempty"`
	// Terminal gives it a terminal of its own with so many rows and columns.
	Terminal bool   `json:"terminal"`
	Rows     uint16 `json:"rows"`
	Columns  uint16 `json:"columns"`
}

// ErrRefused is Attach's error for a command that could not be started.
var ErrRefused = errors.New("lab kernel refused")

// maxRequest bounds a request: an environment and arguments.
const maxRequest = 4 << 20

func writeRequest(w io.Writer, r Request) error {
	text, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("encode request: %w", err)
	}
	if err := writeFrame(w, frameRequest, text); err != nil {
		return err
	}
	return writeFrame(w, frameRequest, nil)
}

func readRequest(from io.Reader) (r Request, err error) {
	var text []byte
	for {
		kind, payload, err := readFrame(from)
		if err != nil {
			return r, fmt.Errorf("read request: %w", err)
		}
		if kind != frameRequest || len(text)+len(payload) > maxRequest {
			return r, fmt.Errorf("read request: %w", errFrame)
		}
		if len(payload) == 0 {
			break
		}
		text = append(text, payload...)
	}
	if err := json.Unmarshal(text, &r); err != nil {
		return r, fmt.Errorf("read request: %w", err)
	}
	return r, nil
}

func sizeMessage(rows, columns uint16) []byte {
	return binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint16(nil, rows), columns)
}

func readSize(p []byte) (rows, columns uint16, ok bool) {
	if len(p) != 4 {
		return 0, 0, false
	}
	return binary.BigEndian.Uint16(p), binary.BigEndian.Uint16(p[2:]), true
}
