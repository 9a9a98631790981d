import { readFile } from 'node:fs/promises';

import type { SMTPServerAddress, SMTPServerSession } from 'smtp-server';

import { networkOf } from '#kernel/ip_address.ts';
import type { Log } from '#kernel/log.ts';
import { AppError, type ErrorCode, messageOf } from '#kernel/errors.ts';
import { waitForAll } from '#kernel/promises.ts';

/** Address of a source: an alert key and, after a plus sign, the name of the source. */
export interface MailRecipient {
  readonly key: string;
  /** Empty for the only source. */
  readonly name: string;
}

interface MailListenerOptions {
  readonly host: string;
  /** Port to listen on; 0 for any free one. */
  readonly port: number;
  /** Domain of the addresses; mails for any other are refused. */
  readonly domain: string;
  /** Files with the certificate and its key (PEM) for STARTTLS; null for none. */
  readonly tls: { readonly certFile: string; readonly keyFile: string } | null;
  /** Size of a mail at most, in bytes. */
  readonly bytesMax: number;
  /** Checks the key of an address; throws as over HTTP. */
  readonly check: (recipient: MailRecipient, address: string) => Promise<void>;
  /** Returns once the mail is stored durably, or is about nothing; throws as over HTTP. */
  readonly take: (recipient: MailRecipient, mail: Buffer, address: string) => Promise<void>;
  readonly log: Log;
}

export interface MailListener {
  readonly port: number;
  /** Takes nothing more; what is being taken is stored first. */
  close(): Promise<void>;
}

const CONNECTIONS_MAX = 50;
const CONNECTIONS_OF_NETWORK_MAX = 10;
const RECIPIENTS_MAX = 10;
const SILENCE_MS_MAX = 60_000;
/** A session that sends a byte now and then must not keep its place. */
const SESSION_MS_MAX = 300_000;
const CLOSE_MS_MAX = 10_000;

/** Refusals that are final for a mail server, with their enhanced status codes; it tries any other again. */
const FINAL: Readonly<Partial<Record<ErrorCode, readonly [code: number, status: string]>>> = {
  unauthenticated: [550, '5.1.1'],
  forbidden: [550, '5.7.1'],
  not_found: [550, '5.1.1'],
  invalid_input: [554, '5.6.0'],
  payload_too_large: [552, '5.3.4'],
  unsupported_media_type: [554, '5.6.0'],
};

