package cluster

import "math/big"

// A Model is a cluster: servers, and classes of jobs that arrive as independent
// Poisson processes and may be served by some of the servers.
type Model struct {
	Servers  []Server
	Classes  []Class
	MeanSize *big.Rat // σ > 0, mean work of a job of a class without its own mean size; nil means 1
	Service  Service  // "" means AllServers

	// MeanPatience >= 0 and Patience are the mean and the distribution of the patience of jobs, for
	// classes without their own MeanPatience. A job gives up once it has waited for its patience. If
	// MeanPatience is 0, jobs that find all their servers busy are lost. Patience is a distribution
	// as package sizes parses it; "" means exponential. If MeanPatience is nil, jobs wait until they
	// run, as they do with AllServers.
	MeanPatience *big.Rat
	Patience     string

	// MeanTimeout > 0 is the mean of the exponential time after which a job leaves, whether in
	// service or not, for classes without their own MeanTimeout. If it is nil, jobs leave when they
	// are done.
	MeanTimeout *big.Rat
}

// A Service says on how many servers a job runs at a time.
type Service string

// The services.
const (
	AllServers Service = "all" // on all servers that are working on no earlier job that they can serve
	OneServer  Service = "one" // on one server, from its start to its end; other jobs wait in one queue

	// Gang: on all servers that its class needs, from its start to its end. Jobs start in order of
	// arrival, so a job that does not fit blocks all jobs behind it.
	Gang Service = "gang"
)

// A Server is one server or a group of Count equal ones.
type Server struct {
	Name     string   // not empty, and different from the names of the other servers
	Count    int      // servers in the group, >= 1; 0 means 1
	Capacity *big.Rat // C_s >= 0, work per unit of time of each server of the group; 1 or nil with Gang
}

// A Class is a kind of job: how often such jobs arrive and which servers can serve them.
type Class struct {
	Name        string   // not empty, and different from the names of the other classes
	ArrivalRate *big.Rat // λ_i >= 0, jobs per unit of time
	MeanSize    *big.Rat // σ_i > 0, mean work per job of the class; nil means that of the model
	Servers     []Choice // servers of its jobs; not empty, no server row twice; nil with Gang
	Priority    int      // 0..1,000,000; larger ones go first where a policy has priorities; 0 with AllServers

	// Needs lists the servers that each job of the class holds at once, with the service Gang:
	// Choose servers of the row Model.Servers[Server]. Rows may be resources of any kind, such as
	// memory in GB. It is not empty and lists no row twice; it is nil with another service.
	Needs []Choice `json:",omitempty"`

	MeanPatience *big.Rat // that of its jobs, as in [Model]; nil means that of the model
	Patience     string   // with its own MeanPatience only

	MeanTimeout *big.Rat // mean timeout of its jobs, as in [Model]; nil means the model's
}

// A Choice names servers that serve each job of a class together: Choose servers of the row
// Model.Servers[Server]. If the row has more, they are drawn uniformly at random for every job.
type Choice struct {
	Server int // index into Model.Servers
	Choose int // 1..Count of that row
}

// On returns the choices of a class that runs on the single servers with these indices.
func On(servers ...int) []Choice {
	c := make([]Choice, len(servers))
	for i, s := range servers {
		c[i] = Choice{Server: s, Choose: 1}
	}
	return c
}

// Size returns the number of servers in the row: Count, at least 1.
func (s Server) Size() int { return max(s.Count, 1) }

// GroupSize returns the number of servers of a group, 0 for a single server.
func (s Server) GroupSize() int {
	if s.Count > 1 {
		return s.Count
	}
	return 0
}

// Scale returns m with all arrival rates multiplied by factor >= 0. Everything else is shared with
// m.
func (m *Model) Scale(factor *big.Rat) *Model {
	c := *m
	c.Classes = append([]Class(nil), m.Classes...)
	for i := range c.Classes {
		c.Classes[i].ArrivalRate = new(big.Rat).Mul(m.Classes[i].ArrivalRate, factor)
	}
	return &c
}

// ScaleClass returns m with the arrival rate of class i multiplied by factor >= 0. Everything else
// is shared with m.
func (m *Model) ScaleClass(i int, factor *big.Rat) *Model {
	c := *m
	c.Classes = append([]Class(nil), m.Classes...)
	c.Classes[i].ArrivalRate = new(big.Rat).Mul(m.Classes[i].ArrivalRate, factor)
	return &c
}
