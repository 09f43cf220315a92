#!/usr/bin/env bash
# The loops of image transforms give the same bytes with every instruction set that this processor has.
set -euo pipefail

"${TENON_BUILD_DIR:?}/tests/bench/bench_image_transforms"
