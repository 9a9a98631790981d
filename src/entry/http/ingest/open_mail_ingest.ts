import { mailInDomainOf } from '#entry/installation.ts';
import type { FastifyInstance } from 'fastify';

import type { AlertAccess } from '#auth/alert_access.ts';
import type { BadKeyLimiter } from '#auth/bad_key_limiter.ts';
import type { Config } from '#entry/config.ts';
import { type AlertDoors, takeAlertRequest } from '#entry/http/ingest/take_alert_request.ts';
import { toAppError } from '#entry/http/problem.ts';
import { toListenFault } from '#entry/listen_fault.ts';
import type { IngestCounters } from '#ingest/ingest_counters.ts';
import { listenForMail, type MailListener, type MailRecipient } from '#ingest/protocols/alerts/smtp.ts';
import { MAIL_BYTES_MAX, MAIL_ENDPOINT } from '#ingest/protocols/alerts/mail.ts';
import { ConfigError } from '#kernel/config.ts';
import { newId } from '#kernel/ids.ts';
import type { Log } from '#kernel/log.ts';
import type { AlertTarget } from '#modules/alerts/store/alert_key_store.ts';

interface MailIngestContext extends AlertDoors {
  readonly access: AlertAccess;
  readonly badKeys: BadKeyLimiter;
  readonly counters: IngestCounters;
  readonly log: Log;
}

/** Opens the port for alerts by mail once the app is ready, if there is one; the caller closes it. */
export function openMailIngest(
  app: FastifyInstance,
  config: Config,
  context: MailIngestContext,
): { close(): Promise<void> } {
  const { mailInPort: port, mailInHost: host = config.host } = config;
  if (port === 0) return { close: async () => {} };
  const { access, badKeys, counters, exchange, log } = context;
  const open = async ({ key }: MailRecipient, address: string): Promise<AlertTarget> =>
    await badKeys.guard(address, () => access.open(key));
  const take = async (recipient: MailRecipient, bytes: Buffer, address: string): Promise<void> => {
    const target = await open(recipient, address);
    const path = recipient.name === '' ? {} : { name: recipient.name };
    const request = { method: 'POST', address: '', path, query: new URLSearchParams(), headers: {} };
    const origin = { requestId: newId('req'), address };
    try {
      const opened = { endpoint: MAIL_ENDPOINT, request, target, bytes, contentType: undefined, origin };
      await takeAlertRequest(context, opened);
    } catch (error) {
      const refusal = toAppError(error);
      counters.refusedRequests.add({ kind: 'alerts', code: refusal.code, serviceId: target.serviceId });
      exchange.noteRefusal(target, 'mail', refusal);
      throw error instanceof Error ? error : refusal;
    }
  };
  let listener: MailListener | null = null;
  app.addHook('onReady', async () => {
    const { mailInCertFile: certFile, mailInKeyFile: keyFile } = config;
    const tls = certFile === undefined || keyFile === undefined ? null : { certFile, keyFile };
    const domain = mailInDomainOf(config);
    try {
      listener = await listenForMail({
        host,
        port,
        domain,
        tls,
        bytesMax: MAIL_BYTES_MAX,
        check: async (recipient, address) => void (await open(recipient, address)),
        take,
        log,
      });
    } catch (error) {
      const fault = toListenFault(error, host, port, 'MAIL_IN_PORT');
      throw fault === null ? error : new ConfigError([fault.sentence]);
    }
    log.info({ host, port, domain }, 'listening for alerts by mail');
  });
  return { close: async () => await listener?.close() };
}
