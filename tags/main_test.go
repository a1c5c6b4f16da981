package tags_test

import (
	"testing"

	"productform/internal/oracle"
)

func TestMain(m *testing.M) { oracle.Run(m) }
