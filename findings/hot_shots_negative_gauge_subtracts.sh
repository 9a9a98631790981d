#!/usr/bin/env bash
# hot-shots: gauge('temperature', -5) does not set a gauge to -5; a StatsD server takes 5 away from what it had.
#
# On the wire of StatsD a sign means a change, and only a value without one sets a gauge. The client has gaugeDelta() for
# changes, so that one expects gauge() to set: it writes the same line for both. A freezer at 10 that reports -5 is shown
# at 5, and falls by five more with each report. (DogStatsD agents read the same line as a value.)
set -euo pipefail
cd "$(mktemp -d)"
server=0
trap '[ "$server" = 0 ] || kill "$server"; rm -rf "$PWD"' EXIT
npm init -y >/dev/null
# The server needs a function that Node 23 removed.
npm install --no-audit --no-fund --silent --save-exact hot-shots@17.1.1 statsd@0.9.0 node@22.12.0 >/dev/null
cat >config.js <<'JS'
({ port: 18225, mgmt_port: 18226, address: '127.0.0.1', mgmt_address: '127.0.0.1', flushInterval: 600000, backends: [] })
JS
node_modules/.bin/node node_modules/statsd/stats.js config.js >server.log 2>&1 &
server=$!
cat >try.cjs <<'JS'
const { StatsD } = require('hot-shots');
const { connect } = require('node:net');

/** Asks the server's management port until it answers; it ends each answer with END. */
function gauges() {
  return new Promise((resolve) => {
    const socket = connect(18226, '127.0.0.1', () => socket.write('gauges\n'));
    let answer = '';
    socket.on('error', () => setTimeout(() => resolve(gauges()), 100));
    socket.on('data', (bytes) => {
      answer += bytes;
      if (answer.includes('END')) socket.end(() => resolve(answer));
    });
  });
}

async function main() {
  await gauges();
  const client = new StatsD({ host: '127.0.0.1', port: 18225 });
  const read = [];
  for (const value of [10, -5, -5]) {
    await new Promise((resolve) => client.gauge('temperature', value, resolve));
    await new Promise((resolve) => setTimeout(resolve, 300));
    read.push(Number(/temperature: (-?[\d.]+)/.exec(await gauges())[1]));
  }
  client.close();
  console.log(`gauge() was called with 10, -5, -5; the server says ${read.join(', ')}`);
  process.exit(read.join() === '10,5,0' ? 0 : 1);
}
main();
JS
echo "hot-shots $(node -p "require('./package.json').dependencies['hot-shots']"), statsd $(node -p "require('./package.json').dependencies.statsd")"
node_modules/.bin/node try.cjs
