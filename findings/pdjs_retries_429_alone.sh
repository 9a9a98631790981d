#!/usr/bin/env bash
# @pagerduty/pdjs 2.2.4: an alert answered 503 is given up at once; only 429 is tried again.
#
# The client counts tries and waits between them, but for 429 alone. A server that is overloaded or being deployed, and
# says so with 503, loses the alert, although the same program would have sent it again a moment later had it been told
# 429. An intake of alerts that wants this client to come back answers 429 for every passing fault.
set -euo pipefail
cd "$(mktemp -d)"
trap 'rm -rf "$PWD"' EXIT
npm init -y >/dev/null
npm install --no-audit --no-fund --silent --save-exact @pagerduty/pdjs@2.2.4 >/dev/null
openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1 \
  -keyout key.pem -out cert.pem 2>/dev/null # the client speaks https alone
cat >try.cjs <<'JS'
const { readFileSync } = require('node:fs');
const https = require('node:https');
const { event } = require('@pagerduty/pdjs');

async function triesWhenAnswered(status) {
  let tries = 0;
  const certificate = { key: readFileSync('key.pem'), cert: readFileSync('cert.pem') };
  const server = https.createServer(certificate, (request, response) => {
    request.resume();
    request.on('end', () => {
      tries += 1;
      const answer = tries === 1 ? status : 202;
      response.writeHead(answer, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ status: answer === 202 ? 'success' : 'later', dedup_key: 'a' }));
    });
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { status: last } = await event({
    server: `127.0.0.1:${server.address().port}`,
    retryTimeout: 200,
    data: {
      routing_key: 'r'.repeat(32),
      event_action: 'trigger',
      payload: { summary: 'Disk full', source: 'db-1', severity: 'error' },
    },
  }).catch((error) => ({ status: error.message }));
  server.close();
  return { tries, last };
}

(async () => {
  const [limited, away] = [await triesWhenAnswered(429), await triesWhenAnswered(503)];
  console.log(`429 once: ${limited.tries} tries, last answer ${limited.last}`);
  console.log(`503 once: ${away.tries} try, last answer ${away.last}`);
  process.exit(limited.tries === 2 && away.tries === 1 ? 0 : 1);
})();
JS
echo "@pagerduty/pdjs $(node -p "require('./package.json').dependencies['@pagerduty/pdjs']")"
NODE_EXTRA_CA_CERTS=cert.pem node try.cjs
