package nmstate

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/linerate/linerate/internal/lab/labtest/floor"
)

// testCase is one of nmstate's tests.
type testCase struct {
	Test string `yaml:"test"` // its file and name there
	Note string `yaml:"note"` // what of it is written otherwise
	// Verdict is why linerate does not do as nmstate; "" it does.
	Verdict string `yaml:"verdict"`
	Partner bool   `yaml:"partner"` // the switch speaks LACP
	Steps   []step `yaml:"steps"`
}

// step is one change of a case.
type step struct {
	Host     map[string]any `yaml:"host"` // as in a fabric file, without reach
	Exact    bool           `yaml:"exact"`
	Rollback bool           `yaml:"rollback"` // what is wanted is so when it is rolled back
	Nothing  bool           `yaml:"nothing"`  // there is nothing to change
	Refused  string         `yaml:"refused"`  // what the refusal says
	Want     []string       `yaml:"want"`     // see holds
}

func cases(t *testing.T) []testCase {
	t.Helper()
	text, err := os.ReadFile("testdata/cases.yaml")
	floor.Must(t, err)
	var all []testCase
	floor.Must(t, yaml.UnmarshalWithOptions(text, &all, yaml.Strict()))
	return all
}

// mptcp reports a case that takes a kernel with MPTCP.
func (c testCase) mptcp() bool { return strings.HasPrefix(c.Test, "mptcp_") }

// verdict is how a case came out, for the table.
func (c testCase) verdict() string {
	switch refused := c.Steps[len(c.Steps)-1].Refused != ""; {
	case c.Verdict != "":
		return c.Verdict
	case refused:
		return "refused as nmstate"
	case c.Note != "":
		return "reached (" + c.Note + ")"
	}
	return "reached"
}

// file is the fabric file of a step on a host; own are the addresses its links
// came with.
func (s step) file(t *testing.T, own map[string]string) []byte {
	t.Helper()
	host := map[string]any{"reach": "netns:" + near, "profiles": []string{}}
	for k, v := range s.Host {
		host[k] = v
	}
	text, err := json.Marshal(map[string]any{"linerate": "v1", "hosts": map[string]any{"h": host}})
	floor.Must(t, err)
	for link, mac := range own {
		text = []byte(strings.ReplaceAll(string(text), `"OWN `+link+`"`, `"`+mac+`"`))
	}
	return text
}
