// Package worker runs tasks for the live system.
//
// A worker is a slot: it has one task in hand, or none ([L14], section 3.4). It is told what to do by orders, which are
// levels: the last order of the manager says what the worker should be doing now. An order that is older than one it has
// seen, or that is meant for another process, is not followed; if for 10 s none but older ones come, the server has lost what it
// kept, and the worker begins anew as another process.
//
//	no task --order--> fetches the inputs --> runs --> reports --stored or refused--> no task
//	             \--order for another task, or for none: what is in hand is dropped--/
//
// What the worker really does it says in heartbeats; a manager that finds a difference sends the order again. The report of a
// task is published until the server has it, or says that another worker was first: both mean that the task is done.
package worker
