package iperf3

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestCookie(t *testing.T) {
	var random [CookieLength - 1]byte
	for i := range random {
		random[i] = byte(7 * i)
	}
	c := NewCookie(random)
	got, err := ParseCookie(c[:])
	if err != nil || got != c || len(c.String()) != CookieLength-1 {
		t.Errorf("cookie %q read back as %q, %v", c, got, err)
	}
	short := append([]byte("short"), make([]byte, CookieLength-5)...)
	if got, err := ParseCookie(short); err != nil || got.String() != "short" {
		t.Errorf("short cookie: %q, %v", got, err)
	}
	for name, b := range map[string][]byte{
		"empty":        {},
		"too short":    c[:CookieLength-1],
		"no end":       bytes.Repeat([]byte("a"), CookieLength),
		"nothing":      make([]byte, CookieLength),
		"control byte": append([]byte("GET / HTTP/1.1\r\n"), make([]byte, CookieLength-16)...),
		"after end":    append([]byte("a\x00b"), make([]byte, CookieLength-3)...),
	} {
		if _, err := ParseCookie(b); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: %v, want ErrMalformed", name, err)
		}
	}
}

func TestStatesRoundTrip(t *testing.T) {
	names := make(map[string]bool)
	for _, e := range stateNames {
		s, err := ParseState(e.state.Byte())
		if err != nil || s != e.state {
			t.Errorf("%s: read back as %s, %v", e.name, s, err)
		}
		if e.state.String() != e.name || names[e.name] {
			t.Errorf("%s is called %s, or another is", e.name, e.state)
		}
		names[e.name] = true
	}
	if AccessDenied.Byte() != 0xff || ServerError.Byte() != 0xfe {
		t.Errorf("refusals are %#x and %#x on the wire", AccessDenied.Byte(), ServerError.Byte())
	}
	for _, b := range []byte{0, 17, 127, 128, 0xfd} {
		if s, err := ParseState(b); !errors.Is(err, ErrMalformed) {
			t.Errorf("byte %d is %s, %v", b, s, err)
		}
	}
}

func TestFault(t *testing.T) {
	want := Fault{Reason: ReasonCongestion, Errno: 2}
	wire := want.Append(nil)
	if diff := cmp.Diff([]byte{0xfe, 0, 0, 0, 134, 0, 0, 0, 2}, wire); diff != "" {
		t.Errorf("on the wire (-want +got):\n%s", diff)
	}
	if got, err := ParseFault(wire[1:]); err != nil || got != want {
		t.Errorf("read back %v, %v", got, err)
	}
	if got, err := ParseFault([]byte{0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0}); err != nil || got.Reason != -1 {
		t.Errorf("negative reason: %v, %v", got, err)
	}
	if _, err := ParseFault(wire); !errors.Is(err, ErrMalformed) {
		t.Errorf("long fault: %v", err)
	}
	seen := map[Reason]bool{}
	for _, e := range reasonWords {
		if seen[e.reason] || e.words == "" {
			t.Errorf("reason %d is twice in the table, or has no words", e.reason)
		}
		seen[e.reason] = true
	}
	if got := Reason(9999).String(); got != "iperf3 error 9999" {
		t.Errorf("unknown reason is %q", got)
	}
}

func TestFrame(t *testing.T) {
	b, err := AppendFrame([]byte{9}, map[string]int{"a": 1})
	if err != nil || string(b) != "\x09\x00\x00\x00\x07{\"a\":1}" {
		t.Fatalf("frame %q, %v", b, err)
	}
	got, err := ReadFrame(bytes.NewReader(b[1:]), 7)
	if err != nil || string(got) != `{"a":1}` {
		t.Errorf("read back %q, %v", got, err)
	}
	for name, tt := range map[string]struct {
		wire string
		want error
	}{
		"huge":      {"\x7f\xff\xff\xff{}", ErrMalformed},
		"negative":  {"\xff\xff\xff\xff{}", ErrMalformed},
		"none":      {"\x00\x00\x00\x00", ErrMalformed},
		"above":     {"\x00\x00\x00\x08{\"a\":12}", ErrMalformed},
		"cut short": {"\x00\x00\x00\x07{\"a\"", io.ErrUnexpectedEOF},
		"cut head":  {"\x00\x00", io.ErrUnexpectedEOF},
		"nothing":   {"", io.EOF},
	} {
		if _, err := ReadFrame(strings.NewReader(tt.wire), 7); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", name, err, tt.want)
		}
	}
}

