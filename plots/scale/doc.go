// Package scale draws how far exact answers and estimates reach: how much time and memory does a model take, against its size?
//
// Time and memory stand against the size for each lattice of package bf and for package gibbs (scale-1). One cluster that is too large for
// tables goes up to the edge of stability (scale-2).
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
