package store

import (
	"context"
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"
)

// TestSilentDatabase: a database that lets one in and then says nothing, or stops
// amid an answer, is unreachable after a while; nobody waits for it until somebody
// presses Ctrl-C. Who does is heard at once.
func TestSilentDatabase(t *testing.T) {
	for name, amid := range map[string]bool{"after the greeting": false, "amid an answer": true} {
		t.Run(name, func(t *testing.T) {
			place := mutePostgres(t, amid)
			begin := time.Now()
			_, err := Open(context.Background(), Config{Place: place, Silence: 300 * time.Millisecond})
			if !errors.Is(err, ErrUnreachable) {
				t.Errorf("%v", err)
			}
			if took := time.Since(begin); took > 10*time.Second {
				t.Errorf("it took %v", took)
			}
			t.Log(err)
			ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
			defer cancel()
			begin = time.Now()
			if _, err := Open(ctx, Config{Place: place}); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%v", err)
			}
			if took := time.Since(begin); took > 10*time.Second {
				t.Errorf("interrupted, it took %v", took)
			}
		})
	}
}

// TestEndlessDatabase: a database that answers without end is left after a bound.
func TestEndlessDatabase(t *testing.T) {
	near, far := net.Pipe()
	defer near.Close()
	go func() {
		piece := make([]byte, 1<<20)
		for {
			if _, err := far.Write(piece); err != nil {
				return
			}
		}
	}()
	go func() {
		_, _ = io.Copy(io.Discard, far)
	}()
	c := &quietConn{Conn: near, most: time.Minute}
	for range 2 { // each question for itself
		if _, err := c.Write([]byte("question")); err != nil {
			t.Fatal(err)
		}
		if n, err := io.Copy(io.Discard, c); !errors.Is(err, errEndless) || n < mostAnswer || n > mostAnswer+2<<20 {
			t.Errorf("%d bytes, %v", n, err)
		}
	}
}

// mutePostgres is a server that greets and does not answer.
func mutePostgres(t *testing.T, amid bool) (place string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go greet(c, amid)
		}
	}()
	return "postgres://linerate@" + l.Addr().String() + "/x?sslmode=disable"
}

func greet(c net.Conn, amid bool) {
	defer c.Close()
	b := pgproto3.NewBackend(c, c)
	if _, err := b.ReceiveStartupMessage(); err != nil {
		return
	}
	b.Send(&pgproto3.AuthenticationOk{})
	b.Send(&pgproto3.ReadyForQuery{TxStatus: 'I'})
	for b.Flush() == nil {
		if _, err := b.Receive(); err != nil {
			return
		}
		if amid {
			b.Send(&pgproto3.ParseComplete{})
		}
	}
}
