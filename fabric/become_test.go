package fabric

import (
	"errors"
	"strings"
	"testing"

	"github.com/linerate/linerate/fabric/yamldoc"
)

func TestBecomeRefused(t *testing.T) {
	for text, want := range map[string]string{
		`{become: sudo, reach: "local:"}`:              "hosts.a.become: the host is not reached by ssh",
		`{become: sudo, network: {version: 2}}`:        "hosts.a.become: the host is not reached by ssh",
		`{become: doas, reach: "ssh://h"}`:             "become",
		`{reach: "ssh://h?become=sudo"}`:               "a key of its own",
		`{reach: "ssh://h?x=y"}`:                       "names no host",
		`{sudo: true, reach: "ssh://h"}`:               "become",
		`{become: "sudo; rm -rf /", reach: "ssh://h"}`: "become",
	} {
		_, err := Parse("f", []byte("linerate: v1\nhosts:\n  a: "+text+"\n"))
		var ps yamldoc.Problems
		if !errors.As(err, &ps) || !strings.Contains(ps[0].What+ps[0].Hint, want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
