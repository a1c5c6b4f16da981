// Package scale answers: how much time and memory does a model need, depending on its size? Its
// figures show for which sizes exact answers and estimates are feasible.
//
// scale-1 shows time and memory against the size for each lattice of package bf and for package
// gibbs. scale-2 shows one cluster, too large for tables, up to the edge of stability.
//
// For example:
//
//	figures := scale.Figures()
//	fmt.Println(scale.Source().Title)
//	for _, f := range figures[:2] {
//		fmt.Println(f.ID, f.Title)
//	}
//	// Output:
//	// How far exact answers and estimates reach
//	// scale-1 Time and memory against the size of a model
//	// scale-2 A hundred classes on fifty servers
package scale
