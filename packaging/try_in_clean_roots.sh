#!/usr/bin/env bash
# Installs the packages in clean roots of Debian 12, Debian 13 and Ubuntu 24.04, shows the demo from each, and removes them:
#   packaging/try_in_clean_roots.sh <folder with the .deb, the .tar.zst and the .whl> [<folder for the roots>]
# Needs root, debootstrap and the network; makes a root of some 400 MB for each system, unless it is there. Prints a table.
set -euo pipefail

packages=$(realpath "${1:?a folder with the .deb, the .tar.zst and the .whl}")
roots=${2:-$(mktemp -d)}
declare -A suites=([Debian 12]=bookworm [Debian 13]=trixie [Ubuntu 24.04]=noble)

make_root() { # <suite> <folder>
  local components=main script=()
  [[ -e $2/etc/os-release ]] && return
  # Older debootstraps do not know that all Ubuntus are made as gutsy was, and have no keys of theirs.
  if [[ $1 == noble ]]; then components=main,universe script=("" /usr/share/debootstrap/scripts/gutsy); fi
  debootstrap --variant=minbase --components=$components "$1" "$2" "${script[@]}"
  chroot "$2" apt-get update -q
  chroot "$2" env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends python3-venv zstd
}

# What is mounted is so in a namespace that ends with it.
try_package() { # <root> <deb|tarball|wheel>
  unshare --mount bash -c 'mount -t proc proc "$1/proc" && exec chroot "$1" bash -e -s "$2"' bash "$1" "$2" <<'END'
show() {
  "$1" --version >/dev/null
  "$1" demo | grep Iteration >/dev/null
}
cd /
case $1 in
  deb)
    dpkg -i /packages/*.deb >/dev/null
    show dlkprof
    dpkg -r dlkprof >/dev/null
    [[ ! -e /usr/bin/dlkprof && ! -e /usr/share/dlkprof ]]
    ;;
  tarball)
    rm -rf '/opt/any folder'
    mkdir -p '/opt/any folder'
    tar --zstd -xf /packages/*.tar.zst -C '/opt/any folder'
    show '/opt/any folder'/*/bin/dlkprof
    ;;
  wheel)
    rm -rf /opt/wheel
    python3 -m venv /opt/wheel
    /opt/wheel/bin/pip install -q --no-index /packages/*.whl
    show /opt/wheel/bin/dlkprof
    /opt/wheel/bin/python -c 'import dlkprof; assert list(dlkprof.load("/opt/wheel/share/dlkprof/captures/cifar10_b4.dlkcap"))'
    /opt/wheel/bin/pip uninstall -q -y dlkprof
    [[ ! -e /opt/wheel/bin/dlkprof ]]
    ;;
esac
END
}

failed=0
printf '| system | .deb | tarball | wheel |\n| --- | --- | --- | --- |\n'
for system in 'Debian 12' 'Debian 13' 'Ubuntu 24.04'; do
  root=$roots/${suites[$system]}
  make_root "${suites[$system]}" "$root" >&2
  rm -rf "$root/packages"
  cp -r "$packages" "$root/packages"
  row="| $system"
  for kind in deb tarball wheel; do
    if try_package "$root" "$kind" >&2; then row+=' | works'; else row+=' | **fails**' failed=1; fi
  done
  printf '%s |\n' "$row"
done
exit $failed
