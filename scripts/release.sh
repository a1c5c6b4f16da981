#!/usr/bin/env bash
# Builds the programs for linux, darwin and windows on amd64 and arm64, static and without paths of this machine,
# with checksums, and compares the digits of the linux ones: those of amd64 run here, those of arm64 under
# qemu-aarch64 where it is installed.
#
#	scripts/release.sh FOLDER
#
# Processors of arm64 multiply and add in one rounding where the compiler lets them. The programs for arm64 are built
# without that (-d=fmahash=qn), so that float64 has the digits of amd64.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
if [ $# -ne 1 ]; then
	echo "usage: scripts/release.sh FOLDER" >&2
	exit 2
fi
mkdir -p "$1"
out=$(cd "$1" && pwd)
version=$(git describe --tags --always --dirty)

for os in linux darwin windows; do
	for arch in amd64 arm64; do
		name=productform-$version-$os-$arch
		flags=()
		[ "$arch" = arm64 ] && flags=(-gcflags=all=-d=fmahash=qn)
		suffix=
		[ "$os" = windows ] && suffix=.exe
		mkdir -p "$out/$name"
		export CGO_ENABLED=0 GOOS=$os GOARCH=$arch
		for program in pfq figures; do
			go build -trimpath -ldflags='-s -w' "${flags[@]}" -o "$out/$name/$program$suffix" "./cmd/$program"
		done
		(cd live && go build -trimpath -ldflags='-s -w' "${flags[@]}" -o "$out/$name/pfq-live$suffix" ./cmd/pfq-live)
		cp README.md LICENSE CHANGELOG.md "$out/$name"
		tar -C "$out" -czf "$out/$name.tar.gz" "$name"
		printf '%s\n' "$name.tar.gz"
	done
done
unset GOOS GOARCH
(cd "$out" && sha256sum -- *.tar.gz >SHA256SUMS)

# Answers of these must be equal to the last digit; of simulations the means must, their intervals to ten digits, and numbers of TAGS to
# thirteen, as math.Exp and its like have code of their own on some processors.
models=(three-servers line racks storage random-100-2 warehouse)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
answers() {
	local model
	for model in "${models[@]}"; do
		"$@" example "$model" -o "$work/$model.yaml"
		"$@" solve "$work/$model.yaml" --format json --engine float --distribution 10
		"$@" stability "$work/$model.yaml" --format json
		"$@" simulate "$work/$model.yaml" --runs 3 --jumps 20000 --format json |
			sed -E '/"jumps_per_second"/d; s/("(half_width|low|high|z)": -?[0-9.]{1,11})[0-9]*/\1/'
	done
	"$@" solve "$work/three-servers.yaml" --format json --percentiles 50,99
	"$@" tags --hosts 3 --load 0.5 --alpha 1 --max 1e7 --mean 3000 --format json |
		sed -E 's/([0-9.]{14})[0-9]+/\1/'
}
answers "$out/productform-$version-linux-amd64/pfq" >"$work/amd64"
if qemu=$(command -v qemu-aarch64 || command -v qemu-aarch64-static); then
	answers "$qemu" "$out/productform-$version-linux-arm64/pfq" >"$work/arm64"
	diff "$work/amd64" "$work/arm64"
	echo "linux: amd64 and arm64 give the same digits ($(wc -l <"$work/amd64") lines of answers)"
else
	echo "linux: arm64 is not compared, as qemu-aarch64 is not installed"
fi
