// Package manager runs the manager of the live system: who decides what each worker does, and who
// takes over when a manager dies? It combines the status checker, the decision maker and the
// dispatcher of [L14], section 3.5.
//
// A manager is in one of three states:
//
//	standby  another manager leads. This one folds new plans and watches the lease.
//	folding  it holds the lease, and reads the rest of PFQ_PLAN, then the messages of PFQ_IN that no
//	         plan has named.
//	leading  it decides: everything up to a moment becomes one plan. The plan is appended to PFQ_PLAN
//	         only if no other plan was appended since the last one that this manager knows. Orders
//	         are sent after that, never before.
//
// A rejected append, a lost lease, a broken connection and a missing acknowledgement all lead back
// to standby, where the plans are read again: only the log shows whether the last plan was stored.
// There is no other recovery path. The lease speeds up a takeover and keeps two managers from
// taking turns. Safety depends only on the append condition.
//
// For example:
//
//	_, nc, stop := servertest.Example() // a connection to a server that package server has prepared
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
// Reports that arrive during an append are combined into the next plan.
package manager
