package natsagent

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestAuditAfterPart: what follows a line that a full disk cut off can be read.
func TestAuditAfterPart(t *testing.T) {
	file := filepath.Join(t.TempDir(), "audit.log")
	a := &audit{file: file, host: "h1"}
	write := func(user string) {
		t.Helper()
		if err := a.write(entry{User: user, Stage: "begin"}); err != nil {
			t.Fatal(err)
		}
	}
	write("eve")
	write("bob")
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(file, int64(len(whole)-10)); err != nil {
		t.Fatal(err)
	}
	write("ann")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var users []string
	for line := range strings.Lines(string(text)) {
		var e entry
		if json.Unmarshal([]byte(line), &e) == nil {
			users = append(users, e.User)
		}
	}
	if strings.Join(users, " ") != "eve ann" || strings.Count(string(text), "\n") != 3 {
		t.Errorf("%q are read of %q", users, text)
	}
}
