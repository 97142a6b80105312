// Package snmp reads a switch's ports, their counters, its LACP channels and what it
// heard by LLDP: IF-MIB (RFC 2863), IEEE8023-LAG-MIB and LLDP-MIB, by SNMP version 2c or
// 3. It reads and never sets. What an agent does not have is absent.
package snmp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/gosnmp/gosnmp"

	"github.com/linerate/linerate/internal/evidence/switchcount"
)

// ErrRefused: the switch answers, and takes neither user nor password.
var ErrRefused = errors.New("the switch does not take the user or its passwords")

// Access is what an agent asks for. It is never printed.
type Access struct {
	Community string // of version 2c; "" is version 3
	User      string
	// Auth is md5, sha, sha224, sha256, sha384 or sha512, "" none; Privacy des, aes, aes192
	// or aes256, "" none.
	Auth, AuthPassword       string
	Privacy, PrivacyPassword string
}

// String and LogValue say what kind of access it is.
func (a Access) String() string {
	if a.Community != "" {
		return "version 2c"
	}
	return "version 3"
}

// GoString keeps %#v from showing it.
func (a Access) GoString() string { return a.String() }

// LogValue keeps logs from showing it.
func (a Access) LogValue() slog.Value { return slog.StringValue(a.String()) }

var (
	auths = map[string]gosnmp.SnmpV3AuthProtocol{
		"md5": gosnmp.MD5, "sha": gosnmp.SHA, "sha224": gosnmp.SHA224, "sha256": gosnmp.SHA256, "sha384": gosnmp.SHA384, "sha512": gosnmp.SHA512,
	}
	privacies = map[string]gosnmp.SnmpV3PrivProtocol{"des": gosnmp.DES, "aes": gosnmp.AES, "aes192": gosnmp.AES192, "aes256": gosnmp.AES256}
)

// Check says what of an access does not fit; "" nothing.
func (a Access) Check() string {
	_, auth := auths[a.Auth]
	_, privacy := privacies[a.Privacy]
	switch {
	case a.Community == "" && a.User == "":
		return "neither community (version 2c) nor user (version 3)"
	case a.Community != "" && a.User != "":
		return "both community (version 2c) and user (version 3)"
	case a.Community != "":
		return ""
	case a.Auth != "" && !auth:
		return "auth is none of md5, sha, sha224, sha256, sha384, sha512"
	case a.Privacy != "" && !privacy:
		return "privacy is none of des, aes, aes192, aes256"
	case a.Privacy != "" && a.Auth == "":
		return "privacy without auth: version 3 has none"
	case a.Auth != "" && len(a.AuthPassword) < leastPassword, a.Privacy != "" && len(a.PrivacyPassword) < leastPassword:
		return fmt.Sprintf("a password has fewer than %d characters", leastPassword)
	}
	return ""
}

// leastPassword is the shortest password that version 3 makes a key of (RFC 3414, 11.2).
const leastPassword = 8

// How long an answer is waited for, and how often a question is asked again.
const (
	answerWait = 2 * time.Second
	again      = 1
	// perRequest is how many values are asked for at once: an answer fits one packet.
	perRequest = 24
	// perWalk is how many rows of a table an agent may send at once.
	perWalk = 20
	// mostRows bounds a table: an agent that never ends is none.
	mostRows = 20_000
)

// Client is an agent of a switch. It may be used by one goroutine at a time or many.
type Client struct {
	mu    sync.Mutex
	agent *gosnmp.GoSNMP
	// index is of the ports that Find found, by the names that it was given.
	index map[string]int
	width switchcount.Width
	lacp  bool // the agent has IEEE8023-LAG-MIB
}

