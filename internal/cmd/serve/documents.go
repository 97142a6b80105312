package serve

import (
	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/agent/nats/authority"
	"github.com/linerate/linerate/internal/cmd/console"
)

// What is printed with --json.
var (
	tokenDocument      = console.Document[issuedToken]{Name: "serve-token", About: "`serve token`"}
	revokeDocument     = console.Document[revokedName]{Name: "serve-revoke", About: "`serve revoke`"}
	identitiesDocument = console.Document[listedIdentities]{Name: "serve-identities", About: "`serve identities`"}
	memberDocument     = console.Document[writtenMember]{Name: "serve-member", About: "`serve member`"}
	hostsDocument      = console.Document[fleetHosts]{Name: "serve-hosts", About: "`serve hosts`"}
	loginDocument      = console.Document[issuedLogin]{Name: "serve-login", About: "`serve login`"}
)

// Documents are what the commands of this package print with --json.
func Documents() []console.Described {
	return []console.Described{tokenDocument, revokeDocument, identitiesDocument, memberDocument, hostsDocument, loginDocument}
}

// The documents of `serve`'s commands.
type (
	issuedToken struct {
		Token  string        `json:"token"`
		Name   string        `json:"name"`
		Role   agentapi.Role `json:"role"`
		Within float64       `json:"ttl_s"`
		NATS   string        `json:"nats"`
	}
	revokedName struct {
		Name    string `json:"name"`
		Revoked bool   `json:"revoked"`
	}
	listedIdentities struct {
		Identities []authority.Identity `json:"identities"`
	}
	writtenMember struct {
		Directory string   `json:"directory"`
		Addresses []string `json:"addresses"`
	}
	fleetHosts struct {
		Hosts []hostState `json:"hosts"`
	}
	issuedLogin struct {
		User  string `json:"user"`
		Role  string `json:"role"`
		Token string `json:"token"`
	}
)
