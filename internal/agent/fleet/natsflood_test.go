//go:build !aix

package fleet

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/agent/nats/link"
	"github.com/linerate/linerate/internal/agent/nats/natsagent"
	"github.com/linerate/linerate/internal/agent/nats/results"
	"github.com/linerate/linerate/internal/agent/nats/testcluster"
	"github.com/linerate/linerate/internal/agent/nats/wire"
)

// flood publishes a message as fast as it goes until the test ends.
func flood(t *testing.T, c *link.Conn, m *nats.Msg) {
	t.Helper()
	stop, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-stop:
				return
			default:
				_ = c.PublishMsg(m)
			}
		}
	}()
	t.Cleanup(func() {
		close(stop)
		<-ended
	})
}

// One who may only watch, and who asks without end, ends nobody else's
// conversation: not a measurement, and not a change that goes back with it.
func TestNATSSecurityFloodedHost(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: it takes seconds")
	}
	b := besiege(t, agentapi.RoleChange)
	d := dialer(b.testServer.As(t, "bob", agentapi.RoleWatch))
	defer d.Close()
	h, err := Dial(t.Context(), "here", "nats:here", Config{Bus: d})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	eve := testcluster.Connect(t, b.testServer.As(t, "eve", agentapi.RoleWatch))
	r := newRaw(t, eve, signerOf(t, eve), "here")
	if err := r.open(t); err != nil {
		t.Fatal(err)
	}
	flood(t, eve, r.message(t, wire.Beat, []byte(`{"last":0}`), nil))
	for end := time.Now().Add(15 * time.Second); time.Now().Before(end); time.Sleep(500 * time.Millisecond) {
		if _, err := h.Observe(t.Context()); err != nil {
			t.Fatalf("while eve asks: %v", err)
		}
	}
}

// However many conversations those begin who may not change the host, who may finds it
// free.
func TestNATSSecurityCrowdedHost(t *testing.T) {
	b := besiege(t, agentapi.RoleChange)
	dial := func(name string, role agentapi.Role) func() error {
		d := dialer(b.testServer.As(t, name, role))
		t.Cleanup(d.Close)
		return func() error {
			h, err := Dial(t.Context(), "here", "nats:here", Config{Bus: d})
			if err == nil {
				t.Cleanup(func() { _ = h.Close() })
			}
			return err
		}
	}
	opened := 0
	for i, role := range []agentapi.Role{agentapi.RoleWatch, agentapi.RoleMeasure, agentapi.RoleWatch, agentapi.RoleMeasure} {
		eve := dial(fmt.Sprint("eve", i), role)
		for eve() == nil {
			opened++
		}
	}
	if opened < 16 || opened > 32 {
		t.Errorf("%d conversations were begun", opened)
	}
	if err := dial("adm2", agentapi.RoleChange)(); err != nil {
		t.Errorf("who may change the host: %v", err)
	}
}

// Nor does the run store leave others unanswered.
func TestNATSSecurityFloodedStore(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: it takes seconds")
	}
	r := testcluster.Start(t, nil)
	a := &attacked{testServer: r, adm: testcluster.Connect(t, r.As(t, "adm", agentapi.RoleChange))}
	eve := testcluster.Connect(t, r.As(t, "eve", agentapi.RoleWatch))
	m := nats.NewMsg(wire.Store("eve", wire.StoreStates))
	m.Reply = wire.StoreInbox("eve") + ".x"
	for k, v := range map[string]string{wire.HeaderClaim: signerOf(t, eve).Token, wire.HeaderParams: "{}", wire.HeaderTime: "1", wire.HeaderSignature: strings.Repeat("A", 86)} {
		m.Header.Set(k, v)
	}
	flood(t, eve, m)
	time.Sleep(2 * time.Second)
	for run := range 4 {
		begin := time.Now()
		a.keep(t, fmt.Sprint("run", run), 1)
		if took := time.Since(begin); took > 10*time.Second {
			t.Errorf("one run was kept in %v", took)
		}
	}
}

// A request that only looks is short: what a host makes of many empty values is
// many times what was sent.
func TestNATSSecurityLongRequest(t *testing.T) {
	b := besiege(t, agentapi.RoleChange)
	eve := testcluster.Connect(t, b.testServer.As(t, "eve", agentapi.RoleWatch))
	r := newRaw(t, eve, signerOf(t, eve), "here")
	if err := r.open(t); err != nil {
		t.Fatal(err)
	}
	before := allocated()
	body := []byte(`{"flows":[` + strings.Repeat("{},", 5<<20) + `{}]}`)
	for range 4 {
		r.call++
		req, err := wire.Ask("eve", "here", agentapi.Routes.Any())
		if err != nil {
			t.Fatal(err)
		}
		said := wire.Signed{Kind: wire.KindRequest, Subject: req.Subject(), Session: r.session, Challenge: r.opened.Challenge, Call: r.call}.At(time.Now()).OfBody(body)
		headers := map[string]string{wire.HeaderSession: r.session, wire.HeaderCall: strconv.FormatUint(r.call, 10), wire.HeaderInstance: r.opened.Instance}
		if err := link.Sign(headers, r.signer, said, false); err != nil {
			t.Fatal(err)
		}
		if err := r.conn.Send(said.Subject, "", headers, body); err != nil {
			t.Fatal(err)
		}
	}
	b.untouched(t, b.log.String, "want at most 262144")
	time.Sleep(2 * time.Second)
	// What the client and the server of this process took is in it.
	if took := allocated() - before; took > 600<<20 {
		t.Errorf("four requests of %d bytes took %d MB", len(body), took>>20)
	}
}

