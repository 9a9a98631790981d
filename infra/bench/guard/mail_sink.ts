import { once } from 'node:events';
import type { AddressInfo } from 'node:net';

import { SMTPServer } from 'smtp-server';

export interface MailSink {
  /** Value for the setting SMTP_URL. */
  readonly url: string;
  /** Times at which mails arrived, in milliseconds since 1970. */
  readonly arrivedAtMs: readonly number[];
  close(): void;
}

/** A mail server that takes everything. */
export async function openMailSink(): Promise<MailSink> {
  const arrivedAtMs: number[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onData(stream, _session, done) {
      stream.resume();
      stream.once('end', () => {
        arrivedAtMs.push(Date.now());
        done();
      });
    },
  });
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  const { port } = server.server.address() as AddressInfo;
  return { url: `smtp://127.0.0.1:${port}`, arrivedAtMs, close: () => server.close() };
}
