package iperf3

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// ProofAge is how far the time of a proof may be from the server's clock: so
// nearly the two clocks must agree.
const ProofAge = 10 * time.Minute

// Errors of a proof that is not taken.
var (
	ErrProof     = errors.New("not a proof of the token")
	ErrProofTime = fmt.Errorf("the proof's time is more than %d minutes off this host's clock", ProofAge/time.Minute)
)

// Prove is what a client that knows a server's token says in
// Parameters.Proof at a time: the Unix time in seconds, a dot, and an
// HMAC-SHA-256 over the test's cookie and that time, in hexadecimal. The token
// itself never goes over the wire, and the proof is good for that cookie alone
// and within ProofAge of its time.
func Prove(token []byte, cookie Cookie, at time.Time) string {
	seconds := strconv.FormatInt(at.Unix(), 10)
	return seconds + "." + sign(token, cookie, seconds)
}

func sign(token []byte, cookie Cookie, seconds string) string {
	mac := hmac.New(sha256.New, token)
	mac.Write([]byte("linerate listen v2\n"))
	mac.Write(cookie[:])
	mac.Write([]byte("\n" + seconds))
	return hex.EncodeToString(mac.Sum(nil))
}

// Proven says until when a proof of that token and cookie could be said again:
// so long the cookie must be remembered. Errors: ErrProof, and of one whose
// time is too far from now ErrProofTime.
func Proven(token []byte, cookie Cookie, proof string, now time.Time) (until time.Time, err error) {
	seconds, signed, _ := strings.Cut(proof, ".")
	if !hmac.Equal([]byte(sign(token, cookie, seconds)), []byte(signed)) {
		return until, ErrProof
	}
	unix, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return until, ErrProof
	}
	at := time.Unix(unix, 0)
	if now.Before(at.Add(-ProofAge)) || now.After(at.Add(ProofAge)) {
		return until, ErrProofTime
	}
	return at.Add(ProofAge), nil
}
