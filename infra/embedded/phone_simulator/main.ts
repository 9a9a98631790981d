import { Socket } from 'node:net';

import { startPhone } from './phone.ts';

/** Slow enough for people to see the steps of a message. */
const DELAY_MS = 150;

function required(name: string): string {
  const value = process.env[name];
  if (value === undefined || value === '') throw new Error(`${name} is not set`);
  return value;
}

const callbackOrigin = process.env['PHONE_CALLBACK_ORIGIN'];

const phone = await startPhone({
  port: process.env['PHONE_PORT'] === 'none' ? null : Number(process.env['PHONE_PORT'] ?? 0),
  accountSid: required('PHONE_ACCOUNT_SID'),
  authToken: required('PHONE_AUTH_TOKEN'),
  token: required('PHONE_TOKEN'),
  numbers: [{ e164: required('PHONE_NUMBER'), smsUrl: required('PHONE_SMS_URL') }],
  delayMs: Number(process.env['PHONE_DELAY_MS'] ?? DELAY_MS),
  ...(callbackOrigin && { publicUrlRewrite: (url) => atOrigin(url, callbackOrigin) }),
});

process.on('message', (_message, connection) => {
  if (connection instanceof Socket) phone.take(connection);
});
process.once('SIGTERM', stop);
process.once('SIGINT', stop);
process.once('disconnect', stop);
if (process.send) process.send({ ready: true, url: phone.url });
else process.stdout.write(`phone simulator: ${phone.url}\n`);

function stop(): void {
  void phone.close().then(() => process.exit(0));
}

/** The same path at another origin: where the product listens on this machine, whatever its public address is. */
function atOrigin(url: string, origin: string): string {
  const { pathname, search } = new URL(url);
  return `${origin}${pathname}${search}`;
}
