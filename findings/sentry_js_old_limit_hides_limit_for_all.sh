#!/usr/bin/env bash
# Sentry's JavaScript SDK: after a limit for one category has ended, a later limit for all categories is not kept for it.
#
# "X-Sentry-Rate-Limits: 60::organization" (no category) means everything. Other categories keep to it; errors, which had a
# limit of their own of one second before, are sent on. A server that quiets a client has to name the categories.
set -euo pipefail
cd "$(mktemp -d)"
trap 'rm -rf "$PWD"' EXIT
npm init -y >/dev/null
npm install --no-audit --no-fund --silent --save-exact @sentry/node@11.12.0 >/dev/null
cat >try.mjs <<'JS'
import http from 'node:http';
import * as Sentry from '@sentry/node';

let limits = '';
let seen = [];
const server = http.createServer((request, response) => {
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk)).on('end', () => {
    seen.push(JSON.parse(Buffer.concat(chunks).toString().split('\n')[1]).type);
    response.writeHead(200, { 'x-sentry-rate-limits': limits }).end('{}');
  });
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
Sentry.init({ dsn: `http://key@127.0.0.1:${server.address().port}/1`, defaultIntegrations: false });
const sentBy = async (send) => {
  seen = [];
  send();
  await Sentry.flush(2_000);
  return seen.join();
};
const checkIn = () => Sentry.captureCheckIn({ monitorSlug: 'nightly', status: 'ok' });

limits = '1:error:organization';
await sentBy(() => Sentry.captureException(new Error('first')));
await new Promise((resolve) => setTimeout(resolve, 1_200));
limits = '60::organization';
await sentBy(checkIn);
const checkIns = await sentBy(checkIn);
const errors = await sentBy(() => Sentry.captureException(new Error('second')));
console.log(`within the limit for all: check-ins sent: ${checkIns || 'none'}; errors sent: ${errors || 'none'}`);
process.exit(checkIns === '' && errors === 'event' ? 0 : 1);
JS
echo "@sentry/node $(node -p "require('./package.json').dependencies['@sentry/node']")"
node try.mjs
