import { readFileSync } from 'node:fs';
import { Transform } from 'node:stream';
import tls from 'node:tls';

import { optionalText, optionalUrl, type ValuesOf } from '#kernel/config.ts';
import { certificateFault, isEncryptionMismatch } from '#kernel/errors.ts';
import { currentCheck, HeldBackError } from '#kernel/held_request.ts';
import { OWN_MAIL_HEADER } from '#modules/alerts/decide/mail_alert.ts';
import type { Delivery } from '#notify/channel.ts';
import type { MailText } from '#notify/mail/mail_pieces.ts';

/** The server by which mail goes out: pages, and mail to people about their accounts. */
export const MAIL_SETTINGS = {
  smtpUrl: optionalUrl('SMTP_URL', ['smtp', 'smtps'], 'mail server', { isSecret: true }),
  mailFrom: optionalText('MAIL_FROM', '^.+@.+$', 'a mail address', 'sender of mail; required with `SMTP_URL`', {
    requiredWith: 'SMTP_URL',
  }),
  smtpCaFile: optionalText(
    'SMTP_CA_FILE',
    '.',
    'a path',
    'file with the authority (PEM) that signed the certificate of the mail server, or with that certificate itself',
    { unset: 'those of Node' },
  ),
};

/** Returns the mail server; null if none is configured. */
export function mailServerOf({
  smtpUrl: url,
  mailFrom: from,
  smtpCaFile,
}: ValuesOf<typeof MAIL_SETTINGS>): MailServer | null {
  if (url === undefined || from === undefined) return null;
  return { url, from, ca: smtpCaFile === undefined ? null : readFileSync(smtpCaFile, 'utf8') };
}

const GOOD_FOR_MS = 5 * 60_000;

/** Returns what tells why no mail would ever leave, or null. It asks the server when it has not done so for five minutes. */
export function rememberMailFault(server: MailServer | null): () => Promise<string | null> {
  let asked: { readonly atMs: number; readonly fault: Promise<string | null> } | null = null;
  return async () => {
    if (server === null) return null;
    const atMs = performance.now();
    if (asked === null || atMs - asked.atMs > GOOD_FOR_MS) asked = { atMs, fault: findMailFault(server) };
    return await asked.fault;
  };
}

export interface MailServer {
  /** Address `smtp://…` or `smtps://…`, with user and password if the server asks for them. */
  readonly url: string;
  /** Sender as in From: an address, or a name with one. */
  readonly from: string;
  /** Certificates (PEM) of the authority that signed the server's; null for those of Node. */
  readonly ca: string | null;
}

/** Mail to one person. */
interface Mail extends MailText {
  readonly to: string;
  readonly messageId: string;
  readonly inReplyTo?: string;
  readonly references?: string;
  readonly priority: 'high' | 'normal';
  /** Address that takes the reader off the list with one click (RFC 8058); absent for mail that is on no list. */
  readonly unsubscribeUrl?: string;
}

const SMTP_PORT = 587;
const CONNECT_TIMEOUT_MS = 5_000;
/** Timeout for the whole SMTP conversation; many servers scan a mail before they accept it. */
const SEND_TIMEOUT_MS = 20_000;

export function messageIdOf(id: string, host: string): string {
  return `<${id}@${host}>`;
}

/** Loads the library, so that the first mail need not wait for it. */
export const loadMailLibrary = async () => await import('nodemailer');

async function connect(server: MailServer) {
  const { createTransport } = await loadMailLibrary();
  return createTransport({
    url: server.url,
    connectionTimeout: CONNECT_TIMEOUT_MS,
    greetingTimeout: CONNECT_TIMEOUT_MS,
    socketTimeout: SEND_TIMEOUT_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
    ...(server.ca !== null && { tls: { ca: server.ca } }),
  });
}

/**
 * Connects, and signs in where the address has a password. Returns the reason why no mail would ever leave; null when it
 * would, or when the server is away for now.
 */
export async function findMailFault(server: MailServer): Promise<string | null> {
  const transport = await connect(server);
  try {
    await transport.verify();
    return null;
  } catch (error) {
    const delivery = await deliveryOf(error, server, false);
    return delivery.kind === 'rejected' ? delivery.reason : null;
  } finally {
    transport.close();
  }
}

/**
 * Hands a mail to the server, over a connection of its own. Within `whileMayLeave`, throws HeldBackError if it may not
 * leave once the server has all but its end.
 */
