// Package br14 has figures after Bonald and Roberts, "Enhanced cluster computing performance through proportional
// fairness", Performance Evaluation 79, 2014, 134–145 ([BR14]), whose own parameters are not at hand: two jobs at
// rest (fluid-1); mean service rates in random traffic (fluid-2); efficiency against fairness (fluid-3); lies
// (fluid-4); sharing task by task (fluid-5); and users of a log (fluid-6).
package br14
