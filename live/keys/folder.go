package keys

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"errors"
	"io/fs"
	"math/big"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nkeys"
	"productform/live/internal/processes"
	"productform/live/wire"
	"productform/num"
)

// Files in a folder of keys, next to one file NAME.key per key.
const (
	authorityFile = "authority.crt"
	authorityKey  = "authority.pem"
	serverFile    = "server.crt"
	serverKey     = "server.pem"
	usersFile     = "users.json"
	configFile    = "accounts.conf"
)

// years is the lifetime of certificates. To replace an authority, make a new folder of keys.
const years = 10

// A Folder is the content of users.json.
type Folder struct {
	URL   string `json:"url"` // URL of the server, or several separated by commas; copied to new keys
	Users []User `json:"users"`
}

// Init makes a folder of keys: an authority, a certificate for servers at the hosts of url, and one
// key each named manager, client and monitor. It rejects a folder that already has keys. All files
// are readable by their owner only.
func Init(folder, url string) error {
	if err := checkURL("url", url); err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	if _, err := os.Lstat(filepath.Join(folder, usersFile)); !errors.Is(err, fs.ErrNotExist) {
		if err == nil {
			err = &num.InputError{Path: "folder", Value: folder, Want: "a folder without keys"}
		}
		return err
	}
	if err := certify(folder, hosts(url)); err != nil {
		return err
	}
	if err := save(folder, &Folder{URL: url}); err != nil {
		return err
	}
	for _, r := range []Role{Manager, Client, Monitor} {
		if _, err := Add(folder, r, string(r)); err != nil {
			return err
		}
	}
	return nil
}

// Add makes a key with a new name, and returns the path of its file.
func Add(folder string, r Role, name string) (path string, err error) {
	if err := checkRole("role", r); err != nil {
		return "", err
	}
	if err := wire.CheckName("name", name); err != nil {
		return "", err
	}
	f, release, err := lockFolder(folder)
	if err != nil {
		return "", err
	}
	defer release()
	if slices.ContainsFunc(f.Users, func(u User) bool { return u.Name == name }) {
		return "", &num.InputError{Path: "name", Value: name, Want: "a name that no key has or had"}
	}
	authority, err := os.ReadFile(filepath.Join(folder, authorityFile))
	if err != nil {
		return "", err
	}
	key, err := nkeys.CreateUser()
	if err != nil {
		return "", err
	}
	public, err := key.PublicKey()
	if err != nil {
		return "", err
	}
	seed, err := key.Seed()
	if err != nil {
		return "", err
	}
	text, err := json.MarshalIndent(
		File{Role: r, Name: name, URL: f.URL, Seed: string(seed), Authority: string(authority)}, "", "  ",
	)
	if err != nil {
		return "", err
	}
	path = filepath.Join(folder, name+".key")
	if err := write(path, append(text, '\n')); err != nil {
		return "", err
	}
	f.Users = append(f.Users, User{Name: name, Role: r, Key: public})
	return path, save(folder, f)
}

// Revoke revokes a key permanently and removes its file. A server that runs with the folder closes
// the connections of the key within seconds.
func Revoke(folder, name string) error {
	f, release, err := lockFolder(folder)
	if err != nil {
		return err
	}
	defer release()
	i := slices.IndexFunc(f.Users, func(u User) bool { return u.Name == name && !u.Revoked })
	if i < 0 {
		return &num.InputError{Path: "name", Value: name, Want: "the name of a key that is not revoked"}
	}
	f.Users[i].Revoked = true
	if err := save(folder, f); err != nil {
		return err
	}
	if err := os.Remove(filepath.Join(folder, name+".key")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// lockFolder reads a folder to change it. Other callers wait until release is called.
func lockFolder(folder string) (f *Folder, release func(), err error) {
	if _, err := Load(folder); err != nil { // a folder without keys is not locked
		return nil, nil, err
	}
	if release, err = processes.Wait(folder); err != nil {
		return nil, nil, err
	}
	if f, err = Load(folder); err != nil {
		release()
	}
	return f, release, err
}

// Load reads the list of keys in a folder.
func Load(folder string) (*Folder, error) {
	path := filepath.Join(folder, usersFile)
	text, err := os.ReadFile(path)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, &num.InputError{Path: "folder", Value: folder, Want: "a folder with keys"}
		}
		return nil, err
	}
	var f Folder
	if err := json.Unmarshal(text, &f); err != nil {
		return nil, &num.InputError{File: path, Want: "an unmodified list of keys", Cause: err}
	}
	for _, u := range f.Users {
		role := checkRole("role", u.Role)
		if u.Role == outdated {
			role = nil
		}
		if err := errors.Join(role, wire.CheckName("name", u.Name)); err != nil || !nkeys.IsValidPublicUserKey(u.Key) {
			return nil, &num.InputError{File: path, Want: "an unmodified list of keys", Cause: err}
		}
	}
	return &f, nil
}