// allocated are the bytes that this process has ever allocated.
func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

// A host whose state grows when it is kept does not make the list of all hosts
// longer than a message.
func TestNATSSecurityGrownState(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: it takes seconds")
	}
	r := testcluster.Start(t, nil)
	onNATS(t, r, natsagent.Config{Host: "db1", Every: 300 * time.Millisecond, Audit: t.TempDir() + "/audit.log"})
	db2 := testcluster.Connect(t, r.As(t, "db2", agentapi.RoleAgent))
	signer := signerOf(t, db2)
	adm := testcluster.Connect(t, r.As(t, "adm", agentapi.RoleWatch))
	grown := func(n int) (sent []byte, headers map[string]string) {
		sent = []byte(`{"lost":["` + strings.Repeat("<", n) + `"]}`)
		kept, err := json.Marshal(json.RawMessage(sent))
		if err != nil {
			t.Fatal(err)
		}
		headers = map[string]string{wire.HeaderParams: "{}"}
		// Signed as it will be kept.
		if err := link.Sign(headers, signer, wire.SignedState{Time: time.Now().UnixNano(), State: kept}.Signed("db2"), true); err != nil {
			t.Fatal(err)
		}
		return sent, headers
	}
	// As large as the bucket takes it.
	for n := 174600; n > 174000; n -= 2 {
		body, headers := grown(n)
		m := nats.NewMsg(wire.StateOf("db2"))
		for k, v := range headers {
			m.Header.Set(k, v)
		}
		m.Data = body
		answer, err := db2.RequestMsg(m, 5*time.Second)
		if err != nil {
			t.Fatal(err)
		}
		var reply wire.StateReply
		if err := json.Unmarshal(answer.Data, &reply); err != nil {
			t.Fatal(err)
		}
		if reply.Error == "" || strings.Contains(reply.Error, "as it is kept") {
			t.Logf("%d characters, %d as sent: %q", 6*n, n, reply.Error)
			break
		}
	}
	time.Sleep(500 * time.Millisecond)
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(100 * time.Millisecond) {
		states, _, err := results.States(t.Context(), adm)
		if _, ok := states["db1"]; ok && err == nil {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("db2 made the list of hosts %v, %v", states, err)
		}
	}
}

// A run that is small where it is kept and large where it is read is an error of
// that run.
func TestNATSSecurityGrownRun(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: it takes seconds")
	}
	r := testcluster.Start(t, nil)
	mallory := testcluster.Connect(t, r.As(t, "mallory", agentapi.RoleMeasure))
	x := newRaw(t, mallory, signerOf(t, mallory), "here")
	put := func(run, key string, part *wire.PartOf, body []byte) {
		t.Helper()
		if err := x.put(t, "mallory", wire.StorePut, wire.StoreParams{Run: run, Key: key, Part: part}, body, nil); err != nil {
			t.Fatal(err)
		}
	}
	keep := func(run string, base []byte) {
		t.Helper()
		var packed bytes.Buffer
		z := gzip.NewWriter(&packed)
		_, _ = z.Write(base)
		_ = z.Close()
		p := wire.Split(packed.Bytes(), packed.Len())[0]
		head, err := json.Marshal(wire.Head{Started: time.Now(), Version: "0123456789ab", Of: 1, Size: p.Size, Sum: p.Sum})
		if err != nil {
			t.Fatal(err)
		}
		put(run, wire.BaseKey("0123456789ab", 1), nil, packed.Bytes())
		put(run, wire.HeadKey, nil, head)
	}
	keep("many", []byte(`{"latency":[`+strings.Repeat("{},", 6<<20)+`{}]}`))
	keep("open", []byte(`{}`))
	part := &wire.PartOf{Number: 4096, Of: 4096, Size: 1 << 20, Sum: strings.Repeat("a", 64)}
	for i := range 900 {
		put("open", wire.TrialKey(fmt.Sprintf("%024x", i), 4096), part, []byte("x"))
	}
	for _, run := range []string{"many", "open"} {
		if _, err := results.Of(t.Context(), mallory, results.Kept{User: "mallory", Name: run}); !errors.Is(err, wire.ErrParts) {
			t.Errorf("%s: %v", run, err)
		}
	}
}

// Who is let do nothing and tries it without end does not fill the server's disk
// with what is logged of it.
func TestNATSSecurityLog(t *testing.T) {
	var log testcluster.Text
	r := testcluster.Start(t, slog.New(slog.NewTextHandler(&log, nil)))
	eve := testcluster.Connect(t, r.As(t, "eve", agentapi.RoleWatch))
	for range 20000 {
		if err := eve.Publish("linerate.v2.revoked", nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := eve.Flush(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Second)
	if n := strings.Count(log.String(), "Violation"); n == 0 || n > 500 {
		t.Errorf("%d lines were logged of 20000 messages", n)
	}
}