// What iperf3 3.12 and 3.22 really send.
const (
	seenTCP = `{"tcp":true,"omit":1,"server_affinity":0,"time":1,"num":0,"blockcount":0,"MSS":1000,"nodelay":true,"parallel":2,"bidirectional":true,"window":65536,"len":131072,"bandwidth":10000000,"fqrate":50000000,"pacing_timer":500,"burst":5,"TOS":16,"title":"t","extra_data":"x","congestion":"reno","get_server_output":1,"repeating_payload":1,"zerocopy":1,"client_version":"3.12"}`
	seenUDP = `{"udp":true,"omit":1,"time":1,"num":0,"blockcount":0,"parallel":1,"len":1000,"bandwidth":1000000,"pacing_timer":1000,"gso":0,"gso_dg_size":0,"gso_bf_size":65507,"gro":0,"gro_bf_size":65507,"udp_counters_64bit":1,"dont_fragment":1,"client_version":"3.22"}`
)

func TestParametersAsSeen(t *testing.T) {
	for _, text := range []string{seenTCP, seenUDP} {
		p, err := ParseParameters([]byte(text))
		if err != nil || p.Unknown != nil {
			t.Fatalf("%v, unknown %v", err, p.Unknown)
		}
		if err := p.Check(MaxStreams); err != nil {
			t.Errorf("refused: %v", err)
		}
		again, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		var want, got map[string]any
		if err := errors.Join(json.Unmarshal([]byte(text), &want), json.Unmarshal(again, &got)); err != nil {
			t.Fatal(err)
		}
		for key, v := range want {
			if v == 0.0 && got[key] == nil {
				delete(want, key) // said as zero, or not said, is the same
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("written again (-seen +ours):\n%s", diff)
		}
	}
}

func TestParametersLenient(t *testing.T) {
	p, err := ParseParameters([]byte(`{"tcp":1,"time":1.0,"num":1e3,"parallel":2,"reverse":false,"get_server_output":true,"bandwidth":1e30,"new_thing":[1]}`))
	want := Parameters{TCP: true, Time: 1, Bytes: 1000, Parallel: 2, GetServerOutput: true, Rate: 1<<63 - 1,
		Unknown: map[string]json.RawMessage{"new_thing": json.RawMessage("[1]")}}
	if diff := cmp.Diff(want, p); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	for _, text := range []string{"", "null", "[]", `"tcp"`, `{"time":"1"}`, `{"parallel":{}}`, `{"tcp":true`, "{}x"} {
		if _, err := ParseParameters([]byte(text)); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: %v, want ErrMalformed", text, err)
		}
	}
}

func TestParameterKeys(t *testing.T) {
	var keys []string
	kind := reflect.TypeFor[Parameters]()
	for i := range kind.NumField() {
		if key, _, _ := strings.Cut(kind.Field(i).Tag.Get("json"), ","); key != "-" {
			keys = append(keys, key)
		}
	}
	if diff := cmp.Diff(keys, parameterKeys[:]); diff != "" {
		t.Errorf("fields and table (-fields +table):\n%s", diff)
	}
}

