package iperf3

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
)

// Prove is what a client that knows a server's token says in
// Parameters.Proof: an HMAC-SHA-256 over the test's cookie, in hexadecimal.
// The token itself never goes over the wire, and the proof is good for that
// cookie alone.
func Prove(token []byte, cookie Cookie) string {
	mac := hmac.New(sha256.New, token)
	mac.Write([]byte("linerate listen v1\n"))
	mac.Write(cookie[:])
	return hex.EncodeToString(mac.Sum(nil))
}

// Proven says whether a proof is of that token and cookie.
func Proven(token []byte, cookie Cookie, proof string) bool {
	return hmac.Equal([]byte(Prove(token, cookie)), []byte(proof))
}
