// Package manager runs the manager of the live system: who decides what each worker does, and who takes over when that one dies? It is the
// status checker, the decision maker and the dispatcher of [L14], section 3.5.
//
// A manager is in one of three states:
//
//	standby  another manager leads. This one folds the plans as they come, and watches the lease.
//	folding  it has the lease, and reads what is left of PFQ_PLAN, then all of PFQ_IN that no plan has named.
//	leading  it decides: what has happened by a moment becomes one plan, which is appended to PFQ_PLAN on condition
//	         that no other plan was appended since the last one it knows. Orders leave after that, never before.
//
// A refused append, a lost lease, a broken connection and an acknowledgement that does not come all lead back to standby,
// where the plans are read anew: only the log knows whether the last plan is in it. There is no other road of recovery. The
// lease makes a take-over quick and keeps two managers from deciding by turns; what makes it safe is the condition of the
// append alone.
//
// For example:
//
//	_, nc, stop := clustertest.Server() // a connection to a server that package server has prepared
//	defer stop()
//	begin := func(name string) (end func() error) {
//		ctx, cancel := context.WithCancel(context.Background())
//		ended := make(chan error)
//		rules := dispatch.Rules{Policy: dispatch.Policy{Rule: dispatch.EDF}}
//		go func() { ended <- manager.Run(ctx, nc, manager.Settings{Name: name, Rules: rules}) }()
//		return func() error {
//			cancel()
//			return <-ended
//		}
//	}
//	first := begin("first")
//	fmt.Println(leader(nc), "leads")
//	second := begin("second") // stands by
//	fmt.Println("first ends:", first())
//	fmt.Println(leader(nc), "leads")
//	fmt.Println("second ends:", second())
//	// Output:
//	// first leads
//	// first ends: <nil>
//	// second leads
//	// second ends: <nil>
//
// While an append is under way more reports gather; they become the next plan together.
package manager