func TestParametersCheck(t *testing.T) {
	good := Parameters{TCP: true, Parallel: 1, Block: 128 << 10, Time: 1}
	for name, tt := range map[string]struct {
		change func(*Parameters)
		want   Reason
	}{
		"good":              {func(*Parameters) {}, 0},
		"1e9 streams":       {func(p *Parameters) { p.Parallel = 1e9 }, ReasonStreams},
		"no streams":        {func(p *Parameters) { p.Parallel = 0 }, ReasonStreams},
		"block":             {func(p *Parameters) { p.Block = 1 << 40 }, ReasonBlock},
		"negative block":    {func(p *Parameters) { p.Block = -1 }, ReasonBlock},
		"datagram":          {func(p *Parameters) { p.UDP, p.Block = true, 65508 }, ReasonDatagram},
		"tiny datagram":     {func(p *Parameters) { p.UDP, p.Block = true, 11 }, ReasonDatagram},
		"window":            {func(p *Parameters) { p.Window = 1 << 50 }, ReasonWindow},
		"time":              {func(p *Parameters) { p.Time = 86401 }, ReasonDuration},
		"negative time":     {func(p *Parameters) { p.Time = -5 }, ReasonDuration},
		"omit":              {func(p *Parameters) { p.Omit = 601 }, ReasonOmit},
		"bytes":             {func(p *Parameters) { p.Bytes = -1 }, ReasonEndConditions},
		"burst":             {func(p *Parameters) { p.Burst = 1001 }, ReasonBurst},
		"tos":               {func(p *Parameters) { p.TOS = 256 }, ReasonTOS},
		"algorithm":         {func(p *Parameters) { p.Congestion = "\x1b]0;x" }, ReasonCongestion},
		"mss":               {func(p *Parameters) { p.MSS = 32768 }, ReasonMSS},
		"rate":              {func(p *Parameters) { p.Rate = -1 }, ReasonTotalRate},
		"sctp":              {func(p *Parameters) { p.SCTP = true }, ReasonNoSCTP},
		"reverse and bidir": {func(p *Parameters) { p.Reverse, p.Both = true, true }, ReasonBothWays},
	} {
		p := good
		tt.change(&p)
		var f Fault
		if err := p.Check(MaxStreams); (err != nil) != (tt.want != 0) || errors.As(err, &f) && f.Reason != tt.want {
			t.Errorf("%s: %v, want reason %d", name, err, tt.want)
		}
	}
}

func TestResults(t *testing.T) {
	old := `{"cpu_util_total":37.3,"cpu_util_user":37.2,"cpu_util_system":0,"sender_has_retransmits":18446744073709551615,"congestion_used":"bbr","streams":[{"id":1,"bytes":102400,"retransmits":18446744073709551615,"jitter":1.9e-05,"errors":2,"packets":16,"start_time":0,"end_time":0.00149}]}`
	want := Results{CPUTotal: 37.3, CPUUser: 37.2, HasRetransmits: NotSender, Congestion: "bbr",
		Streams: []StreamResult{{ID: 1, Bytes: 102400, Retransmits: NotSender, Jitter: 1.9e-05, Errors: 2, Packets: 16, End: 0.00149}}}
	got, err := ParseResults([]byte(old))
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	text, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := ParseResults(text); err != nil || cmp.Diff(want, got) != "" {
		t.Errorf("read back %+v, %v", got, err)
	}
	for _, text := range []string{"", "null", `{"streams":1}`, `{"streams":[{"id":"x"}]}`, `{"streams":[{}` + strings.Repeat(",{}", mostResults) + "]}"} {
		if _, err := ParseResults([]byte(text)); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: %v, want ErrMalformed", text, err)
		}
	}
}

func TestStreamIDs(t *testing.T) {
	var ids []int
	for i := range 5 {
		ids = append(ids, StreamID(i))
	}
	if diff := cmp.Diff([]int{1, 3, 4, 5, 6}, ids); diff != "" {
		t.Errorf("ids (-want +got):\n%s", diff)
	}
}

func TestDatagramRoundTrip(t *testing.T) {
	want := Datagram{Sent: 22712*time.Second + 794839*time.Microsecond, Counter: 1<<32 - 1}
	for _, wide := range []bool{false, true} {
		b := make([]byte, 20)
		want.Put(b, wide)
		if got, err := ParseDatagram(b, wide); err != nil || got != want {
			t.Errorf("read back %+v, %v", got, err)
		}
		if _, err := ParseDatagram(b[:DatagramHeader(wide)-1], wide); !errors.Is(err, ErrMalformed) {
			t.Errorf("short datagram: %v", err)
		}
		want.Counter = 1 << 40
	}
	// As 3.12 sent it: "\0\0X\270\0\f \327\0\0\0\1".
	seen := []byte{0, 0, 'X', 0o270, 0, '\f', ' ', 0o327, 0, 0, 0, 1}
	if got, err := ParseDatagram(seen, false); err != nil || got != (Datagram{Sent: 22712*time.Second + 794839*time.Microsecond, Counter: 1}) {
		t.Errorf("as seen: %+v, %v", got, err)
	}
}

