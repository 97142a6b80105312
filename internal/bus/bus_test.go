package bus

import (
	"bytes"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/linerate/linerate/internal/agentapi"
)

// methodsOf are the constants of type Method in a package's source.
func methodsOf(t *testing.T, dir string) map[string]agentapi.Method {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%v, %v", files, err)
	}
	out := make(map[string]agentapi.Method)
	for _, name := range files {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			v, ok := n.(*ast.ValueSpec)
			if !ok {
				return true
			}
			if id, ok := v.Type.(*ast.Ident); !ok || id.Name != "Method" || len(v.Values) != 1 {
				return true
			}
			text, err := strconv.Unquote(v.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			out[v.Names[0].Name] = agentapi.Method(text)
			return true
		})
	}
	return out
}

// Every method that an agent answers has a role, and none has one besides.
func TestEveryMethodNeedsARole(t *testing.T) {
	methods := methodsOf(t, "../agentapi")
	if len(methods) < 28 {
		t.Fatalf("only %d methods were found in the source", len(methods))
	}
	known := map[agentapi.Method]bool{Open: true, Beat: true, Close: true, Cancel: true}
	for name, m := range methods {
		known[m] = true
		if role, ok := Needs(m); !ok || !role.Person() {
			t.Errorf("%s (%q) is not in the table of roles", name, m)
		}
		if err := CheckName("method", string(m)); err != nil {
			t.Errorf("%s cannot be part of a subject: %v", name, err)
		}
	}
	for m := range needs {
		if !known[m] {
			t.Errorf("%q has a role and is no method", m)
		}
	}
	for m, want := range map[agentapi.Method]Role{agentapi.MethodApply: Change, agentapi.MethodRollback: Change, agentapi.MethodConfirm: Change, agentapi.MethodSink: Measure, agentapi.MethodPing: Measure, agentapi.MethodObserve: Watch} {
		if role, _ := Needs(m); role != want {
			t.Errorf("%s takes %s, want %s", m, role, want)
		}
	}
}

func TestRoles(t *testing.T) {
	for _, c := range []struct {
		has, needs Role
		want       bool
	}{
		{Watch, Watch, true}, {Watch, Measure, false}, {Watch, Change, false}, {Measure, Watch, true}, {Measure, Change, false},
		{Change, Measure, true}, {Change, Change, true}, {Agent, Watch, false}, {"", Watch, false}, {Change, "", false}, {Change, Agent, false}, {"root", Watch, false},
	} {
		if got := c.has.Includes(c.needs); got != c.want {
			t.Errorf("%s includes %s: %v", c.has, c.needs, got)
		}
	}
}

func TestNames(t *testing.T) {
	for _, good := range []string{"rbx", "a", "0", "h-1_b", strings.Repeat("x", 63)} {
		if err := CheckName("host", good); err != nil {
			t.Error(err)
		}
	}
	for _, bad := range []string{"", ".", "..", "a.b", "*", ">", "a b", "../../etc/passwd", "a/b", `a\b`, "-rf", "_x", "ü", "a\n", "a\x00", "$KV", strings.Repeat("x", 64)} {
		if err := CheckName("host", bad); !errors.Is(err, ErrName) {
			t.Errorf("%q: %v, want ErrName", bad, err)
		}
		if _, err := Ask("eve", bad, agentapi.MethodHello); !errors.Is(err, ErrName) {
			t.Errorf("a host called %q is asked: %v", bad, err)
		}
		if _, err := Permissions(bad, Agent); !errors.Is(err, ErrName) {
			t.Errorf("a host called %q has permissions: %v", bad, err)
		}
		if _, err := Permissions(bad, Change); !errors.Is(err, ErrName) {
			t.Errorf("a user called %q has permissions: %v", bad, err)
		}
	}
	if _, err := Permissions("eve", "root"); err == nil {
		t.Error("a role that is none has permissions")
	}
}

