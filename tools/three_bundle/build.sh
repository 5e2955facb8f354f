#!/usr/bin/env bash
# Make safe_sysid/report/page/three.min.js anew: three.js, tree-shaken and minified (needs npm and a network).
set -euo pipefail
THREE=0.187.0
ESBUILD=0.28.2
here=$(cd "$(dirname "$0")" && pwd)
page=$here/../../safe_sysid/report/page
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
cp "$here/entry.js" "$work/"
cd "$work"
npm init -y >/dev/null
npm install --no-audit --no-fund "three@$THREE" "esbuild@$ESBUILD" >/dev/null
license=$(cat node_modules/three/LICENSE)
printf '/*\nthree.js %s, the part that pages use, bundled by tools/three_bundle/build.sh\n\n%s\n*/\n' \
  "$THREE" "$license" >"$page/three.min.js"
npx esbuild entry.js --bundle --minify --format=iife --global-name=THREE --charset=utf8 --legal-comments=none \
  >>"$page/three.min.js"
wc -c "$page/three.min.js"
