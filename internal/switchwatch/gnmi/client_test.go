package gnmi

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	pb "github.com/openconfig/gnmi/proto/gnmi"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/linerate/linerate/internal/evidence/switchcount"
	"github.com/linerate/linerate/internal/evidence/switchstate"
	"github.com/linerate/linerate/unit"
)

const password = "s3cret-passw0rd"

// target is a gNMI server with two ports of a channel, of which the second does not send.
type target struct {
	pb.UnimplementedGNMIServer
	encoding pb.Encoding
	without  string        // a model that it does not have
	packets  atomic.Uint64 // of both ports, a reading each
}

func (s *target) allowed(ctx context.Context) error {
	md, _ := metadata.FromIncomingContext(ctx)
	if strings.Join(md.Get("username"), "") != "watcher" || strings.Join(md.Get("password"), "") != password {
		return status.Error(codes.Unauthenticated, "no such user")
	}
	return nil
}

func (s *target) Capabilities(ctx context.Context, _ *pb.CapabilityRequest) (*pb.CapabilityResponse, error) {
	return &pb.CapabilityResponse{SupportedEncodings: []pb.Encoding{s.encoding}}, s.allowed(ctx)
}

func (s *target) Subscribe(stream pb.GNMI_SubscribeServer) error {
	if err := s.allowed(stream.Context()); err != nil {
		return err
	}
	request, err := stream.Recv()
	if err != nil {
		return err
	}
	list := request.GetSubscribe()
	if list.GetMode() != pb.SubscriptionList_ONCE || list.GetEncoding() != s.encoding {
		return status.Error(codes.InvalidArgument, "not once, or another encoding")
	}
	n := s.packets.Add(1)
	for _, sub := range list.GetSubscription() {
		root := sub.GetPath().GetElem()[0].GetName()
		if root == s.without {
			return status.Error(codes.NotFound, "no such path")
		}
		for _, u := range s.answers(sub.GetPath(), n) {
			if err := stream.Send(&pb.SubscribeResponse{Response: &pb.SubscribeResponse_Update{Update: u}}); err != nil {
				return err
			}
		}
	}
	return stream.Send(&pb.SubscribeResponse{Response: &pb.SubscribeResponse_SyncResponse{SyncResponse: true}})
}

// answers are a path's leaves, or objects of JSON with the modules' names.
func (s *target) answers(asked *pb.Path, n uint64) (all []*pb.Notification) {
	var names []string
	for _, e := range asked.GetElem() {
		names = append(names, e.GetName())
	}
	what := strings.Join(names, "/")
	keyed := func(keys ...string) *pb.Path {
		p := &pb.Path{}
		for _, e := range asked.GetElem() {
			own := &pb.PathElem{Name: e.GetName()}
			for k := range e.GetKey() {
				own.Key, keys = map[string]string{k: keys[0]}, keys[1:]
			}
			p.Elem = append(p.Elem, own)
		}
		return p
	}
	say := func(at *pb.Path, values map[string]any) {
		u := &pb.Notification{Prefix: at}
		object := make([]string, 0, len(values))
		for name, value := range values {
			v := &pb.TypedValue{}
			text := fmt.Sprintf("%q", fmt.Sprint(value))
			switch x := value.(type) {
			case uint64:
				v.Value = &pb.TypedValue_UintVal{UintVal: x}
			case bool:
				v.Value, text = &pb.TypedValue_BoolVal{BoolVal: x}, fmt.Sprint(x)
			case string:
				v.Value = &pb.TypedValue_StringVal{StringVal: x}
			}
			if s.encoding == pb.Encoding_PROTO {
				p := &pb.Path{}
				for _, part := range strings.Split(name, "/") {
					p.Elem = append(p.Elem, &pb.PathElem{Name: part})
				}
				u.Update = append(u.Update, &pb.Update{Path: p, Val: v})
				continue
			}
			if outer, inner, ok := strings.Cut(name, "/"); ok {
				object = append(object, fmt.Sprintf("%q:{%q:%s}", outer, "openconfig-x:"+inner, text))
			} else {
				object = append(object, fmt.Sprintf("%q:%s", "openconfig-x:"+name, text))
			}
		}
		if s.encoding != pb.Encoding_PROTO {
			u.Update = append(u.Update, &pb.Update{Val: &pb.TypedValue{Value: &pb.TypedValue_JsonIetfVal{JsonIetfVal: []byte("{" + strings.Join(object, ",") + "}")}}})
		}
		all = append(all, u)
	}
	for i, port := range []string{"Ethernet1", "Ethernet2"} {
		base := uint64(1) << 50
		switch what {
		case "interfaces/interface/state":
			say(keyed(port), map[string]any{"oper-status": "UP", "description": "to host", "name": port})
		case "interfaces/interface/state/counters":
			say(keyed(port), map[string]any{"in-octets": base + n*1000, "out-octets": base + n*2000, "in-discards": uint64(3), "out-discards": uint64(i) + n, "in-errors": uint64(5), "out-errors": uint64(6)})
		case "interfaces/interface/ethernet/state":
			say(keyed(port), map[string]any{"port-speed": "openconfig-if-ethernet:SPEED_25GB", "aggregate-id": "Port-Channel1", "mac-address": "02:00:00:00:00:0" + fmt.Sprint(i)})
		case "lacp/interfaces/interface/members/member/state":
			say(keyed("Port-Channel1", port), map[string]any{"distributing": i == 0, "collecting": true})
		case "lldp/interfaces/interface/neighbors/neighbor/state":
			say(keyed(port, "1"), map[string]any{"chassis-id": "02:00:00:00:00:11", "port-id": fmt.Sprintf("02:00:00:00:01:0%d", i), "port-description": fmt.Sprintf("eth%d", i), "system-name": "storage1"})
		}
	}
	if what == "system/state" {
		say(keyed(), map[string]any{"hostname": "leaf3"})
	}
	return all
}

