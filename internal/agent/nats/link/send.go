package link

import (
	"fmt"
	"strconv"

	"github.com/nats-io/nats.go"

	"github.com/linerate/linerate/internal/agent/nats/claim"
	"github.com/linerate/linerate/internal/agent/nats/wire"
)

// headroom is kept free of a server's largest message for headers and subject.
const headroom = 4 << 10

// Room is how many bytes of a body fit one message.
func (c *Conn) Room() int {
	most := int(c.MaxPayload())
	if most <= 2*headroom { // not connected yet, or a server of very small messages
		return headroom
	}
	return most - headroom
}

// Sign puts a signature over what is said, and the claim of who signs where it
// is asked for, into the headers of a message.
func Sign(headers map[string]string, by *claim.Signer, said wire.Signed, introduce bool) error {
	signature, err := by.Sign(said.Text())
	if err != nil {
		return err
	}
	headers[wire.HeaderSignature] = signature
	if said.Time != 0 {
		headers[wire.HeaderTime] = strconv.FormatInt(said.Time, 10)
	}
	if introduce {
		headers[wire.HeaderClaim] = by.Token
	}
	return nil
}

// Message is one with headers.
func Message(subject string, headers map[string]string, body []byte) *nats.Msg {
	m := nats.NewMsg(subject)
	for k, v := range headers {
		m.Header.Set(k, v)
	}
	m.Data = body
	return m
}

// Send publishes a whole, in as many messages as it takes, each with headers.
// The last of them asks for an answer at reply, "" is none.
func (c *Conn) Send(subject, reply string, headers map[string]string, whole []byte) error {
	parts := wire.Split(whole, c.Room())
	for i, p := range parts {
		m := Message(subject, headers, p.Body)
		for k, v := range p.Headers() {
			m.Header.Set(k, v)
		}
		if i == len(parts)-1 {
			m.Reply = reply
		}
		if err := c.PublishMsg(m); err != nil {
			return fmt.Errorf("send to %s: %w", subject, err)
		}
	}
	return nil
}