func TestHellos(t *testing.T) {
	hello := NewHello()
	answer, ok := Answer(hello[:])
	if !ok || string(hello[:]) != "9876" || string(answer[:]) != "6789" || !Answers(answer[:]) {
		t.Errorf("hello %q, answer %q", hello, answer)
	}
	for _, h := range hellos {
		if a, ok := Answer(h.hello[:]); !ok || a != h.answer {
			t.Errorf("%x answered with %x", h.hello, a)
		}
	}
	if !Answers([]byte{0xb1, 0x68, 0xde, 0x3a}) || Answers([]byte("9876")) || Answers(nil) {
		t.Error("answers not told apart")
	}
	for _, b := range []string{"", "987", "98765", "\x00\x00\x00\x00"} {
		if _, ok := Answer([]byte(b)); ok {
			t.Errorf("%q taken for a hello", b)
		}
	}
}

func TestReception(t *testing.T) {
	var r Reception
	for _, d := range []struct {
		counter       uint64
		sent, arrived time.Duration
	}{
		{1, 0, 100}, {2, 10, 110}, {5, 20, 120}, {4, 30, 146}, {6, 40, 140},
	} {
		r.Add(Datagram{Sent: d.sent * time.Millisecond, Counter: d.counter}, d.arrived*time.Millisecond)
	}
	// Transit 100, 100, 100, 116, 100 ms: two steps of 16 ms, a sixteenth each.
	want := time.Millisecond + 15*time.Millisecond/16
	if r.Highest != 6 || r.Lost != 1 || r.OutOfLine != 1 || r.Jitter != want {
		t.Errorf("%+v, want 6 sent, 1 lost, 1 out of line, jitter %v", r, want)
	}
}

func TestProof(t *testing.T) {
	a, b := NewCookie([36]byte{1}), NewCookie([36]byte{2})
	at := time.Unix(1700000000, 0)
	proof := Prove([]byte("secret"), a, at)
	_, signed, _ := strings.Cut(proof, ".")
	for name, tt := range map[string]struct {
		token  string
		cookie Cookie
		proof  string
		off    time.Duration // the server's clock
		want   error
	}{
		"good":          {"secret", a, proof, 0, nil},
		"clock ahead":   {"secret", a, proof, ProofAge, nil},
		"clock behind":  {"secret", a, proof, -ProofAge, nil},
		"too old":       {"secret", a, proof, ProofAge + time.Second, ErrProofTime},
		"of the future": {"secret", a, proof, -ProofAge - time.Second, ErrProofTime},
		"other cookie":  {"secret", b, proof, 0, ErrProof},
		"other token":   {"other", a, proof, 0, ErrProof},
		"none":          {"secret", a, "", 0, ErrProof},
		"without time":  {"secret", a, signed, 0, ErrProof},
		"other time":    {"secret", a, "1700000600." + signed, 10 * time.Minute, ErrProof},
		"no number":     {"secret", a, "x." + sign([]byte("secret"), a, "x"), 0, ErrProof},
	} {
		until, err := Proven([]byte(tt.token), tt.cookie, tt.proof, at.Add(tt.off))
		if err != tt.want || err == nil && !until.Equal(at.Add(ProofAge)) {
			t.Errorf("%s: until %v, %v, want %v", name, until, err, tt.want)
		}
	}
}

func TestVersionBefore(t *testing.T) {
	for version, want := range map[string]bool{
		"3.7": true, "3.12": true, "3.12+": true, "2.99": true, "3.13": false, "3.18": false, "4.0": false, "": false, "linerate": false, "3.x": false,
	} {
		if got := (Parameters{Version: version}).VersionBefore(3, 13); got != want {
			t.Errorf("%q is before 3.13: %v, want %v", version, got, want)
		}
	}
}
