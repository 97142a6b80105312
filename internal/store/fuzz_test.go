package store

import (
	"strings"
	"testing"
)

// FuzzShown: whatever a place is, its password is not shown.
func FuzzShown(f *testing.F) {
	f.Add("user", "host/database")
	f.Add("", "host:none/database?sslmode=off")
	f.Add("us%zzer", "[::1]:5432/%ff?password=other&x=%zz")
	f.Fuzz(func(t *testing.T, user, rest string) {
		if strings.ContainsAny(user, "/?#") || strings.Contains(user+rest, "geheim") {
			return // no user, or it is said elsewhere too
		}
		for _, place := range []string{"postgres://" + user + ":geheim@" + rest, "postgresql://" + user + "@host/database?sslpassword=geheim&" + rest, "postgres://host?" + rest + "&password=geheim"} {
			if shown := Shown(place); strings.Contains(shown, "geheim") {
				t.Errorf("%q is shown as %q", place, shown)
			}
		}
	})
}

// FuzzUnpack: a damaged record is an error, and never more than was kept.
func FuzzUnpack(f *testing.F) {
	packed, err := pack([]byte(strings.Repeat("linerate ", 1000)))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(packed, int64(9000))
	f.Add(packed[:20], int64(9000))
	f.Add([]byte{}, int64(-1))
	f.Fuzz(func(t *testing.T, packed []byte, size int64) {
		if text, err := unpack(packed, size); err == nil && int64(len(text)) > size+1 {
			t.Errorf("%d bytes of %d", len(text), size)
		}
	})
}
