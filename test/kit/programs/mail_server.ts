import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

import PostalMime, { type Email } from 'postal-mime';
import { SMTPServer } from 'smtp-server';

import { type Reusable, useInTurn } from '#test/kit/used_in_turn.ts';

/** A mail that arrived, as a mail program would read it. */
export type Mail = Email & { readonly recipients: readonly string[] };

type Stage = 'recipient' | 'data';

/** A double of a mail server. It accepts every mail unless a test says otherwise. */
export interface MailServer {
  /** Value of the setting SMTP_URL. */
  readonly url: string;
  readonly mails: readonly Mail[];
  readonly connections: number;
  /** Answers the next mails with this reply code, after the recipient or after the body, and with this text behind it. */
  refuse(code: number, stage?: Stage, times?: number, text?: string): void;
  /** Breaks the connection of the next mail instead of answering: after the recipient or after the body. */
  breakOff(stage: Stage): void;
  /** Requires a password, and rejects every password. */
  lock(): void;
  /** The links of a mail, by label. */
  linksOf(mail: Mail): Record<string, string>;
  /** Called by itself, unless it was started with `keepOpen`. */
  close(): Promise<void>;
}

/**
 * Starts a mail server. Within a test, the tests of a file use one server in turn, so that it always has the same
 * address.
 */
export async function startMailServer({ keepOpen = false } = {}): Promise<MailServer> {
  return keepOpen ? await openMailServer() : await useInTurn('mail server', openMailServer);
}

async function openMailServer(): Promise<MailServer & Reusable> {
  const mails: Mail[] = [];
  const refusals: { code: number; stage: Stage; text: string }[] = [];
  let breakAt: Stage | null = null;
  let isLocked = false;
  let connections = 0;

  const refusalAt = (stage: Stage): Error | null => {
    if (refusals[0]?.stage !== stage) return null;
    const { code = 0, text = '' } = refusals.shift() ?? {};
    return Object.assign(new Error(text), { responseCode: code });
  };
  const breakConnections = (): void => {
    breakAt = null;
    for (const connection of server.connections) (connection as unknown as { close(): void }).close();
  };
  const server: SMTPServer = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onConnect(_session, done) {
      connections += 1;
      done();
    },
    onAuth: (_auth, _session, done) => done(Object.assign(new Error('wrong password'), { responseCode: 535 })),
    onMailFrom: (_address, _session, done) =>
      done(isLocked ? Object.assign(new Error('authentication required'), { responseCode: 530 }) : null),
    onRcptTo(_address, _session, done) {
      if (breakAt === 'recipient') breakConnections();
      else done(refusalAt('recipient'));
    },
    onData(stream, session, done) {
      const keep = async (): Promise<void> => {
        const raw = await buffer(stream);
        const refusal = refusalAt('data');
        if (refusal !== null) return done(refusal);
        const recipients = session.envelope.rcptTo.map(({ address }) => address);
        mails.push({ ...(await PostalMime.parse(raw)), recipients });
        if (breakAt === 'data') breakConnections();
        return done();
      };
      // A sender that breaks off has sent no mail.
      keep().catch(() => {});
    },
  });
  server.on('error', () => {});
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  const close = () => new Promise<void>((resolve) => server.close(() => resolve()));

  return {
    url: `smtp://127.0.0.1:${(server.server.address() as AddressInfo).port}`,
    mails,
    get connections() {
      return connections;
    },
    refuse(code, stage = 'recipient', times = 1, text = `refused with ${code}`) {
      for (let time = 0; time < times; time += 1) refusals.push({ code, stage, text });
    },
    breakOff(stage) {
      breakAt = stage;
    },
    lock() {
      isLocked = true;
    },
    linksOf: (mail) =>
      Object.fromEntries(
        [...(mail.text ?? '').matchAll(/^(.+): (https?:\S+)$/gm)].map(([, label, url]) => [label, url]),
      ),
    async renew() {
      mails.length = 0;
      refusals.length = 0;
      breakAt = null;
      isLocked = false;
      connections = 0;
      return true;
    },
    close,
  };
}
