//go:build !amd64

package elimination

func fastest() MultiplyAdd { return multiplyAdd }
