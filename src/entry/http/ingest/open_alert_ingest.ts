import type { FastifyInstance } from 'fastify';

import { createAlertAccess } from '#auth/alert_access.ts';
import { createExternalFetch } from '#auth/external_fetch.ts';
import type { AppContext } from '#entry/compose.ts';
import { AlertExchange } from '#entry/http/ingest/alert_exchange.ts';
import { openMailIngest } from '#entry/http/ingest/open_mail_ingest.ts';
import { mountAlertIngest } from '#entry/http/ingest/ingest_alerts.ts';
import type { IngestContext } from '#entry/http/ingest/ingest_context.ts';
import { recordSentDeploy } from '#entry/http/ingest/ingest_deploys.ts';
import { externalFetchOptionsOf } from '#entry/external_fetch_options.ts';
import { parseRawBodies } from '#entry/http/raw_body.ts';
import type { SharedLimits } from '#entry/http/shared_limits.ts';
import { takeAlerts } from '#modules/alerts/take_alerts.ts';
import { AlertBodies } from '#ingest/alert_bodies.ts';
import { AlertIntake } from '#ingest/alert_intake.ts';
import { checkInRefused } from '#ingest/check_in_intake.ts';
import { readCheckInRequest } from '#ingest/protocols/sentry/check_ins.ts';
import { RateLimiter } from '#ingest/rate_limiter.ts';
import { AppError } from '#kernel/errors.ts';
import { KeyedLimit } from '#kernel/keyed_limit.ts';
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
