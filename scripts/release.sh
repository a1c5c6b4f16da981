#!/usr/bin/env bash
# Builds the release of the last commit: static programs for linux, darwin and windows on amd64 and arm64, in archives
# with checksums. The same commit and the same version of Go give the same bytes on any machine with GNU tar and gzip.
# So everything is built twice, in clones at different paths, the second time with an empty build cache, and the
# archives must be equal. Then the digits of the linux programs are compared: those of amd64 run here, those of arm64
# under qemu-aarch64 if it is installed.
#
#	scripts/release.sh FOLDER [OS/ARCH ...]
#
# Processors of arm64 can multiply and add with a single rounding. The programs for arm64 are built without this
# (-d=fmahash=qn), so float64 has the digits of amd64.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
if [ $# -lt 1 ]; then
	echo "usage: scripts/release.sh FOLDER [OS/ARCH ...]" >&2
	exit 2
fi
if [ -n "$(git status --porcelain)" ]; then
	echo "uncommitted changes and untracked files are left out:" >&2
	git status --short >&2
fi
mkdir -p "$1"
out=$(cd "$1" && pwd)
shift
platforms=("$@")
if [ $# -eq 0 ]; then
	platforms=({linux,darwin,windows}/{amd64,arm64})
fi
version=$(git describe --tags --always)
time=$(git log -1 --format=%ct) # of all files in the archives
work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
# Nothing else of the environment changes the bytes.
export CGO_ENABLED=0 GOWORK=off GOFLAGS=-trimpath GOAMD64=v1 GOARM64=v8.0 LC_ALL=C
umask 022

# build CLONE FOLDER OS/ARCH writes the archive $name.tar.gz.
build() {
	local clone=$1 to=$2 os=${3%/*} arch=${3#*/} suffix='' flags=(-buildvcs=true -ldflags='-s -w')
	name=productform-$version-$os-$arch
	[ "$arch" = arm64 ] && flags+=(-gcflags=all=-d=fmahash=qn)
	[ "$os" = windows ] && suffix=.exe
	mkdir -p "$clone.files/$name"
	(
		export GOOS=$os GOARCH=$arch
		cd "$clone"
		for program in pfq figures; do
			go build "${flags[@]}" -pgo=scripts/release.pgo -o "$clone.files/$name/$program$suffix" "./cmd/$program"
		done
		cd live
		go build "${flags[@]}" -o "$clone.files/$name/pfq-live$suffix" ./cmd/pfq-live
	)
	cp "$clone"/{README.md,LICENSE,CHANGELOG.md,CITATION.cff,SECURITY.md} "$clone.files/$name"
	tar -C "$clone.files" --sort=name --format=ustar --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX \
		--mtime="@$time" -cf - "$name" | gzip -9n >"$to/$name.tar.gz"
}

mkdir -p "$work/a/longer/path" "$work/again"
git clone --quiet . "$work/one"
git clone --quiet . "$work/a/longer/path/another"
: >"$out/SHA256SUMS"
for platform in "${platforms[@]}"; do
	build "$work/one" "$out" "$platform"
	GOCACHE=$work/cache build "$work/a/longer/path/another" "$work/again" "$platform"
	cmp "$out/$name.tar.gz" "$work/again/$name.tar.gz"
	(cd "$out" && sha256sum -- "$name.tar.gz" | tee -a SHA256SUMS)
done
echo "built twice: the archives are equal"

if [[ " ${platforms[*]} " != *" linux/amd64 "* ]]; then
	exit
fi
# Exact answers and simulated means must be equal to the last digit, intervals to ten digits, and numbers of TAGS to
# thirteen: math.Exp has separate code on some processors.
models=(three-servers line racks storage random-100-2 warehouse)
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
program() { # OS-ARCH
	tar -C "$work" -xzf "$out/productform-$version-$1.tar.gz"
	printf '%s\n' "$work/productform-$version-$1/pfq"
}
answers "$(program linux-amd64)" >"$work/amd64"
if [[ " ${platforms[*]} " != *" linux/arm64 "* ]]; then
	exit
fi
if qemu=$(command -v qemu-aarch64 || command -v qemu-aarch64-static); then
	answers "$qemu" "$(program linux-arm64)" >"$work/arm64"
	diff "$work/amd64" "$work/arm64"
	echo "linux: amd64 and arm64 give the same digits ($(wc -l <"$work/amd64") lines of answers)"
else
	echo "linux: arm64 is not compared, as qemu-aarch64 is not installed"
fi
