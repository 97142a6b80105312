// Package gnmi reads a switch's ports, their counters, its channels and what it heard by
// LLDP: the models openconfig-interfaces, -if-ethernet, -if-aggregate, -lacp and -lldp, by
// gNMI subscriptions that are answered once. It reads and never sets. What a switch does
// not have is absent.
package gnmi

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/netip"
	"sync"
	"time"

	pb "github.com/openconfig/gnmi/proto/gnmi"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/linerate/linerate/internal/plaintext"
)

// ErrRefused: the switch answers, and does not take the user, the password, or the question.
var ErrRefused = errors.New("the switch does not take the user or its password")

// How a switch's certificate is held against what is trusted.
const (
	Verified   = ""           // by the authorities of CA, else the system's
	Unverified = "unverified" // any is taken: who listens on the way may answer in its name
	None       = "none"       // nothing is encrypted, the password neither
)

// Access is what a switch asks for. It is never printed.
type Access struct {
	User, Password string
	TLS            string // Verified, Unverified or None
	CA             []byte // certificates of authorities, PEM; nil are the system's
}

// String says nothing of it.
func (a Access) String() string { return "access" }

// GoString keeps %#v from showing it.
func (a Access) GoString() string { return a.String() }

// LogValue keeps logs from showing it.
func (a Access) LogValue() slog.Value { return slog.StringValue(a.String()) }

// Check says what of an access does not fit; "" nothing.
func (a Access) Check() string {
	switch {
	case a.TLS != Verified && a.TLS != Unverified && a.TLS != None:
		return "tls is neither unverified nor none; left out, the certificate is verified"
	case a.Password != "" && a.User == "":
		return "a password without user"
	case len(a.CA) > 0 && a.TLS != Verified:
		return "ca, and a tls that does not look at it"
	case len(a.CA) > 0 && !x509.NewCertPool().AppendCertsFromPEM(a.CA):
		return "ca has no certificate in PEM"
	}
	return ""
}

const (
	answerWait = 10 * time.Second
	// mostAnswer is the largest message, in bytes, and mostLeaves the most values of an answer:
	// a switch that never ends is none.
	mostAnswer = 16 << 20
	mostLeaves = 500_000
)

// Client is a switch that answers gNMI.
type Client struct {
	conn   *grpc.ClientConn
	access Access

	mu       sync.Mutex
	encoding pb.Encoding
	asked    bool // which encodings it has
	// ports are those that Find found, the fabric's names and the switch's.
	ports map[string]string
}

// Dial makes a client of a switch. Nothing is asked yet.
func Dial(host string, port uint16, a Access) (*Client, error) {
	if why := a.Check(); why != "" {
		return nil, errors.New(why)
	}
	secured := insecure.NewCredentials()
	if a.TLS != None {
		cfg := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: host, InsecureSkipVerify: a.TLS == Unverified}
		if len(a.CA) > 0 {
			cfg.RootCAs = x509.NewCertPool()
			cfg.RootCAs.AppendCertsFromPEM(a.CA)
		}
		secured = credentials.NewTLS(cfg)
	}
	if addr, err := netip.ParseAddr(host); err == nil && addr.Is6() {
		host = "[" + host + "]"
	}
	conn, err := grpc.NewClient(fmt.Sprintf("passthrough:///%s:%d", host, port), grpc.WithTransportCredentials(secured),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(mostAnswer)), grpc.WithDisableServiceConfig())
	if err != nil {
		return nil, fmt.Errorf("reach the switch: %w", err)
	}
	return &Client{conn: conn, access: a}, nil
}

// Close lets go of the switch.
func (c *Client) Close() error { return c.conn.Close() }

// ask reads what is below paths, a value each: where it stands, and the value as uint64,
// bool or string. A path that the switch does not have gives none.
func (c *Client) ask(ctx context.Context, each func(at place, value any), paths ...*pb.Path) error {
	ctx, cancel := context.WithTimeout(ctx, answerWait)
	defer cancel()
	if c.access.User != "" {
		ctx = metadata.AppendToOutgoingContext(ctx, "username", c.access.User, "password", c.access.Password)
	}
	client := pb.NewGNMIClient(c.conn)
	if err := c.encodings(ctx, client); err != nil {
		return inWords(err)
	}
	list := &pb.SubscriptionList{Mode: pb.SubscriptionList_ONCE, Encoding: c.encoding}
	for _, p := range paths {
		list.Subscription = append(list.Subscription, &pb.Subscription{Path: p})
	}
	stream, err := client.Subscribe(ctx)
	if err != nil {
		return inWords(err)
	}
	if err := stream.Send(&pb.SubscribeRequest{Request: &pb.SubscribeRequest_Subscribe{Subscribe: list}}); err != nil && !errors.Is(err, io.EOF) {
		return inWords(err)
	}
	_ = stream.CloseSend()
	leaves := 0
	for {
		answer, err := stream.Recv()
		switch {
		case errors.Is(err, io.EOF) || err == nil && answer.GetSyncResponse():
			return nil
		case err != nil:
			return inWords(err)
		}
		n := answer.GetUpdate()
		for _, u := range n.GetUpdate() {
			at := placeOf(n.GetPrefix(), u.GetPath())
			flatten(at, u.GetVal(), func(at place, value any) {
				if leaves++; leaves <= mostLeaves {
					each(at, value)
				}
			})
		}
		if leaves > mostLeaves {
			return errors.New("the answer does not end")
		}
	}
}

// encodings finds out once how the switch can say values: in the protocol's own types, else
// as JSON.
func (c *Client) encodings(ctx context.Context, client pb.GNMIClient) error {
	if c.asked {
		return nil
	}
	has, err := client.Capabilities(ctx, &pb.CapabilityRequest{})
	if err != nil && status.Code(err) != codes.Unimplemented {
		return err
	}
	c.encoding, c.asked = pb.Encoding_JSON_IETF, true
	for _, better := range []pb.Encoding{pb.Encoding_JSON, pb.Encoding_JSON_IETF, pb.Encoding_PROTO} {
		for _, e := range has.GetSupportedEncodings() {
			if e == better {
				c.encoding = better
			}
		}
	}
	return nil
}

// errAbsent: the switch does not have a path.
var errAbsent = errors.New("the switch does not have it")

// inWords is an error of the protocol's, as a person reads it.
func inWords(err error) error {
	said := plaintext.Line(status.Convert(err).Message())
	switch status.Code(err) {
	case codes.Unauthenticated, codes.PermissionDenied:
		return fmt.Errorf("%w: %s", ErrRefused, said)
	case codes.NotFound, codes.InvalidArgument, codes.Unimplemented:
		return fmt.Errorf("%w: %s", errAbsent, said)
	case codes.DeadlineExceeded:
		return fmt.Errorf("no answer within %v: is the address right, and does it serve gNMI there?", answerWait)
	}
	return fmt.Errorf("gNMI: %s", said)
}
