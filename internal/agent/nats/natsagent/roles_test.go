package natsagent

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/linerate/linerate/internal/agent"
	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/agent/ask"
	"github.com/linerate/linerate/internal/agent/nats/wire"
)

// declared are the names of the Method values in agentapi's source.
func declared(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("../../agentapi/*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("%v, %v", files, err)
	}
	var out []string
	for _, name := range files {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			lit, ok := n.(*ast.CompositeLit)
			if !ok {
				return true
			}
			of, ok := lit.Type.(*ast.IndexListExpr)
			if !ok || of.X.(*ast.Ident).Name != "Method" {
				return true
			}
			for _, e := range lit.Elts {
				if field := e.(*ast.KeyValueExpr); field.Key.(*ast.Ident).Name == "Name" {
					text, err := strconv.Unquote(field.Value.(*ast.BasicLit).Value)
					if err != nil {
						t.Fatal(err)
					}
					out = append(out, text)
				}
			}
			return true
		})
	}
	slices.Sort(out)
	return out
}

// Every method that is declared has a handler and a role, whoever has the role may
// publish a request for it and nobody else, and an agent answers nothing besides.
func TestEveryMethodHasARoleAndAHandler(t *testing.T) {
	a := agent.New(agent.Config{Name: "here"})
	defer a.Close()
	methods := declared(t)
	if len(methods) < 30 {
		t.Fatalf("only %d methods were found in the source", len(methods))
	}
	hello, err := ask.Call(t.Context(), a, agentapi.Hello, agentapi.HelloRequest{Version: agentapi.Version})
	if err != nil || !slices.Equal(hello.Methods, methods) {
		t.Errorf("%v; the agent answers %q, declared are %q", err, hello.Methods, methods)
	}
	for _, name := range methods {
		m := a.Method(agentapi.MethodName(name))
		if m.Name == "" || !m.Role.Person() {
			t.Errorf("%s has the handler %q and the role %q", name, m.Name, m.Role)
			continue
		}
		if m.Audited && m.Role != agentapi.RoleChange {
			t.Errorf("%s changes hosts and takes the role %s", name, m.Role)
		}
		req, err := wire.Ask("eve", "h1", m)
		if err != nil || wire.CheckName("method", name) != nil {
			t.Errorf("%s cannot be part of a subject: %v", name, err)
		}
		for _, has := range agentapi.People() {
			p, err := wire.Permissions("eve", has)
			if err != nil {
				t.Fatal(err)
			}
			published := slices.Contains(p.Publish, "linerate.v2.req.eve."+string(m.Role)+".*.*")
			if allowed := req.Check(m.Role, "eve", has, agentapi.RoleChange) == nil; published != has.Includes(m.Role) || allowed != published {
				t.Errorf("%s with the role %s: published %v, allowed %v", name, has, published, allowed)
			}
		}
	}
	for role, some := range map[agentapi.Role][]agentapi.AnyMethod{
		agentapi.RoleWatch:   {agentapi.Observe.Any(), agentapi.Hello.Any()},
		agentapi.RoleMeasure: {agentapi.OpenSink.Any(), agentapi.Ping.Any(), agentapi.Lock.Any()},
		agentapi.RoleChange:  {agentapi.Apply.Any(), agentapi.Rollback.Any(), agentapi.Confirm.Any(), agentapi.ConfigFiles.Any()}, // files may hold secrets
	} {
		for _, m := range some {
			if m.Role != role {
				t.Errorf("%s takes %s, want %s", m.Name, m.Role, role)
			}
		}
	}
	for _, m := range []agentapi.AnyMethod{agentapi.Apply.Any(), agentapi.Rollback.Any(), agentapi.Confirm.Any()} {
		if !m.Audited {
			t.Errorf("%s is not audited", m.Name)
		}
	}
}
