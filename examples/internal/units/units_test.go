package units

import "testing"

// Amounts are written as people write them: by the resource, and of others by the habit of their names.
func TestAmount(t *testing.T) {
	for _, c := range []struct {
		resource string
		amount   int64
		want     string
	}{
		{"cpu", 4000, "4"}, {"cpu", 500, "500m"}, {"cpu", 1500, "1.5"}, {"cpu", 0, "0"}, {"cpu", -500, "-500m"}, {"GPU", 500, "0.5"}, {"GPU", 8000, "8"}, {"GPU", -1250, "-1.25"},
		{"memory", 80 << 30, "80Gi"}, {"memory", 1536 << 20, "1.5Gi"}, {"hugepages-2Mi", 4 << 20, "4Mi"}, {"ephemeral-storage", 0, "0"},
		{"nvidia.com/gpu", 8, "8"}, {"nvidia.com/gpu", 1 << 20, "1048576"}, {"rdma/hca_shared_devices_a", 2, "2"}, {"pods", 110, "110"},
		{"example.com/gpu-memory", 40 << 30, "40Gi"}, {"gpu.memory", 80 << 30, "80Gi"}, {"nvidia.com/gpumem", 40960, "40960"},
		{"example.com/gpu-memory", 40960, "40960"}, {"storage.example.com/volumes", 1 << 20, "1048576"},
	} {
		if got := Amount(c.resource, c.amount); got != c.want {
			t.Errorf("%d %s: %q, want %q", c.amount, c.resource, got, c.want)
		}
	}
}
