#!/usr/bin/env bash
# Runs `make test` again and again on a machine that has other work, and says what each run came to.
#
#   tools/under_load.sh busy 20      twenty times, beside two loops that never rest
#   tools/under_load.sh nice 10      ten times, as the process that everybody else comes before
#
# Each run's output is in log/under_load; ends with 1 when any run was red. ARGS goes to pytest.
set -euo pipefail
cd -P "$(dirname "$0")/.."

way=${1:-} runs=${2:-0}
case $way in
    busy) beside=2 before=() ;;
    nice) beside=0 before=(nice -n 19) ;;
    *) sed -n '3,8s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac

loops=()
end_loops() { [ ${#loops[@]} -eq 0 ] || kill "${loops[@]}" 2>/dev/null || true; }
trap end_loops EXIT
for ((i = 0; i < beside; i++)); do
    while :; do :; done &
    loops+=($!)
done

mkdir -p log/under_load
red=0
for ((run = 1; run <= runs; run++)); do
    log=log/under_load/${way}_$run.txt
    begin=$SECONDS
    "${before[@]}" make --no-print-directory test ARGS="${ARGS:-}" >"$log" 2>&1 && said=green || { said=red; red=1; }
    printf '%s %2d of %d: %s in %d s: %s\n' "$way" "$run" "$runs" "$said" $((SECONDS - begin)) "$(tail -n 1 "$log")"
done
exit $red
