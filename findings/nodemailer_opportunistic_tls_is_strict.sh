#!/usr/bin/env bash
# nodemailer: STARTTLS that nobody asked for fails on a certificate that nobody signed, and looks like a network fault.
#
# A mail server such as Debian's Postfix offers STARTTLS with a self-made certificate; other senders encrypt without
# checking when encryption is opportunistic (RFC 7435). Here the same message passes in plain text when the server offers
# no STARTTLS, and is not sent when it does: code ESOCKET, no reply code, as when the server cannot be reached.
set -euo pipefail
cd "$(mktemp -d)"
trap 'rm -rf "$PWD"' EXIT
npm init -y >/dev/null
npm install --no-audit --no-fund --silent --save-exact nodemailer@10.6.0 smtp-server@3.21.6 >/dev/null
openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 30 -subj /CN=localhost \
  -addext 'subjectAltName=DNS:localhost,IP:127.0.0.1' 2>/dev/null
cat >try.mjs <<'JS'
import { readFileSync } from 'node:fs';
import nodemailer from 'nodemailer';
import { SMTPServer } from 'smtp-server';

async function send(options) {
  const server = new SMTPServer({ authOptional: true, key: readFileSync('key.pem'), cert: readFileSync('cert.pem'), ...options });
  server.on('error', () => {});
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const transport = nodemailer.createTransport({ host: '127.0.0.1', port: server.server.address().port });
  try {
    await transport.sendMail({ from: 'a@example.com', to: 'b@example.com', text: 'page' });
    return 'sent';
  } catch (error) {
    return `${error.code} ${error.responseCode}: ${error.message}`;
  } finally {
    server.close();
  }
}
const [plain, offered] = [await send({ disabledCommands: ['STARTTLS'] }), await send({})];
console.log(`no STARTTLS: ${plain}`);
console.log(`STARTTLS with a self-made certificate: ${offered}`);
process.exit(plain === 'sent' && offered.startsWith('ESOCKET undefined') ? 0 : 1);
JS
echo "nodemailer $(node -p "require('nodemailer/package.json').version")"
node try.mjs
