package iperf3

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func FuzzCookie(f *testing.F) {
	c := NewCookie([36]byte{1, 2, 3})
	f.Add(c[:])
	f.Add([]byte("GET / HTTP/1.1\r\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if c, err := ParseCookie(b); err == nil && (!bytes.Equal(c[:], b) || c.String() == "") {
			t.Errorf("%q read as %q", b, c)
		}
	})
}

func FuzzFrame(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x02{}"))
	f.Add([]byte("\xff\xff\xff\xff{}"))
	f.Fuzz(func(t *testing.T, b []byte) {
		text, err := ReadFrame(bytes.NewReader(b), 64)
		if err == nil && (len(text) == 0 || len(text) > 64 || !bytes.HasPrefix(b[4:], text)) {
			t.Errorf("%q read as %q", b, text)
		}
	})
}

func FuzzFault(f *testing.F) {
	f.Add([]byte{0, 0, 0, 134, 0, 0, 0, 2})
	f.Fuzz(func(t *testing.T, b []byte) {
		fault, err := ParseFault(b)
		if err != nil {
			return
		}
		if fault.Error() == "" || !bytes.Equal(fault.Append(nil)[1:], b) {
			t.Errorf("%x read as %v", b, fault)
		}
	})
}

func FuzzParameters(f *testing.F) {
	f.Add([]byte(seenTCP))
	f.Add([]byte(seenUDP))
	f.Add([]byte(`{"parallel":1e300,"len":-1,"time":9223372036854775808,"tcp":"x"}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := ParseParameters(b)
		if err != nil {
			return
		}
		_ = p.Check(MaxStreams)
		_ = p.Streams()
		p.Unknown = nil
		text, err := json.Marshal(p)
		if err != nil {
			t.Fatalf("%+v cannot be written: %v", p, err)
		}
		again, err := ParseParameters(text)
		if diff := cmp.Diff(p, again); err != nil || diff != "" {
			t.Errorf("%v, read back (-first +again):\n%s", err, diff)
		}
	})
}

func FuzzResults(f *testing.F) {
	f.Add([]byte(`{"cpu_util_total":1,"sender_has_retransmits":18446744073709551615,"streams":[{"id":1,"bytes":1,"retransmits":-1}]}`))
	f.Add([]byte(`{"streams":null,"server_output_json":{"a":[]}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := ParseResults(b)
		if err != nil {
			return
		}
		if _, err := json.Marshal(r); err != nil {
			t.Errorf("%+v cannot be written: %v", r, err)
		}
	})
}

func FuzzDatagram(f *testing.F) {
	f.Add([]byte("\x00\x00X\xb8\x00\x0c \xd7\x00\x00\x00\x01"), false)
	f.Add([]byte("9876"), true)
	f.Fuzz(func(t *testing.T, b []byte, wide bool) {
		if _, ok := Answer(b); ok && len(b) < HelloLength {
			t.Errorf("%d bytes in, %d out", len(b), HelloLength)
		}
		d, err := ParseDatagram(b, wide)
		if err != nil {
			return
		}
		var r Reception
		r.Add(d, 0)
		r.Add(Datagram{Counter: d.Counter / 2}, 1)
		if r.Jitter < 0 {
			t.Errorf("jitter %v of %+v", r.Jitter, d)
		}
	})
}