// Dial makes a client of the agent at a host. Nothing is asked yet.
func Dial(ctx context.Context, host string, port uint16, a Access) (*Client, error) {
	if why := a.Check(); why != "" {
		return nil, errors.New(why)
	}
	g := &gosnmp.GoSNMP{
		Target: host, Port: port, Transport: "udp", Context: ctx, Timeout: answerWait, Retries: again, MaxOids: perRequest, MaxRepetitions: perWalk,
		Version: gosnmp.Version2c, Community: a.Community,
	}
	if a.Community == "" {
		flags := gosnmp.NoAuthNoPriv
		switch {
		case a.Privacy != "":
			flags = gosnmp.AuthPriv
		case a.Auth != "":
			flags = gosnmp.AuthNoPriv
		}
		security := &gosnmp.UsmSecurityParameters{UserName: a.User, AuthenticationProtocol: gosnmp.NoAuth, PrivacyProtocol: gosnmp.NoPriv}
		if a.Auth != "" {
			security.AuthenticationProtocol, security.AuthenticationPassphrase = auths[a.Auth], a.AuthPassword
		}
		if a.Privacy != "" {
			security.PrivacyProtocol, security.PrivacyPassphrase = privacies[a.Privacy], a.PrivacyPassword
		}
		g.Version, g.SecurityModel, g.MsgFlags, g.SecurityParameters = gosnmp.Version3, gosnmp.UserSecurityModel, flags, security
	}
	if err := g.Connect(); err != nil {
		return nil, fmt.Errorf("reach the switch: %w", err)
	}
	return &Client{agent: g}, nil
}

// Close lets go of the agent.
func (c *Client) Close() error { return c.agent.Close() }

// get asks for single values; those that the agent does not have are absent.
func (c *Client) get(ctx context.Context, oids []string) (map[string]any, error) {
	out := make(map[string]any, len(oids))
	c.agent.Context = ctx
	for len(oids) > 0 {
		n := min(len(oids), perRequest)
		answer, err := c.agent.Get(oids[:n])
		if err != nil {
			return nil, inWords(ctx, err)
		}
		if answer.Error != gosnmp.NoError {
			return nil, fmt.Errorf("the agent answers %v", answer.Error)
		}
		for _, v := range answer.Variables {
			if value, ok := valueOf(v); ok {
				out[strings.TrimPrefix(v.Name, ".")] = value
			}
		}
		oids = oids[n:]
	}
	return out, nil
}

var errEndless = errors.New("the table does not end")

// walk reads a column or table: by what stands behind its name, a value each.
func (c *Client) walk(ctx context.Context, root string, each func(index string, value any)) error {
	c.agent.Context = ctx
	rows := 0
	err := c.agent.BulkWalk(root, func(v gosnmp.SnmpPDU) error {
		if rows++; rows > mostRows {
			return errEndless
		}
		name, ok := strings.CutPrefix(strings.TrimPrefix(v.Name, "."), root+".")
		if value, there := valueOf(v); ok && there {
			each(name, value)
		}
		return nil
	})
	if err != nil {
		return inWords(ctx, err)
	}
	return nil
}

// valueOf is a value as uint64 or bytes; false for what an agent says that it has not.
func valueOf(v gosnmp.SnmpPDU) (any, bool) {
	switch v.Type {
	case gosnmp.NoSuchObject, gosnmp.NoSuchInstance, gosnmp.EndOfMibView, gosnmp.Null:
		return nil, false
	case gosnmp.Counter32, gosnmp.Counter64, gosnmp.Gauge32, gosnmp.TimeTicks, gosnmp.Integer, gosnmp.Uinteger32:
		n := gosnmp.ToBigInt(v.Value)
		if n == nil || !n.IsUint64() {
			return nil, false
		}
		return n.Uint64(), true
	}
	b, ok := v.Value.([]byte)
	return b, ok
}

// inWords is an error of the library's without what it knows of the access.
func inWords(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, errEndless):
		return err
	}
	for _, refused := range []error{gosnmp.ErrUnknownUsername, gosnmp.ErrWrongDigest, gosnmp.ErrDecryption, gosnmp.ErrUnknownSecurityLevel, gosnmp.ErrInvalidMsgs} {
		if errors.Is(err, refused) {
			return fmt.Errorf("%w: %w", ErrRefused, err)
		}
	}
	switch text := err.Error(); {
	case strings.Contains(text, "not authentic"): // a report without a digest: unknown user or wrong password
		return fmt.Errorf("%w (or somebody else answers in its name)", ErrRefused)
	case strings.Contains(text, "timeout"):
		return fmt.Errorf("no answer within %v: is the address right, does a firewall let UDP through, is the community right, and may this host ask?", answerWait*(again+1))
	}
	return err
}