// ServerTLS returns the TLS configuration of a server with the certificate of a folder.
func ServerTLS(folder string) (*tls.Config, error) {
	pair, err := tls.LoadX509KeyPair(filepath.Join(folder, serverFile), filepath.Join(folder, serverKey))
	if err != nil {
		return nil, err
	}
	return &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS13}, nil
}

// save writes users.json, and accounts.conf for external servers.
func save(folder string, f *Folder) error {
	if err := write(filepath.Join(folder, configFile), []byte(Config(f.Users))); err != nil {
		return err
	}
	text, err := json.MarshalIndent(f, "", "  ")
	if err != nil {
		return err
	}
	return write(filepath.Join(folder, usersFile), append(text, '\n'))
}

// write writes a file for its owner atomically.
func write(path string, text []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".keys-") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// hosts returns the hosts of URLs, and for loopback addresses all names of the machine itself.
func hosts(urls string) []string {
	list := []string{"localhost", "127.0.0.1", "::1"}
	for one := range strings.SplitSeq(urls, ",") {
		if u, err := url.Parse(one); err == nil && !slices.Contains(list, u.Hostname()) {
			list = append(list, u.Hostname())
		}
	}
	return list
}

// certify makes an authority and a certificate signed by it for servers at hosts.
func certify(folder string, hosts []string) error {
	authority, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	lockFolder, err := template("pfq authority")
	if err != nil {
		return err
	}
	lockFolder.IsCA, lockFolder.BasicConstraintsValid, lockFolder.MaxPathLenZero, lockFolder.KeyUsage = true,
		true, true, x509.KeyUsageCertSign
	if err := issue(folder, authorityFile, authorityKey, lockFolder, lockFolder, authority, authority); err != nil {
		return err
	}
	server, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	cert, err := template("pfq server")
	if err != nil {
		return err
	}
	cert.KeyUsage, cert.ExtKeyUsage = x509.KeyUsageDigitalSignature, []x509.ExtKeyUsage{
		x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth,
	}
	for _, h := range hosts {
		if ip := net.ParseIP(h); ip != nil {
			cert.IPAddresses = append(cert.IPAddresses, ip)
		} else {
			cert.DNSNames = append(cert.DNSNames, h)
		}
	}
	return issue(folder, serverFile, serverKey, cert, lockFolder, server, authority)
}

// template returns a certificate for a name, valid since an hour ago because clocks differ.
func template(name string) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, err
	}
	now := time.Now()
	return &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: name},
		NotBefore: now.Add(-time.Hour), NotAfter: now.AddDate(years, 0, 0),
	}, nil
}

// issue signs a certificate, and writes it with its key.
func issue(folder, certFile, keyFile string, cert, parent *x509.Certificate, key, signer *ecdsa.PrivateKey) error {
	der, err := x509.CreateCertificate(rand.Reader, cert, parent, key.Public(), signer)
	if err != nil {
		return err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	if err := write(filepath.Join(folder, keyFile), pem.EncodeToMemory(&pem.Block{
		Type:  "PRIVATE KEY",
		Bytes: secret,
	})); err != nil {
		return err
	}
	return write(filepath.Join(folder, certFile), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}
