#!/usr/bin/env bash
# web-push: a payload of any size is encrypted and sent; push services need take only 4,096 bytes of the body.
#
# RFC 8291 allows one record of 4,096 bytes, which leaves 3,993 for the text. One byte more is no error here, where it
# could be shortened, but 413 of the service much later, and the message is gone.
set -euo pipefail
cd "$(mktemp -d)"
trap 'rm -rf "$PWD"' EXIT
npm init -y >/dev/null
npm install --no-audit --no-fund --silent --save-exact web-push@3.6.7 >/dev/null
cat >try.mjs <<'JS'
import { createECDH, randomBytes } from 'node:crypto';
import webpush from 'web-push';

const browser = createECDH('prime256v1');
browser.generateKeys();
const keys = { p256dh: browser.getPublicKey('base64url'), auth: randomBytes(16).toString('base64url') };
const { publicKey, privateKey } = webpush.generateVAPIDKeys();
webpush.setVapidDetails('mailto:ops@example.com', publicKey, privateKey);
const bodyOf = (length) =>
  webpush.generateRequestDetails({ endpoint: 'https://push.example/1', keys }, 'x'.repeat(length)).body.length;
const seen = [3_993, 3_994].map((length) => [length, bodyOf(length)]);
for (const [length, body] of seen) console.log(`text of ${length} bytes: body of ${body} bytes`);
process.exit(seen[0][1] === 4_096 && seen[1][1] > 4_096 ? 0 : 1);
JS
echo "web-push $(node -p "require('web-push/package.json').version")"
node try.mjs
