// This file computes by which factor the formula for least work remaining overestimates the waiting
// time at low loads.
//
// [PolicyCentral] is one queue for h hosts, M/G/h, whose mean waiting time is not known in general.
// The formula multiplies the mean waiting time for exponential sizes, M/M/h, by G = E[X²]/(2
// E[X]²). This is correct as the load goes to 1 (J. Köllerström, "Heavy traffic theory for queues
// with several servers", Journal of Applied Probability 11, 1974). As the load goes to 0, a job
// that finds all hosts busy waits for the first of h jobs, each of which has the remaining size X_e
// of a job in service, P(X_e > x) = E[(X - x)^+]/E[X]; it finds them busy as often as with
// exponential sizes (D. Burman and D. Smith, "A light-traffic theorem for multi-server queues",
// Mathematics of Operations Research 8(1), 1983, for phase-type sizes). In that limit the formula
// has E[X_e]/h = G E[X]/h instead of E[min of h of X_e].
//
// For example:

package tags

import (
	"math"

	"productform/internal/input"
	"productform/sizes"
)

// LowLoadFactor returns the limit, as the load goes to 0, of the ratio of the mean waiting time by
// the formula of [PolicyCentral] to the true one,
//
//	(E[X²]/(2 E[X])) / (h ∫_0^∞ (E[(X - x)^+]/E[X])^h dx),
//
// to one part in a thousand. It is above 1 if sizes vary more than exponential ones, and 1 for one
// host. It takes about a thousand calls of [sizes.Distribution.MeanExcess]. The error comes from a
// moment, or names the hosts if they are not 1 to [MaxQueueHosts].
func LowLoadFactor(d sizes.Distribution, hosts int) (float64, error) {
	if !(hosts >= 1 && hosts <= MaxQueueHosts) {
		return 0, input.Errorf("hosts", hosts, "a number of hosts from 1 to %d", MaxQueueHosts)
	}
	mean, err := d.Moment(1)
	if err != nil {
		return 0, err
	}
	square, err := d.Moment(2)
	if err != nil || hosts == 1 {
		return 1, err
	}
	excess := square / mean / 2
	return excess / (float64(hosts) * firstOf(d, float64(hosts), mean, excess)), nil
}

const (
	step    = 1.03 // ratio of successive points, for an error of at most (step-1)²/4 = 2.3e-4 of the integral
	tailTol = 1e-4 // fraction of the integral that may be omitted at either end
)

// firstOf returns ∫ g, g(x) = (E[(X - x)^+]/E[X])^h, by trapezoids between points in geometric
// progression.
//
// Truncation error: g is at most 1, and at least (1 - x/E[X])^h, as E[(X - x)^+] >= E[X] - x. So
// the integral is at least E[X]/(h+1), and points begin at tailTol of that. At the top, x E[(X -
// x)^+] <= E[X²]/4, as (X - x) x <= X²/4. With c = E[X²]/(4 E[X]), the integral beyond x is thus at
// most ∫_x^∞ (c/t)^h dt = x (c/x)^h/(h-1).
//
// Error of the trapezoids: g is convex, as a power h >= 1 of a nonnegative convex function. Between
// a and b it is above its tangents at both, which leave at most (b-a)² (g'(b)-g'(a))/8 below the
// chord. With b-a = (step-1) a the sum of these is at most (step-1)²/8 ∫ x² dg'(x), and ∫ x² dg' =
// -2 ∫ x g' = 2 ∫ g, by parts. The trapezoid below the first point adds at most tailTol/2. So the
// sum is between 1 - 1e-4 and 1 + 2.8e-4 times the integral.
func firstOf(d sizes.Distribution, h, mean, excess float64) float64 {
	_, top, bounded := d.Support()
	c := excess / 2
	x := tailTol * mean / (h + 1)
	g := math.Pow(d.MeanExcess(x)/mean, h)
	sum := x * (1 + g) / 2
	for {
		if bounded && x >= top || x > c && x*math.Pow(c/x, h)/(h-1) <= tailTol*sum {
			return sum
		}
		next := x * step
		if bounded {
			next = min(next, top)
		}
		after := math.Pow(d.MeanExcess(next)/mean, h)
		sum += (next - x) * (g + after) / 2
		x, g = next, after
	}
}
