package agentapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"testing"
)

// roundTrip is err as the other side sees it.
func roundTrip(t *testing.T, err error) *Error {
	t.Helper()
	text, fault := json.Marshal(Reply{ID: 7, Error: WireError(err)})
	var reply Reply
	if fault == nil {
		fault = json.Unmarshal(text, &reply)
	}
	if fault != nil || reply.ID != 7 {
		t.Fatalf("%s: %v", text, fault)
	}
	return reply.Error
}

func TestWireError(t *testing.T) {
	sentinels := []error{fs.ErrPermission, fs.ErrNotExist, errors.ErrUnsupported, context.Canceled, ErrBusy, ErrPortTaken, ErrRefused, ErrSilent, ErrBlocked, ErrState, ErrHalf, ErrGone}
	if len(sentinels) != len(codes) {
		t.Fatalf("%d sentinels tested, the table has %d", len(sentinels), len(codes))
	}
	for _, c := range []struct {
		err  error
		code Code
		is   error // nil is none
	}{
		{fs.ErrPermission, CodePermission, fs.ErrPermission},
		{fmt.Errorf("set MTU of eth0: %w", syscall.EPERM), CodePermission, fs.ErrPermission},
		{&os.PathError{Op: "open", Path: "/x", Err: syscall.ENOENT}, CodeNotExist, fs.ErrNotExist},
		{fmt.Errorf("read ethtool: %w", syscall.EOPNOTSUPP), CodeUnsupported, errors.ErrUnsupported},
		{fmt.Errorf("wait: %w", context.Canceled), CodeCancelled, context.Canceled},
		{fmt.Errorf("lock: %w (process 7)", ErrBusy), CodeBusy, ErrBusy},
		{fmt.Errorf("bind: %w", ErrPortTaken), CodePortTaken, ErrPortTaken},
		{fmt.Errorf("connect: %w", ErrRefused), CodeRefused, ErrRefused},
		{ErrGone, CodeGone, ErrGone},
		{fmt.Errorf("connect: %w", ErrSilent), CodeSilent, ErrSilent},
		{fmt.Errorf("connect: %w (%v)", ErrBlocked, syscall.EACCES), CodeBlocked, ErrBlocked},
		{fmt.Errorf("confirm: %w: it is rolled-back", ErrState), CodeState, ErrState},
		{fmt.Errorf("MTU of eth0: %w", ErrHalf), CodeHalf, ErrHalf},
		{errors.Join(errors.New("first"), fs.ErrNotExist), CodeNotExist, fs.ErrNotExist},
		{context.DeadlineExceeded, CodeFailed, nil},
		{errors.New("no route to host"), CodeFailed, nil},
		{fmt.Errorf("host beta: %w", &Error{Code: CodeBusy, Text: "held"}), CodeBusy, ErrBusy},
		{&Error{Code: "newer", Text: "what a newer host says"}, "newer", nil},
	} {
		got := roundTrip(t, c.err)
		if got == nil || got.Code != c.code || got.Error() != c.err.Error() {
			t.Errorf("%v: came as %+v, want code %s and the same text", c.err, got, c.code)
			continue
		}
		for _, s := range sentinels {
			if errors.Is(fmt.Errorf("ask beta: %w", got), s) != (s == c.is) {
				t.Errorf("%v: is %v: %v, want %v", c.err, s, s != c.is, s == c.is)
			}
		}
		// A host between two others passes it on unchanged.
		if again := roundTrip(t, got); *again != *got {
			t.Errorf("%v: passed on as %+v", c.err, again)
		}
	}
}

func TestNoError(t *testing.T) {
	if e := WireError(nil); e != nil {
		t.Errorf("nil came as %+v", e)
	}
	if got := roundTrip(t, nil); got != nil {
		t.Errorf("nil came back as %+v", got)
	}
}

func TestCodesOnce(t *testing.T) {
	code, sentinel := make(map[Code]bool), make(map[error]bool)
	for _, c := range codes {
		if code[c.code] || sentinel[c.sentinel] || c.code == CodeFailed {
			t.Errorf("%s is in the table twice, or stands for any other error", c.code)
		}
		code[c.code], sentinel[c.sentinel] = true, true
	}
}

func TestCheckVersion(t *testing.T) {
	if err := CheckVersion(Version); err != nil {
		t.Errorf("our own: %v", err)
	}
	for _, theirs := range []int{0, -1, Version + 1} {
		if err := CheckVersion(theirs); !errors.Is(err, ErrVersion) {
			t.Errorf("version %d: %v, want ErrVersion", theirs, err)
		}
	}
}
