// Package workload makes jobs for package dispatch: of logs of real clusters, as [L14] samples them ([Sampling]), and drawn from
// distributions ([Synthetic]), with deadlines and priorities, and workers of different speeds ([UniformSpeeds]). [L14] is named in
// package dispatch.
package workload
