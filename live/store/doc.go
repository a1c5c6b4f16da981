// Package store writes and reads what the server keeps, with direct requests only, since a worker and a client of a server with keys may do no
// more: how is a message written once, and a content of any size kept?
//
// [Once] writes to a subject that takes one message, ever. [Last] and [Next] read messages, [Put] and [Get] contents
// of any size by their SHA-256. A server that is away for a moment, or between two leaders, is asked again until the context
// ends: all that is written here can be written again without harm.
package store
