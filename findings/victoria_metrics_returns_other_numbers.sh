#!/usr/bin/env bash
# VictoriaMetrics: a sample of 16 digits or more comes back as another number than was written.
#
# Values are kept as whole numbers with a power of ten for a block, not as the 64 bits that arrived: 0.30000000000000004 is
# returned as 0.3, 1234567890.123456 with other digits at its end, the smallest number above zero as 0. A move that compares
# its source with its target value by value, or a rule that asks for equality, has to allow for a part in 10^14.
set -euo pipefail
cd "$(mktemp -d)"
server=0
trap '[ "$server" = 0 ] || kill "$server"; cd /; rm -rf "$OLDPWD"' EXIT
apt-get download -qq victoria-metrics >/dev/null 2>&1
dpkg -x victoria-metrics_*.deb .
echo "victoria-metrics $(dpkg-deb -f victoria-metrics_*.deb Version)"
./usr/bin/victoria-metrics -httpListenAddr=127.0.0.1:18428 -storageDataPath=data -loggerLevel=ERROR >/dev/null 2>&1 &
server=$!
base=http://127.0.0.1:18428
until curl -sf "$base/health" >/dev/null; do sleep 0.1; done
now="$(date +%s)000"
curl -sf "$base/api/v1/import/prometheus" --data-binary "sum 0.30000000000000004 $now
clock 1234567890.123456 $now
tiny 4.9e-324 $now
whole 9007199254740991 $now
"
curl -sf "$base/internal/force_flush" >/dev/null
read_back() { curl -sf "$base/api/v1/export" --data-urlencode "match[]=$1" | sed -n 's/.*"values":\[\([^]]*\)\].*/\1/p'; }
found="$(read_back sum) $(read_back clock) $(read_back tiny) $(read_back whole)"
echo "written: 0.30000000000000004 1234567890.123456 4.9e-324 9007199254740991"
echo "read:    $found"
[ "$found" = '0.3 1234567890.1234562 0 9007199254740991' ]
