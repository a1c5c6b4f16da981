package worker

import "testing"

// Programs are not run as root unless that is insisted on.
func TestCheckUser(t *testing.T) {
	allow := Allow{"bill": {Path: "/opt/bill"}}
	for _, c := range []struct {
		s    Settings
		user int
		ok   bool
	}{
		{Settings{}, 0, true},
		{Settings{Allow: allow}, 0, false},
		{Settings{Allow: allow}, 1000, true},
		{Settings{Allow: allow}, -1, true},
		{Settings{Allow: allow, AsRoot: true}, 0, true},
	} {
		if err := c.s.checkUser(c.user); (err == nil) != c.ok {
			t.Errorf("%+v as user %d: %v", c.s, c.user, err)
		}
	}
}
