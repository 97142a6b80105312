package bus

// Permission is what a connection may do on the bus, for the server to hold it
// to.
type Permission struct {
	Publish, Subscribe []string
	// Responses lets it answer whoever asked, and nobody else.
	Responses bool
}

// ofPerson is what a user of a role may.
func ofPerson(user string, role Role) Permission {
	p := Permission{Subscribe: []string{Inbox(user) + ".>"}}
	for _, r := range People() {
		if role.Includes(r) {
			p.Publish = append(p.Publish, root+"req."+user+"."+string(r)+".*.*")
		}
	}
	p.Publish = append(p.Publish, reading()...)
	if role.Includes(Measure) {
		p.Publish = append(p.Publish, root+"run."+user+".*.trial", "$KV."+RunsBucket+"."+user+".>")
	}
	return p
}

// reading is what JetStream must be asked to read what it keeps.
func reading() []string {
	out := []string{"$JS.API.INFO"}
	for _, stream := range Streams() {
		out = append(out,
			"$JS.API.STREAM.INFO."+stream, "$JS.API.STREAM.MSG.GET."+stream,
			"$JS.API.DIRECT.GET."+stream, "$JS.API.DIRECT.GET."+stream+".>",
			"$JS.API.CONSUMER.CREATE."+stream+".>", "$JS.API.CONSUMER.INFO."+stream+".>",
			"$JS.API.CONSUMER.DELETE."+stream+".>", "$JS.API.CONSUMER.MSG.NEXT."+stream+".>")
	}
	return append(out, "$JS.FC.>", "$JS.ACK.>")
}

// Streams are the streams that JetStream keeps for linerate: a bucket is one.
func Streams() []string { return []string{"KV_" + HostsBucket, "KV_" + RunsBucket, TrialsStream} }

// ofAgent is what a host may: hear what it is asked, answer that, and say how
// it is.
func ofAgent(host string) Permission {
	return Permission{
		Publish:   []string{"$KV." + HostsBucket + "." + host},
		Subscribe: []string{Asked(host), AgentInbox(host) + ".>"},
		Responses: true,
	}
}

// Permissions is what somebody called name may in a role; ErrName for a name
// that cannot be, or a role that is none.
func Permissions(name string, role Role) (Permission, error) {
	what := "user"
	if role == Agent {
		what = "host"
	} else if !role.Person() {
		return Permission{}, CheckName("role", string(role)+" ") // never a name
	}
	if err := CheckName(what, name); err != nil {
		return Permission{}, err
	}
	if role == Agent {
		return ofAgent(name), nil
	}
	return ofPerson(name, role), nil
}

// ToEnroll is what the holder of a token may: ask once for an identity.
func ToEnroll(token string) Permission {
	return Permission{Publish: []string{Enroll(token)}, Subscribe: []string{EnrollInbox(token) + ".>"}}
}
