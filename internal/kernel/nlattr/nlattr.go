// Package nlattr reads and writes netlink attributes (struct nlattr), which
// every netlink family is made of.
package nlattr

import (
	"encoding/binary"
	"errors"
)

// ErrMalformed is a message whose lengths do not fit its size.
var ErrMalformed = errors.New("malformed netlink message")

const (
	// Head is the size of an attribute's header.
	Head = 4
	// kind leaves out NLA_F_NESTED and NLA_F_NET_BYTEORDER.
	kind = 0x3fff
)

// Each calls each with every attribute in b. Up to three bytes of padding may
// follow the last. Error: ErrMalformed, after those before it were given out.
func Each(b []byte, each func(kind uint16, value []byte)) error {
	for len(b) >= Head {
		size := int(binary.NativeEndian.Uint16(b))
		if size < Head || size > len(b) {
			return ErrMalformed
		}
		each(binary.NativeEndian.Uint16(b[2:])&kind, b[Head:size])
		b = b[min((size+3)&^3, len(b)):]
	}
	return nil
}

// Encode is one attribute, padded.
func Encode(kind uint16, value []byte) []byte {
	size := Head + len(value)
	b := make([]byte, (size+3)&^3)
	binary.NativeEndian.PutUint16(b, uint16(size))
	binary.NativeEndian.PutUint16(b[2:], kind)
	copy(b[Head:], value)
	return b
}
