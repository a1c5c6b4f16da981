// Package farm simulates hosts with a queue each, to which jobs are assigned by one of the policies of
// M. Harchol-Balter, "Task assignment with unknown duration", Journal of the ACM 49(2), 2002, 260–288 ([HB02]):
// TAGS and other policies ([Farm]).
package farm