// matches is NATS's own rule of subjects.
func matches(pattern, subject string) bool {
	p, s := strings.Split(pattern, "."), strings.Split(subject, ".")
	for i, word := range p {
		if word == ">" {
			return len(s) > i
		}
		if i >= len(s) || word != "*" && word != s[i] {
			return false
		}
	}
	return len(p) == len(s)
}

func may(list []string, subject string) bool {
	for _, p := range list {
		if matches(p, subject) {
			return true
		}
	}
	return false
}

func TestPermissions(t *testing.T) {
	for _, has := range People() {
		p, err := Permissions("eve", has)
		if err != nil {
			t.Fatal(err)
		}
		for m, needed := range needs {
			req, err := Ask("eve", "h1", m)
			if err != nil {
				t.Fatal(err)
			}
			if got := may(p.Publish, req.Subject()); got != has.Includes(needed) {
				t.Errorf("%s may ask for %s: %v", has, m, got)
			}
			req.User = "bob"
			if may(p.Publish, req.Subject()) {
				t.Errorf("%s may ask for %s in another's name", has, m)
			}
		}
		for _, s := range []string{Inbox("bob") + ".x", AgentInbox("h1") + ".x", Asked("h1"), ">", "$SYS.>"} {
			if may(p.Subscribe, s) {
				t.Errorf("%s may hear %s", has, s)
			}
		}
		for _, s := range []string{Enroll("1"), "$KV." + HostsBucket + ".h1", Trial("bob", "1"), "$JS.API.STREAM.DELETE." + TrialsStream, "$JS.API.STREAM.PURGE.KV_" + HostsBucket, "$JS.API.STREAM.CREATE.x", Inbox("eve") + ".x"} {
			if may(p.Publish, s) {
				t.Errorf("%s may publish to %s", has, s)
			}
		}
		if got := may(p.Publish, Trial("eve", "1")); got != has.Includes(Measure) {
			t.Errorf("%s may keep its results: %v", has, got)
		}
	}
	p, err := Permissions("h1", Agent)
	if err != nil || !p.Responses {
		t.Fatal(p, err)
	}
	for _, s := range []string{Inbox("eve") + ".1", "linerate.v1.req.h1.change.h2.apply", "$KV." + HostsBucket + ".h2", Trial("eve", "1"), Enroll("1")} {
		if may(p.Publish, s) {
			t.Errorf("an agent may publish to %s", s)
		}
	}
	for _, s := range []string{"linerate.v1.req.eve.change.h2.apply", Inbox("eve") + ".1", Asked("h2")} {
		if may(p.Subscribe, s) {
			t.Errorf("an agent may hear %s", s)
		}
	}
	if e := ToEnroll("1"); may(e.Publish, Enroll("2")) || !may(e.Publish, Enroll("1")) || may(e.Subscribe, Enroll("1")) || len(e.Publish) != 1 {
		t.Errorf("a token may %+v", e)
	}
}

func TestRequestCheck(t *testing.T) {
	for _, c := range []struct {
		subject string
		most    Role
		want    error
	}{
		{"linerate.v1.req.eve.watch.h.observe", Change, nil},
		{"linerate.v1.req.eve.change.h.apply", Change, nil},
		{"linerate.v1.req.eve.watch.h.apply", Change, fs.ErrPermission}, // a role that is not the method's
		{"linerate.v1.req.eve.change.h.observe", Change, fs.ErrPermission},
		{"linerate.v1.req.eve.root.h.apply", Change, fs.ErrPermission},
		{"linerate.v1.req.eve.change.h.apply", Measure, fs.ErrPermission}, // an agent that serves no changes
		{"linerate.v1.req.eve.measure.h.sink", Watch, fs.ErrPermission},
		{"linerate.v1.req.eve.change.h.exec", Change, errors.ErrUnsupported},
	} {
		r, err := ParseRequest(c.subject)
		if err != nil {
			t.Errorf("%s: %v", c.subject, err)
		}
		if err := r.Check(c.most); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.subject, err, c.want)
		}
		if r.Subject() != c.subject {
			t.Errorf("%s became %s", c.subject, r.Subject())
		}
	}
}

