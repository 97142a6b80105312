package fabric

import (
	"errors"
	"strings"
	"testing"

	"github.com/linerate/linerate/netstate"
)

// TestBecome: the key goes along with the reach, there and back.
func TestBecome(t *testing.T) {
	f, err := Parse("f", []byte("linerate: v1\nhosts:\n  a: {become: sudo, reach: \"ssh://ann@192.0.2.1:2222\"}\n"))
	if err != nil {
		t.Fatal(err)
	}
	const want = "ssh://ann@192.0.2.1:2222?become=sudo"
	if got := f.Hosts[0].Reach; got != want {
		t.Fatalf("reach %q, want %q", got, want)
	}
	text := string(Describe([]netstate.Host{{Name: "a"}}, nil, map[string]string{"a": want}, Measure{}))
	if !strings.Contains(text, "reach: ssh://ann@192.0.2.1:2222\n") || !strings.Contains(text, "become: sudo\n") {
		t.Errorf("described as\n%s", text)
	}
	again, err := Parse("f", []byte(text))
	if err != nil || again.Hosts[0].Reach != want {
		t.Errorf("read back: %v\n%s", err, text)
	}
}

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
		var ps Problems
		if !errors.As(err, &ps) || !strings.Contains(ps[0].What+ps[0].Hint, want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
