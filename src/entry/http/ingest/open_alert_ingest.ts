import type { FastifyInstance } from 'fastify';

import { type AlertAccess, createAlertAccess } from '#auth/alert_access.ts';
import type { BadKeyLimiter } from '#auth/bad_key_limiter.ts';
import { createExternalFetch } from '#auth/external_fetch.ts';
import type { AppContext } from '#entry/compose.ts';
import type { Config } from '#entry/config.ts';
import { externalFetchOptionsOf } from '#entry/external_fetch_options.ts';
import { AlertExchange } from '#entry/http/ingest/alert_exchange.ts';
import { mountAlertIngest } from '#entry/http/ingest/ingest_alerts.ts';
import type { IngestContext } from '#entry/http/ingest/ingest_context.ts';
import { recordSentDeploy } from '#entry/http/ingest/ingest_deploys.ts';
import { type AlertDoors, takeAlertRequest } from '#entry/http/ingest/take_alert_request.ts';
import { toAppError } from '#entry/http/problem.ts';
import { parseRawBodies } from '#entry/http/request_body.ts';
import type { SharedLimits } from '#entry/http/shared_limits.ts';
import { mailInDomainOf } from '#entry/installation.ts';
import { toListenFault } from '#entry/listen_fault.ts';
import { AlertBodies } from '#ingest/alert_bodies.ts';
import { AlertIntake } from '#ingest/alert_intake.ts';
import { checkInRefused } from '#ingest/check_in_intake.ts';
import type { IngestCounters } from '#ingest/ingest_counters.ts';
import { MAIL_BYTES_MAX, MAIL_ENDPOINT } from '#ingest/protocols/alerts/mail.ts';
import { listenForMail, type MailListener, type MailRecipient } from '#ingest/protocols/alerts/smtp.ts';
import { readCheckInRequest } from '#ingest/protocols/sentry/check_ins.ts';
import { RateLimiter } from '#ingest/rate_limiter.ts';
import { ConfigError } from '#kernel/config.ts';
import { AppError } from '#kernel/errors.ts';
import { newId } from '#kernel/ids.ts';
import { KeyedLimit } from '#kernel/keyed_limit.ts';
import type { Log } from '#kernel/log.ts';
import type { AlertTarget } from '#modules/alerts/store/alert_key_store.ts';
import { takeAlerts } from '#modules/alerts/take_alerts.ts';
import { isLockConflict, isUniqueViolation } from '#storage/postgres/faults.ts';

/** Bodies of alerts that are read at the same time; of one service fewer, so that its own wait for each other. */
const READING = { concurrency: 256, concurrencyPerKey: 64 };

/** Opens the way in for alerts of other tools. Closing the app first stores all that was accepted. */
export async function openAlertIngest(
  app: FastifyInstance,
  context: AppContext,
  { badKeys, checkIns, counters, refusedBytes, prefixes }: IngestContext,
  { openLimit }: SharedLimits,
): Promise<void> {
  const { db, clock, log, config, reachedLimits } = context;
  const incidentLimit = {
    incidents: config.incidentsPerService || Infinity,
    minutes: config.incidentsPerServiceMinutes,
  };
  const runtime = { db, clock, onOutbox: () => context.outbox.wake(), reachedLimits, incidentLimit };
  const intake = new AlertIntake({
    take: (sent) => takeAlerts(runtime, sent),
    mayRetry: (error) => isLockConflict(error) || isUniqueViolation(error),
    log,
  });
  const bodies = new AlertBodies();
  const rates = new RateLimiter({
    perSecond: config.ingestAlertsPerSecond,
    noun: 'alerts',
    limit: 'ingestAlertsPerSecond',
    openLimit,
  });
  const exchange = new AlertExchange({
    db,
    clock,
    log,
    intake,
    rates,
    counters,
    cipher: context.actions.cipher,
    fetchOutside: createExternalFetch(externalFetchOptionsOf(config)),
    takeHeartbeat: async (owner, name) => {
      const checkIn = readCheckInRequest(name, { status: 'ok' }, Buffer.alloc(0));
      if (checkIn === null) throw new AppError('invalid_input', 'the heartbeat has no name');
      const { taken, faults } = await checkIns.accept(owner, [checkIn], true);
      if (taken === 0) throw checkInRefused(faults);
    },
    recordDeploy: (owner, deploy, origin) => recordSentDeploy(context.actions, owner, deploy, origin),
  });
  const access = createAlertAccess(db, clock, log);
  const doors = { bodies, exchange, rates, reading: new KeyedLimit(READING), clock };
  const mail = openMailIngest(app, config, { ...doors, access, badKeys, counters, log });
  app.addHook('onClose', async () => {
    await mail.close();
    await intake.close();
    await bodies.close();
    await exchange.settled();
  });
  await app.register(async (scope) => {
    parseRawBodies(scope);
    const baseUrl = config.baseUrl.replace(/\/+$/, '');
    mountAlertIngest(scope, { ...doors, access, badKeys, counters, refusedBytes, log, baseUrl }, prefixes);
  });
}

interface MailIngestContext extends AlertDoors {
  readonly access: AlertAccess;
  readonly badKeys: BadKeyLimiter;
  readonly counters: IngestCounters;
  readonly log: Log;
}

/** Opens the port for alerts by mail once the app is ready, if there is one; the caller closes it. */
function openMailIngest(app: FastifyInstance, config: Config, context: MailIngestContext): { close(): Promise<void> } {
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