/** Listens for mails with alerts. It delivers nothing elsewhere, and asks for no password: the address is the key. */
export async function listenForMail(options: MailListenerOptions): Promise<MailListener> {
  const { host, port, domain, tls, bytesMax, check, take, log } = options;
  const { SMTPServer } = await import('smtp-server');
  const networks = new Map<string, number>();
  /** Open sessions, the oldest first. */
  const sessions = new Map<string, { readonly timer: NodeJS.Timeout; hasKey: boolean }>();
  const underWay = new Set<Promise<unknown>>();
  const certificate = tls === null ? null : { cert: await readFile(tls.certFile), key: await readFile(tls.keyFile) };

  const forget = (id: string): boolean => {
    clearTimeout(sessions.get(id)?.timer);
    return sessions.delete(id);
  };

  const replyTo = async (work: Promise<void>): Promise<Error | null> => {
    try {
      await work;
      return null;
    } catch (error) {
      return toReply(error, log);
    }
  };
  const answer = async (work: Promise<void>, done: (error?: Error | null) => void): Promise<void> => {
    const answered = replyTo(work);
    underWay.add(answered);
    const refusal = await answered;
    underWay.delete(answered);
    done(refusal);
  };

  const server = new SMTPServer({
    name: domain,
    banner: 'alerts only',
    size: bytesMax,
    authOptional: true,
    disabledCommands: ['AUTH', ...(certificate === null ? ['STARTTLS'] : [])],
    disableReverseLookup: true,
    hideSMTPUTF8: true,
    // A session that is closed to make room takes a moment to end.
    maxClients: CONNECTIONS_MAX + CONNECTIONS_OF_NETWORK_MAX,
    socketTimeout: SILENCE_MS_MAX,
    closeTimeout: CLOSE_MS_MAX,
    ...certificate,
    onConnect(session, done) {
      const network = networkOf(session.remoteAddress);
      const open = networks.get(network) ?? 0;
      if (open >= CONNECTIONS_OF_NETWORK_MAX) {
        done(reply(421, '4.7.0', 'too many connections from this network; try again later'));
        return;
      }
      if (sessions.size >= CONNECTIONS_MAX) {
        const [oldest] = [...sessions].find(([, { hasKey }]) => !hasKey) ?? [];
        if (oldest === undefined) {
          done(reply(421, '4.7.0', 'too many connections; try again later'));
          return;
        }
        endSession(oldest);
      }
      networks.set(network, open + 1);
      const timer = setTimeout(() => endSession(session.id), SESSION_MS_MAX).unref();
      sessions.set(session.id, { timer, hasKey: false });
      done();
    },
    onClose(session) {
      if (!forget(session.id)) return;
      const network = networkOf(session.remoteAddress);
      const open = (networks.get(network) ?? 1) - 1;
      if (open === 0) networks.delete(network);
      else networks.set(network, open);
    },
    onRcptTo(to, session, done) {
      if (session.envelope.rcptTo.length >= RECIPIENTS_MAX) {
        done(reply(452, '4.5.3', `at most ${RECIPIENTS_MAX} recipients; send the mail to the others by itself`));
        return;
      }
      const recipient = recipientOf(to, domain);
      if (recipient === null)
        done(reply(550, '5.1.1', 'no such address; it is an alert key at the domain of this server'));
      else void answer(checkKey(recipient, session), done);
    },
    onData(stream, session, done) {
      const chunks: Buffer[] = [];
      let size = 0;
      stream.on('data', (chunk: Buffer) => {
        size += chunk.length;
        if (size <= bytesMax) chunks.push(chunk);
      });
      stream.once('end', () => {
        if (stream.sizeExceeded || size > bytesMax) {
          done(reply(552, '5.3.4', 'the mail is too large; send it without files'));
          return;
        }
        void answer(takeForAll(session, Buffer.concat(chunks)), done);
      });
    },
  });
  server.on('error', (error) => log.debug({ err: messageOf(error) }, 'a connection for mail ended with an error'));

  const takeForAll = async (session: SMTPServerSession, mail: Buffer): Promise<void> => {
    const recipients = session.envelope.rcptTo.flatMap((to) => recipientOf(to, domain) ?? []);
    const taken = await Promise.allSettled(recipients.map((recipient) => take(recipient, mail, session.remoteAddress)));
    const errors = taken.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason as unknown] : []));
    const passing = errors.find((error) => !(error instanceof AppError) || FINAL[error.code] === undefined);
    // Recipients for whom it was taken get it again, which counts as a repetition.
    if (passing !== undefined) throw passing;
    if (errors.length === taken.length) throw errors[0];
  };
  const checkKey = async (recipient: MailRecipient, { id, remoteAddress }: SMTPServerSession): Promise<void> => {
    await check(recipient, remoteAddress);
    const session = sessions.get(id);
    if (session !== undefined) session.hasKey = true;
  };
  const endSession = (id: string): void => {
    for (const connection of server.connections) if (connection.id === id) connection.close();
  };

  await new Promise<void>((resolve, reject) => {
    server.server.once('error', reject);
    server.listen(port, host, () => {
      server.server.off('error', reject);
      resolve();
    });
  });
  const bound = server.server.address();
  return {
    port: typeof bound === 'object' ? (bound?.port ?? port) : port,
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      await waitForAll([closed, ...underWay]);
      for (const { timer } of sessions.values()) clearTimeout(timer);
    },
  };
}

/** Reads an address: `KEY@domain` or `KEY+name@domain`; null for any other. */
function recipientOf({ address }: Pick<SMTPServerAddress, 'address'>, domain: string): MailRecipient | null {
  const at = address.lastIndexOf('@');
  if (address.slice(at + 1).toLowerCase() !== domain.toLowerCase()) return null;
  const [, key, name = ''] = /^([a-z0-9]{32})(?:\+([\w.-]{1,31}))?$/.exec(address.slice(0, at).toLowerCase()) ?? [];
  return key === undefined ? null : { key, name };
}

function toReply(error: unknown, log: Log): Error {
  if (!(error instanceof AppError)) {
    log.error({ err: error }, 'failed to take a mail');
    return reply(451, '4.3.0', 'something went wrong on our side; try again later');
  }
  const [code, status] = FINAL[error.code] ?? [451, error.code === 'rate_limited' ? '4.7.0' : '4.3.0'];
  return reply(code, status, error.message);
}

function reply(responseCode: number, status: string, message: string): Error {
  const line = message.replaceAll(/[^\x20-\x7E]+/g, ' ').slice(0, 300);
  return Object.assign(new Error(`${status} ${line}`), { responseCode });
}
