// Package file answers: which fields may a model file have, and which values? A [Description] lists
// the fields of an object once, each with its accepted range; reading, checking, the JSON schema
// and the help are walks over it:
//
//	var server = file.Description[Server]{Want: "an object with name and capacity", Fields: []file.Field[Server]{
//		file.Name("name of the server", func(s *Server) *string { return &s.Name }),
//		file.Rat("capacity", "work per unit of time",
//			func(s *Server) **big.Rat { return &s.Capacity }, input.Nonnegative),
//		file.Int("tokens", "jobs that it can have", func(s *Server) *int { return &s.Tokens }, 100).Optional(),
//	}}
//
// Conditions between fields are plain Go in Description.Check. They are checked after the fields of
// the same object.
package file
