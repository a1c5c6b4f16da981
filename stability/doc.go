// Package stability decides whether an order-independent queue is stable, by how much, and what
// limits it: how much load can a cluster sustain?
//
// Class-i jobs bring work at rate λ_i (arrival rate times mean size). While A is the set of
// classes present, the queue works at total rate μ(A), its rank function; in a cluster μ(A) is
// the capacity of all servers that some class of A can use. The queue is stable if and only if
//
//	Σ_{i∈A} λ_i < μ(A) for every non-empty set A of classes
//
// (Bonald and Comte, "Balanced fair resource sharing in computer clusters", Performance
// Evaluation 116, 2017, Theorem 1; the boundary Σ_{i∈A} λ_i = μ(A) is unstable).
//
// For example:
//
//	m, err := cluster.Read(strings.NewReader(`
//	servers: [{name: big, capacity: 2}, {name: small, capacity: 1}]
//	classes:
//	- {name: web, arrival_rate: 1, servers: [big, small]}
//	- {name: reports, arrival_rate: 0.4, servers: [small]}
//	`))
//	if err != nil {
//		log.Fatal(err)
//	}
//	r, err := stability.Cluster(context.Background(), m)
//	if err != nil {
//		log.Fatal(err)
//	}
//	fmt.Println("stable:", r.Stable, "with all arrival rates multiplied by anything below",
//		r.CriticalScale.RatString())
//	fmt.Println("limited by the classes", m.NamesOf(r.Bottleneck))
//	// Output:
//	// stable: true with all arrival rates multiplied by anything below 15/7
//	// limited by the classes [web reports]
//
// [Rank] examines all sets and takes any rank function. [Cluster] never lists them: with λ(A) =
// Σ_{i∈A} λ_i, the minimum over A of μ(A) - t λ(A) is a minimum cut between classes and servers.
// Newton steps on the scale t and maximum flows therefore solve 10^5 classes and 10^6
// compatibilities in seconds. Both are exact: numbers are rationals, never rounded. [Overload]
// gives the verdict alone, and [Rooms] the possible growth of each class alone.
//
// Every answer carries its proof. A set that attains the critical scale min_A μ(A)/λ(A) bounds
// it from above; from below it is bounded by a splitting of the rates over the servers (or by
// rates η_i in the manner of the theorem's proof). [Verify] checks the proof of [Cluster] without
// repeating the search.
package stability