func TestParts(t *testing.T) {
	for _, n := range []int{0, 1, 9, 10, 11, 95} {
		whole := bytes.Repeat([]byte("0123456789"), 10)[:n]
		var w Whole
		var got []byte
		done := false
		parts := Split(whole, 10)
		for i := range parts { // backwards, each twice
			p := parts[len(parts)-1-i]
			h := p.Headers()
			read, err := ParsePart(func(k string) string { return h[k] }, p.Body, 1000)
			if err != nil {
				t.Fatal(err)
			}
			if _, early, err := w.Add(read); i < len(parts)-1 && (early || err != nil) {
				t.Fatalf("part %d of %d: %v, %v", i, len(parts), early, err)
			}
			if got, done, err = w.Add(read); err != nil {
				t.Fatal(err)
			}
		}
		if !done || !bytes.Equal(got, whole) {
			t.Errorf("%d bytes: %v, %q", n, done, got)
		}
	}
}

func TestPartsRefuse(t *testing.T) {
	p := Split([]byte("0123456789abcdef"), 10)
	get := func(p Part) func(string) string {
		h := p.Headers()
		return func(k string) string { return h[k] }
	}
	for name, c := range map[string]struct {
		p    Part
		most int
	}{
		"too long":        {p[0], 15},
		"part 0":          {Part{Number: 0, Of: 1, Size: 1, Sum: p[0].Sum}, 100},
		"part 3 of 2":     {Part{Number: 3, Of: 2, Size: 1, Sum: p[0].Sum}, 100},
		"a million parts": {Part{Number: 1, Of: 1000000, Size: 1, Sum: p[0].Sum}, 100},
		"no sum":          {Part{Number: 1, Of: 1, Size: 1}, 100},
		"less than said":  {Part{Number: 1, Of: 1, Size: 1, Sum: p[0].Sum, Body: []byte("12")}, 100},
		"negative":        {Part{Number: 1, Of: 1, Size: -1, Sum: p[0].Sum}, 100},
	} {
		if _, err := ParsePart(get(c.p), c.p.Body, c.most); !errors.Is(err, ErrParts) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := ParsePart(func(string) string { return "" }, nil, 100); !errors.Is(err, ErrParts) {
		t.Errorf("no headers: %v", err)
	}
	forged := p[1]
	forged.Body = []byte("ABCDEF")
	var w Whole
	_, _, _ = w.Add(p[0])
	if _, _, err := w.Add(forged); !errors.Is(err, ErrParts) {
		t.Errorf("a part of something else: %v", err)
	}
	other := Split([]byte("another whole thing"), 10)
	var v Whole
	_, _, _ = v.Add(p[0])
	if _, _, err := v.Add(other[1]); !errors.Is(err, ErrParts) {
		t.Errorf("parts of two wholes: %v", err)
	}
}

func FuzzParseRequest(f *testing.F) {
	f.Add("linerate.v1.req.eve.watch.h.observe")
	f.Add("linerate.v1.req....")
	f.Fuzz(func(t *testing.T, subject string) {
		r, err := ParseRequest(subject)
		if err == nil && r.Subject() != subject {
			t.Errorf("%q was read as %q", subject, r.Subject())
		}
		if err == nil && strings.ContainsAny(r.User+r.Host+string(r.Role)+string(r.Method), "./*> \x00") {
			t.Errorf("%q: %+v", subject, r)
		}
	})
}

func FuzzParts(f *testing.F) {
	f.Add("1/2", "12", strings.Repeat("a", 64), []byte("x"))
	f.Fuzz(func(t *testing.T, part, size, sum string, body []byte) {
		h := map[string]string{HeaderPart: part, HeaderSize: size, HeaderSum: sum}
		p, err := ParsePart(func(k string) string { return h[k] }, body, 1<<20)
		if err != nil {
			return
		}
		var w Whole
		whole, done, err := w.Add(p)
		if done && (err != nil || !bytes.Equal(whole, body)) {
			t.Errorf("%q, %v", whole, err)
		}
	})
}