export async function sendMail(server: MailServer, { to, unsubscribeUrl, ...mail }: Mail): Promise<Delivery> {
  const mayLeave = currentCheck();
  const transport = await connect(server);
  let hasLeft: boolean | null = null;
  transport.use('stream', ({ message }, done) => {
    const flush = (end: (error?: Error) => void): void => {
      hasLeft = mayLeave();
      end(hasLeft ? undefined : new HeldBackError());
    };
    message.processFunc((whole) =>
      whole.pipe(new Transform({ transform: (chunk, _, next) => next(null, chunk), flush })),
    );
    done();
  });
  try {
    const sent = await transport.sendMail({
      ...mail,
      from: server.from,
      to: { name: '', address: to },
      headers: {
        'Auto-Submitted': 'auto-generated',
        [OWN_MAIL_HEADER]: '1',
        ...(unsubscribeUrl !== undefined && {
          'List-Unsubscribe': `<${unsubscribeUrl}>`,
          'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
        }),
      },
      signal: AbortSignal.timeout(SEND_TIMEOUT_MS),
    });
    return { kind: 'accepted', providerId: sent.messageId };
  } catch (error) {
    if (hasLeft === false) throw new HeldBackError();
    return await deliveryOf(error, server, hasLeft ?? false);
  }
}

/** Returns the delivery for an error; a server that never greeted may wait for the encryption that `smtps://` begins with. */
async function deliveryOf(error: unknown, { url }: MailServer, hasLeft: boolean): Promise<Delivery> {
  const delivery = deliveryOfError(error, hasLeft);
  const { command, code } = error as Readonly<Record<string, unknown>>;
  const isSilent = command === 'CONN' && (code === 'ETIMEDOUT' || code === 'ECONNECTION');
  if (delivery.kind !== 'retry' || !isSilent || new URL(url).protocol !== 'smtp:') return delivery;
  return (await isEncryptedAtOnce(url)) ? { kind: 'rejected', reason: 'provider_encryption_differs' } : delivery;
}

/** Whether the server speaks TLS from the first byte, by whatever certificate. */
async function isEncryptedAtOnce(url: string): Promise<boolean> {
  const { hostname, port } = new URL(url);
  const socket = tls.connect({
    host: hostname.replaceAll(/[[\]]/g, ''),
    port: Number(port || SMTP_PORT),
    rejectUnauthorized: false,
    timeout: CONNECT_TIMEOUT_MS,
  });
  const isEncrypted = await new Promise<boolean>((resolve) => {
    socket.once('secureConnect', () => resolve(true));
    for (const event of ['error', 'timeout', 'close']) socket.once(event, () => resolve(false));
  });
  socket.on('error', () => {});
  socket.destroy();
  return isEncrypted;
}

/**
 * Returns the delivery for an error, by the server's reply code, since the library calls 550 and 451 by the same name
 * (RFC 5321 §4.2.1).
 */
function deliveryOfError(error: unknown, hasLeft: boolean): Delivery {
  const { responseCode, code, command, response } = error as Readonly<Record<string, unknown>>;
  if (typeof responseCode === 'number' && responseCode >= 400) {
    if (responseCode < 500) return { kind: 'retry', reason: 'provider_busy' };
    if (code === 'EAUTH') return { kind: 'rejected', reason: 'provider_refused_credentials' };
    return {
      kind: 'rejected',
      reason: code === 'ETLS' ? 'provider_without_encryption' : reasonOf(responseCode, { command, response }),
    };
  }
  const certificate = certificateFault(error);
  if (certificate !== null) return { kind: 'rejected', reason: `provider_certificate_${certificate}` };
  if (isEncryptionMismatch(error)) return { kind: 'rejected', reason: 'provider_encryption_differs' };
  if (hasLeft) return { kind: 'uncertain', reason: 'provider_silent' };
  return { kind: 'retry', reason: 'provider_unreachable' };
}

const ABOUT_ADDRESS: ReadonlySet<number> = new Set([550, 551, 553, 554]);

/** Servers use one code for addresses that do not exist and for what they pass on for nobody: RFC 3463 tells them apart. */
function reasonOf(responseCode: number, { command, response }: { command: unknown; response: unknown }): string {
  const [, subject] = /^\d{3}[ -]5\.(\d{1,3}\.\d{1,3})\b/.exec(String(response)) ?? [];
  const isAboutSender =
    command === 'MAIL FROM' || subject?.startsWith('7.') === true || /^1\.[78]$/.test(subject ?? '');
  if (ABOUT_ADDRESS.has(responseCode) && isAboutSender) return 'provider_refuses_mail';
  if (responseCode === 552 || subject === '2.2') return 'mailbox_full';
  if (ABOUT_ADDRESS.has(responseCode) && (responseCode !== 554 || subject?.startsWith('1.'))) return 'bad_address';
  return `provider_refused_${responseCode}`;
}

/** Returns the address of a sender: `Tocsin <tocsin@example.com>` has it between its brackets. */
export function addressIn(from: string): string {
  return /<([^>]+)>\s*$/.exec(from)?.[1] ?? from;
}
