package keys

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nats-io/nkeys"
)

// A User is the public half of a key.
type User struct {
	Name    string `json:"name"` // unique among all keys
	Role    Role   `json:"role"`
	Key     string `json:"key"`               // public nkey
	Revoked bool   `json:"revoked,omitempty"` // permanent: the name is never used again
}

// MainAccount is the account of the streams and the managers.
const MainAccount = "PFQ"

// account returns the account that a key connects to.
func (u User) account() string {
	if u.Role == Manager {
		return MainAccount
	}
	return string(u.Role) + "-" + u.Name
}

// allowedSubjects lists the subjects that the table of rights allows for a verb.
func (u User) allowedSubjects(v Verb) (subjects []string) {
	for _, r := range Rights() {
		if r.Role == u.Role && r.Verb == v {
			subjects = append(subjects, strings.ReplaceAll(r.Subject, "{name}", u.Name))
		}
	}
	return subjects
}

// Config returns the part of a NATS server's configuration that enforces [Rights]. External servers
// read it from a file, and an embedded server uses the same text. It omits revoked keys, and keys
// of a role of earlier versions.
func Config(users []User) string {
	users = slices.DeleteFunc(slices.Clone(users), func(u User) bool { return u.Revoked || u.Role == outdated })
	var b strings.Builder
	b.WriteString("system_account: SYS\naccounts {\n")
	b.WriteString("  SYS { exports: [ { stream: \"" + Gone + "\" } ] }\n")
	b.WriteString("  " + MainAccount + " {\n    jetstream: enabled\n")
	b.WriteString("    imports: [\n      { stream: { account: SYS, subject: \"" + Gone + "\" } }\n    ]\n")
	b.WriteString("    exports: [\n")
	for _, line := range exports() {
		b.WriteString("      " + line + "\n")
	}
	b.WriteString("    ]\n    users: [\n")
	for _, u := range users {
		if u.Role == Manager {
			b.WriteString("      " + u.login() + "\n")
		}
	}
	b.WriteString("    ]\n  }\n")
	for _, u := range users {
		if u.Role == Manager {
			continue
		}
		fmt.Fprintf(&b, "  %s {\n    users: [ %s ]\n    imports: [\n", u.account(), u.login())
		for _, line := range u.imports() {
			b.WriteString("      " + line + "\n")
		}
		b.WriteString("    ]\n  }\n")
	}
	b.WriteString("}\n")
	return b.String()
}

// Open returns the configuration of a server that requires no keys: all connections share one
// account and may do everything in it. Anonymous connections are mapped to a key that is drawn here
// and then discarded.
func Open() (string, error) {
	key, err := nkeys.CreateUser()
	if err != nil {
		return "", err
	}
	anyone, err := key.PublicKey()
	if err != nil {
		return "", err
	}
	return "system_account: SYS\nno_auth_user: " + anyone + "\naccounts {\n" +
		"  SYS { exports: [ { stream: \"" + Gone + "\" } ] }\n" +
		"  " + MainAccount + " {\n    jetstream: enabled\n    users: [ { nkey: " + anyone + " } ]\n" +
		"    imports: [ { stream: { account: SYS, subject: \"" + Gone + "\" } } ]\n  }\n}\n", nil
}

// login returns the public key and its permissions.
func (u User) login() string {
	list := func(subjects []string) string { return `"` + strings.Join(subjects, `", "`) + `"` }
	return fmt.Sprintf("{ nkey: %s, permissions: { publish: { allow: [%s] }, subscribe: { allow: [%s] } } }",
		u.Key, list(u.allowedSubjects(Publish)), list(u.allowedSubjects(Subscribe)))
}

// shared reports whether a right is about a subject of the managers' account.
func (r Right) shared() bool {
	return r.Role != Manager && !strings.HasPrefix(r.Subject, "_INBOX")
}

// exports lists what the managers' account shares with other accounts: published subjects become
// services with responses, and subscribed subjects become streams.
func exports() (lines []string) {
	for _, r := range Rights() {
		if !r.shared() {
			continue
		}
		subject := strings.ReplaceAll(r.Subject, "{name}", "*")
		line := fmt.Sprintf(`{ service: "%s" }`, subject)
		if r.Many {
			line = fmt.Sprintf(`{ service: "%s", response_type: Stream }`, subject)
		}
		if r.Verb == Subscribe {
			line = fmt.Sprintf(`{ stream: "%s" }`, subject)
		}
		if !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	return lines
}

// imports lists the shared subjects that a key may use.
func (u User) imports() (lines []string) {
	for _, r := range Rights() {
		if r.Role != u.Role || !r.shared() {
			continue
		}
		what := "service"
		if r.Verb == Subscribe {
			what = "stream"
		}
		lines = append(lines, fmt.Sprintf(`{ %s: { account: %s, subject: "%s" } }`, what, MainAccount,
			strings.ReplaceAll(r.Subject, "{name}", u.Name)))
	}
	return lines
}
