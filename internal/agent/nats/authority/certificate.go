package authority

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net/netip"
	"path/filepath"
	"slices"
	"time"

	"github.com/linerate/linerate/internal/statefile"
)

const (
	caKey      = "ca.key"
	caFile     = "ca.pem"
	serverKey  = "server.key"
	serverFile = "server.pem" // the server's certificate, then the authority's
)

// How long certificates are good. A server's is made anew at a start when half
// of it has passed.
const (
	caLife     = 20 * 365 * 24 * time.Hour
	serverLife = 2 * 365 * 24 * time.Hour
)

// CA is the certificate authority's certificate, in PEM.
func (a *Authority) CA() ([]byte, error) { return a.read(caFile) }

// Fingerprint is the SHA-256 of the authority's certificate.
func Fingerprint(der []byte) string {
	sum := sha256.Sum256(der)
	return hex.EncodeToString(sum[:])
}

func (a *Authority) createCA() error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	template := a.certificate("linerate bus", caLife)
	template.IsCA, template.BasicConstraintsValid = true, true
	template.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageCRLSign
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return err
	}
	return errors.Join(writeKey(a.path(caKey), key), a.write(caFile, certificatePEM(der)))
}

func (a *Authority) certificate(name string, life time.Duration) *x509.Certificate {
	serial, _ := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127)) // never fails, by rand.Reader's documentation
	now := a.now()
	// An hour of grace: the hosts' clocks are not this one.
	return &x509.Certificate{SerialNumber: serial, Subject: pkix.Name{CommonName: name}, NotBefore: now.Add(-time.Hour), NotAfter: now.Add(life)}
}

// Certify makes sure that the directory has a server's certificate for names
// (host names and addresses), and keeps one that is good for them.
func (a *Authority) Certify(names []string) error {
	cert, err := readCertificate(a.path(serverFile))
	if err == nil && covers(cert, names) {
		left := cert.NotAfter.Sub(a.now())
		if left > serverLife/2 || left > 0 && !a.Signs() {
			return nil // a member's lasts until its authority writes another
		}
	}
	if !a.Signs() {
		return fmt.Errorf("certify a server for %v: its certificate is not good for all of them, or has expired: %w", names, ErrMember)
	}
	return a.certify(a.dir, names)
}

// certify writes a server's key and certificate to a directory.
func (a *Authority) certify(dir string, names []string) error {
	ca, err := readCertificate(a.path(caFile))
	if err != nil {
		return err
	}
	signer, err := readKey(a.path(caKey))
	if err != nil {
		return err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	template := a.certificate("linerate bus server", serverLife)
	template.KeyUsage = x509.KeyUsageDigitalSignature
	// Servers of a cluster are each other's clients.
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	for _, name := range names {
		if addr, err := netip.ParseAddr(name); err == nil {
			template.IPAddresses = append(template.IPAddresses, addr.Unmap().AsSlice())
		} else {
			template.DNSNames = append(template.DNSNames, name)
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, ca, key.Public(), signer)
	if err != nil {
		return err
	}
	if err := writeKey(filepath.Join(dir, serverKey), key); err != nil {
		return err
	}
	return WritePrivate(filepath.Join(dir, serverFile), certificatePEM(der)+certificatePEM(ca.Raw))
}

// covers reports whether a certificate is good for every name.
func covers(c *x509.Certificate, names []string) bool {
	return !slices.ContainsFunc(names, func(name string) bool { return c.VerifyHostname(name) != nil })
}

func certificatePEM(der []byte) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}

func writeKey(path string, key *ecdsa.PrivateKey) error {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	return WritePrivate(path, string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})))
}

func readKey(path string) (*ecdsa.PrivateKey, error) {
	block, err := readPEM(path)
	if err != nil {
		return nil, err
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	k, ok := key.(*ecdsa.PrivateKey)
	if !ok {
		return nil, fmt.Errorf("read %s: not a key of ours", path)
	}
	return k, nil
}

func readCertificate(path string) (*x509.Certificate, error) {
	block, err := readPEM(path)
	if err != nil {
		return nil, err
	}
	return x509.ParseCertificate(block.Bytes)
}

func readPEM(path string) (*pem.Block, error) {
	text, err := statefile.Read(path, mostState)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, fmt.Errorf("read %s: no PEM in it", path)
	}
	return block, nil
}
