package wire

import (
	"encoding/json"
	"errors"
	"io/fs"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/linerate/linerate/internal/agent/agentapi"
)

// A method without a role is nobody's to ask for.
func TestNoRole(t *testing.T) {
	if _, err := Ask("eve", "h1", agentapi.AnyMethod{Name: "exec"}); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("%v, want ErrUnsupported", err)
	}
	for _, m := range []agentapi.AnyMethod{Open, Beat, Close, Cancel} {
		if Session(m.Name) != m || CheckName("method", string(m.Name)) != nil {
			t.Errorf("%+v is no method of a conversation", m)
		}
	}
	if m := Session("observe"); m != (agentapi.AnyMethod{}) {
		t.Errorf("%+v is one", m)
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
		if _, err := Ask("eve", bad, agentapi.Hello.Any()); !errors.Is(err, ErrName) {
			t.Errorf("a host called %q is asked: %v", bad, err)
		}
		if _, err := Permissions(bad, agentapi.RoleAgent); !errors.Is(err, ErrName) {
			t.Errorf("a host called %q has permissions: %v", bad, err)
		}
		if _, err := Permissions(bad, agentapi.RoleChange); !errors.Is(err, ErrName) {
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
	for _, has := range agentapi.People() {
		p, err := Permissions("eve", has)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range []agentapi.AnyMethod{Open, agentapi.Observe.Any(), agentapi.OpenSink.Any(), agentapi.Apply.Any()} {
			req, err := Ask("eve", "h1", m)
			if err != nil {
				t.Fatal(err)
			}
			if got := may(p.Publish, req.Subject()); got != has.Includes(m.Role) {
				t.Errorf("%s may ask for %s: %v", has, m.Name, got)
			}
			req.User = "bob"
			if may(p.Publish, req.Subject()) {
				t.Errorf("%s may ask for %s in another's name", has, m.Name)
			}
		}
		for _, s := range []string{Inbox("bob", "h1", "t") + ".1", StoreInbox("bob") + ".x", AgentInbox("h1") + ".x", Asked("h1"), Store("bob", StorePut), StoreAsked(), Revoked(), Enroll("1"), ">", "$SYS.>", "$JS.EVENT.>"} {
			if may(p.Subscribe, s) {
				t.Errorf("%s may hear %s", has, s)
			}
		}
		for _, s := range []string{Enroll("1"), StateOf("h1"), Revoked(), Store("bob", StoreGet), Store("bob", StorePut), "$KV.linerate-hosts.h1", "$JS.API.STREAM.DELETE.x", "$JS.API.DIRECT.GET.x", "$JS.API.INFO",
			Inbox("eve", "h1", "t") + ".1", Inbox("bob", "h1", "t") + ".1", AgentInbox("h1") + ".x", StoreInbox("eve") + ".x", "linerate.v1.req.eve.change.h1.apply"} {
			if may(p.Publish, s) {
				t.Errorf("%s may publish to %s", has, s)
			}
		}
		for _, m := range StoreMethods() {
			if got := may(p.Publish, Store("eve", m)); got != has.Includes(StoreNeeds(m)) || !StoreNeeds(m).Person() {
				t.Errorf("%s may ask the run store for %s: %v", has, m, got)
			}
		}
	}
	p, err := Permissions("h1", agentapi.RoleAgent)
	if err != nil {
		t.Fatal(p, err)
	}
	for s, want := range map[string]bool{
		Answer("eve", "h1", "t", 1): true, StateOf("h1"): true,
		Answer("eve", "h2", "t", 1): false, StoreInbox("eve") + ".1": false, "linerate.v2.req.h1.change.h2.apply": false, StateOf("h2"): false, "$KV.linerate-hosts.h1": false,
		Store("h1", StorePut): false, Enroll("1"): false, Revoked(): false, AgentInbox("h2") + ".x": false,
	} {
		if got := may(p.Publish, s); got != want {
			t.Errorf("an agent may publish to %s: %v", s, got)
		}
	}
	for s, want := range map[string]bool{
		"linerate.v2.req.eve.change.h1.apply": true, AgentInbox("h1") + ".x": true, Revoked(): true,
		"linerate.v2.req.eve.change.h2.apply": false, Answer("eve", "h1", "t", 1): false, Asked("h2"): false, StateOf("h1"): false,
	} {
		if got := may(p.Subscribe, s); got != want {
			t.Errorf("an agent may hear %s: %v", s, got)
		}
	}
	service := OfService()
	for _, s := range []string{"linerate.v2.req.eve.change.h1.apply", Answer("eve", "h1", "t", 1), StateOf("h1"), Store("eve", StorePut)} {
		if may(service.Publish, s) {
			t.Errorf("the servers' own connection may publish to %s", s)
		}
	}
	if e := ToEnroll("1"); may(e.Publish, Enroll("2")) || !may(e.Publish, Enroll("1")) || may(e.Subscribe, Enroll("1")) || len(e.Publish) != 1 {
		t.Errorf("a token may %+v", e)
	}
}

func TestRequestCheck(t *testing.T) {
	needs := map[agentapi.MethodName]agentapi.Role{"observe": agentapi.RoleWatch, "sink": agentapi.RoleMeasure, "apply": agentapi.RoleChange}
	for _, c := range []struct {
		subject, name string
		has, most     agentapi.Role
		want          error
	}{
		{"linerate.v2.req.eve.watch.h.observe", "eve", agentapi.RoleWatch, agentapi.RoleChange, nil},
		{"linerate.v2.req.eve.change.h.apply", "eve", agentapi.RoleChange, agentapi.RoleChange, nil},
		{"linerate.v2.req.eve.watch.h.observe", "eve", agentapi.RoleChange, agentapi.RoleChange, nil},
		{"linerate.v2.req.eve.change.h.apply", "bob", agentapi.RoleChange, agentapi.RoleChange, fs.ErrPermission},  // signed by another
		{"linerate.v2.req.eve.change.h.apply", "eve", agentapi.RoleMeasure, agentapi.RoleChange, fs.ErrPermission}, // a subject says nothing of a role
		{"linerate.v2.req.eve.change.h.apply", "eve", agentapi.RoleAgent, agentapi.RoleChange, fs.ErrPermission},
		{"linerate.v2.req.eve.change.h.apply", "eve", "", agentapi.RoleChange, fs.ErrPermission},
		{"linerate.v2.req.eve.watch.h.apply", "eve", agentapi.RoleChange, agentapi.RoleChange, fs.ErrPermission}, // a role that is not the method's
		{"linerate.v2.req.eve.change.h.observe", "eve", agentapi.RoleChange, agentapi.RoleChange, fs.ErrPermission},
		{"linerate.v2.req.eve.root.h.apply", "eve", agentapi.RoleChange, agentapi.RoleChange, fs.ErrPermission},
		{"linerate.v2.req.eve.change.h.apply", "eve", agentapi.RoleChange, agentapi.RoleMeasure, fs.ErrPermission}, // an agent that serves no changes
		{"linerate.v2.req.eve.measure.h.sink", "eve", agentapi.RoleChange, agentapi.RoleWatch, fs.ErrPermission},
		{"linerate.v2.req.eve.change.h.exec", "eve", agentapi.RoleChange, agentapi.RoleChange, errors.ErrUnsupported},
	} {
		r, err := ParseRequest(c.subject)
		if err != nil {
			t.Errorf("%s: %v", c.subject, err)
		}
		if err := r.Check(needs[r.Method], c.name, c.has, c.most); !errors.Is(err, c.want) {
			t.Errorf("%s by %s, %s: %v, want %v", c.subject, c.name, c.has, err, c.want)
		}
		if r.Subject() != c.subject {
			t.Errorf("%s became %s", c.subject, r.Subject())
		}
	}
}

// What a signature is over differs in every field that a request has, and no JSON
// text, such as the number that a NATS server has clients sign, is one.
func TestSigned(t *testing.T) {
	one := Signed{Kind: KindRequest, Subject: "s", Session: "t", Challenge: "c", Call: 1, Time: 1, Params: "p", Size: 1, Sum: "x"}
	seen := map[string]string{string(one.Text()): "itself"}
	v := reflect.ValueOf(&one).Elem()
	for i := range v.NumField() {
		was := reflect.ValueOf(v.Field(i).Interface())
		switch f := v.Field(i); f.Kind() {
		case reflect.String:
			f.SetString(f.String() + "\"1")
		case reflect.Int, reflect.Int64:
			f.SetInt(f.Int() + 1)
		case reflect.Uint64:
			f.SetUint(f.Uint() + 1)
		default:
			t.Fatalf("field %s", v.Type().Field(i).Name)
		}
		text := string(one.Text())
		if other := seen[text]; other != "" {
			t.Errorf("another %s signs as %s does", v.Type().Field(i).Name, other)
		}
		seen[text] = v.Type().Field(i).Name
		v.Field(i).Set(was)
	}
	if utf8.Valid(one.Text()) || !utf8.ValidString(one.JSON()) {
		t.Error("what is signed can be said in JSON")
	}
}

func TestStoreParams(t *testing.T) {
	sum := strings.Repeat("a", 64)
	part := &PartOf{Number: 2, Of: 3, Size: 10, Sum: sum}
	head := func(h Head) []byte {
		text, err := json.Marshal(h)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	good := Head{Version: "0123456789ab", Of: 2, Size: 10, Sum: sum}
	trial := "t." + strings.Repeat("0", 24) + ".2"
	for _, c := range []struct {
		name string
		m    StoreMethod
		p    StoreParams
		body []byte
		want error
	}{
		{"a trial", StorePut, StoreParams{User: "eve", Run: "r", Key: trial, Part: part}, []byte("x"), nil},
		{"a base", StorePut, StoreParams{User: "eve", Run: "r", Key: "v.0123456789ab.1"}, []byte("x"), nil},
		{"a head", StorePut, StoreParams{User: "eve", Run: "r", Key: "head"}, head(good), nil},
		{"read", StoreGet, StoreParams{User: "eve", Run: "r", Key: "head"}, nil, nil},
		{"a key of another's", StoreGet, StoreParams{User: "eve", Run: "r", Key: "head.x"}, nil, ErrName},
		{"a wildcard", StoreGet, StoreParams{User: "*", Run: "r", Key: "head"}, nil, ErrName},
		{"a wildcard for a run", StoreTrials, StoreParams{User: "eve", Run: ">"}, nil, ErrName},
		{"a wildcard for a key", StorePut, StoreParams{User: "eve", Run: "r", Key: "v.*.1"}, nil, ErrName},
		{"another's part", StorePut, StoreParams{User: "eve", Run: "r", Key: "t." + strings.Repeat("0", 24) + ".3", Part: part}, []byte("x"), ErrParts},
		{"no part", StorePut, StoreParams{User: "eve", Run: "r", Key: trial}, []byte("x"), ErrParts},
		{"2^50 parts", StorePut, StoreParams{User: "eve", Run: "r", Key: "head"}, []byte(`{"version":"0123456789ab","parts_count":1125899906842624,"size_bytes":1,"sha256":"` + sum + `"}`), ErrParts},
		{"minus one part", StorePut, StoreParams{User: "eve", Run: "r", Key: "head"}, head(Head{Version: good.Version, Of: -1, Size: 1, Sum: sum}), ErrParts},
		{"a version that is a wildcard", StorePut, StoreParams{User: "eve", Run: "r", Key: "head"}, head(Head{Version: "*", Of: 1, Size: 1, Sum: sum}), ErrParts},
		{"no JSON", StorePut, StoreParams{User: "eve", Run: "r", Key: "head"}, []byte("{"), ErrParts},
	} {
		if err := c.p.Check(c.m, c.body); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
}

func FuzzParseRequest(f *testing.F) {
	f.Add("linerate.v2.req.eve.watch.h.observe")
	f.Add("linerate.v2.req....")
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
