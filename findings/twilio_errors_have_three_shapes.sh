#!/usr/bin/env bash
# twilio: an error has a numeric code, a text as its code, or none, by who answered.
#
# An answer of the API is a RestException with Twilio's number; one of a proxy before it (a page in HTML) is a RestException
# without any code; a broken connection is not Twilio's class at all, but one of its HTTP library with code 'ECONNRESET'.
# Code that decides by `code` or by `instanceof` alone takes an outage for a final refusal.
set -euo pipefail
cd "$(mktemp -d)"
trap 'rm -rf "$PWD"' EXIT
npm init -y >/dev/null
npm install --no-audit --no-fund --silent --save-exact twilio@6.2.0 >/dev/null
cat >try.mjs <<'JS'
import http from 'node:http';
import twilio from 'twilio';

async function shapeOf(answer) {
  const server = http.createServer((request, response) => request.resume().on('end', () => answer(response)));
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const client = twilio(`AC${'0'.repeat(32)}`, 'token');
  client.api.baseUrl = `http://127.0.0.1:${server.address().port}`;
  try {
    await client.messages.create({ to: '+15005550009', from: '+15005550006', body: 'page' });
    return 'sent';
  } catch (error) {
    return `${error.constructor.name} code ${typeof error.code} ${error.code}, status ${error.status}`;
  } finally {
    server.close();
  }
}
const json = { 'content-type': 'application/json' };
const seen = [
  await shapeOf((response) => response.writeHead(400, json).end('{"code":21211,"message":"invalid To","status":400}')),
  await shapeOf((response) => response.writeHead(503, { 'content-type': 'text/html' }).end('<html>busy</html>')),
  await shapeOf((response) => response.destroy()),
];
['the API', 'a proxy', 'nobody'].forEach((who, index) => console.log(`answered by ${who}: ${seen[index]}`));
const expected = [
  'RestException code number 21211, status 400',
  'RestException code undefined undefined, status 503',
  'AxiosError code string ECONNRESET, status undefined',
];
process.exit(JSON.stringify(seen) === JSON.stringify(expected) ? 0 : 1);
JS
echo "twilio $(node -p "require('./package.json').dependencies.twilio")"
node try.mjs