// serve starts the target with a certificate of its own, and returns its port and that.
func serve(t *testing.T, s *target) (port uint16, ca []byte) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	made := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, made, made, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer(grpc.Creds(credentials.NewServerTLSFromCert(&tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key})))
	pb.RegisterGNMIServer(server, s)
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	return uint16(listener.Addr().(*net.TCPAddr).Port), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

// TestClient: what a target tells becomes the same readings as SNMP's, in each of its forms.
func TestClient(t *testing.T) {
	for _, encoding := range []pb.Encoding{pb.Encoding_PROTO, pb.Encoding_JSON_IETF} {
		t.Run(encoding.String(), func(t *testing.T) {
			port, ca := serve(t, &target{encoding: encoding})
			c, err := Dial("127.0.0.1", port, Access{User: "watcher", Password: password, CA: ca})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			missing, have, err := c.Find(t.Context(), []string{"ethernet1", "Ethernet2", "Ethernet9"})
			if err != nil || strings.Join(missing, " ") != "Ethernet9" || strings.Join(have, " ") != "Ethernet1 Ethernet2" {
				t.Fatalf("missing %v of %v, %v", missing, have, err)
			}
			var r [2]switchcount.Reading
			for i := range r {
				if r[i], err = c.Read(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			for name, sends := range map[string]bool{"ethernet1": true, "Ethernet2": false} {
				a, b := r[0].Ports[name], r[1].Ports[name]
				grown := b.Counters.Sub(a.Counters)
				if !b.Bytes || !b.Drops || !b.Errors || grown.RxBytes == 0 || grown.TxBytes != 2*grown.RxBytes || grown.TxDropped == 0 || grown.RxDropped != 0 ||
					b.Counters.RxErrors != 5 || b.Counters.TxErrors != 6 || b.Speed != 25*unit.Gbps || b.Attached == nil || *b.Attached != sends || b.Width != switchcount.Wide {
					t.Errorf("%s: %+v after %+v", name, b, a)
				}
			}
			d, err := c.Describe(t.Context())
			if err != nil || d.Name != "leaf3" || len(d.Ports) != 2 || d.Ports[0].Oper != "up" || d.Ports[0].Speed != 25*unit.Gbps {
				t.Errorf("described as %+v, %v", d, err)
			}
			if len(d.Channels) != 1 || d.Channels[0].Name != "Port-Channel1" || d.Channels[0].Protocol != switchstate.LACP || len(d.Channels[0].Members) != 2 {
				t.Errorf("channels %+v", d.Channels)
			}
			if len(d.Neighbors) != 2 || d.Neighbors[1].Link != "Ethernet2" || d.Neighbors[1].PortDescription != "eth1" || d.Neighbors[1].MAC.IsZero() || d.Neighbors[1].SystemName != "storage1" {
				t.Errorf("neighbours %+v", d.Neighbors)
			}
		})
	}
}

// TestWithout: models that a switch does not have are absent, and no error.
func TestWithout(t *testing.T) {
	port, ca := serve(t, &target{encoding: pb.Encoding_PROTO, without: "lacp"})
	c, err := Dial("127.0.0.1", port, Access{User: "watcher", Password: password, CA: ca})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, _, err := c.Find(t.Context(), []string{"Ethernet1"}); err != nil {
		t.Fatal(err)
	}
	r, err := c.Read(t.Context())
	if p := r.Ports["Ethernet1"]; err != nil || !p.Bytes || p.Attached != nil {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestRefused: a wrong password and a certificate that nobody vouches for are said, and no
// error or print has the password.
func TestRefused(t *testing.T) {
	port, ca := serve(t, &target{encoding: pb.Encoding_PROTO})
	for name, c := range map[string]struct {
		a    Access
		says string
	}{
		"password":    {Access{User: "watcher", Password: "wr0ng", CA: ca}, "no such user"},
		"certificate": {Access{User: "watcher", Password: password}, "certificate"},
		"unverified":  {Access{User: "watcher", Password: password, TLS: Unverified}, ""},
		"plain":       {Access{User: "watcher", Password: password, TLS: None}, "gNMI"},
	} {
		client, err := Dial("127.0.0.1", port, c.a)
		if err != nil {
			t.Fatal(err)
		}
		_, _, err = client.Find(t.Context(), []string{"Ethernet1"})
		if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) || errors.Is(err, ErrRefused) != (name == "password") {
			t.Errorf("%s: %v", name, err)
		}
		if text := fmt.Sprintf("%v %v %+v %#v", err, c.a, c.a, c.a); strings.Contains(text, password) || strings.Contains(text, "wr0ng") {
			t.Errorf("%s is printed: %s", name, text)
		}
		_ = client.Close()
	}
	for _, a := range []Access{{TLS: "no"}, {Password: "x"}, {CA: []byte("x")}, {CA: ca, TLS: None}} {
		if a.Check() == "" {
			t.Errorf("%#v is taken", a.TLS)
		}
	}
}

func TestSpeedOf(t *testing.T) {
	for word, want := range map[string]unit.BitRate{"SPEED_100GB": 100 * unit.Gbps, "SPEED_2500MB": 2500 * unit.Mbps, "SPEED_UNKNOWN": 0, "": 0, "SPEED_xGB": 0} {
		if got := speedOf(word); got != want {
			t.Errorf("%s: %v", word, got)
		}
	}
}

func FuzzParsed(f *testing.F) {
	f.Add([]byte(`{"openconfig-interfaces:counters":{"in-octets":"12"}}`))
	f.Fuzz(func(t *testing.T, text []byte) { parsed(place{}, text, func(place, any) {}) })
}
