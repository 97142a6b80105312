package iperf3

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
)

// AppendFrame appends a document as it goes over the wire: its length in four
// bytes, big endian, then itself.
func AppendFrame(b []byte, document any) ([]byte, error) {
	text, err := json.Marshal(document)
	if err != nil {
		return nil, fmt.Errorf("encode JSON: %w", err)
	}
	b = binary.BigEndian.AppendUint32(b, uint32(len(text)))
	return append(b, text...), nil
}

// ReadFrame reads one framed document of at most limit bytes. Memory grows
// with what comes, not with what the length promises. A length out of bounds
// is ErrMalformed; else errors are the reader's.
func ReadFrame(r io.Reader, limit int) ([]byte, error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, fmt.Errorf("read length: %w", err)
	}
	// A negative length of a C program is a huge one here.
	n := binary.BigEndian.Uint32(head[:])
	if n == 0 || uint64(n) > uint64(limit) {
		return nil, fmt.Errorf("%w: document of %d bytes, want 1 to %d", ErrMalformed, int32(n), limit)
	}
	var text bytes.Buffer
	got, err := io.CopyN(&text, r, int64(n))
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return nil, fmt.Errorf("read %d of %d bytes: %w", got, n, err)
	}
	return text.Bytes(), nil
}
