import { useSmallBufferPool } from '#entry/memory/memory.ts';
import { type AppContext, compose } from '#entry/compose.ts';
import { ensureFirstRun, forgetSimulatedNumbers, warnOfNoOrganization } from '#entry/first_run.ts';
import { buildApp } from '#entry/http/app.ts';
import { toListenFault } from '#entry/listen_fault.ts';
import { releaseMemoryWhenIdle } from '#entry/memory/idle_memory.ts';
import { createLogger } from '#entry/logger.ts';
import { awaitStores, runProgram, takePort } from '#entry/program.ts';
import { linksFault, loadConfig, requireStores } from './config.ts';
import { openTracing } from '#entry/tracing.ts';
import { onStop } from '#entry/stop.ts';
import { ConfigError } from '#kernel/config.ts';
import { retryWhileUnavailable } from '#kernel/promises.ts';
import { reasonOf } from '#modules/incidents/decide/reasons.ts';
import { findOldRules, readTimeZoneRules } from '#entry/time_zone_rules.ts';

/** Logs problems that would keep pages from being sent, before one has to be. */
async function warnOfDelivery({ actions, log }: Pick<AppContext, 'actions' | 'log'>): Promise<void> {
  const { installation } = actions;
  const oldRules = findOldRules(readTimeZoneRules());
  if (oldRules !== null) log.warn({}, oldRules);
  if (!installation.hasPushContact) {
    log.warn(
      {},
      'push messages name no contact of this server, and push services such as that of Apple may refuse them: set MAIL_FROM, or BASE_URL to a public https address',
    );
  }
  const fault = await installation.findMailFault();
  if (fault !== null) log.warn({ reason: fault }, `no mail leaves: ${reasonOf(fault)}`);
}

/** Runs the API process, which takes requests, writes them to the database, and enqueues the rest. */
useSmallBufferPool();
await runProgram(async () => {
  const config = requireStores(loadConfig());
  const linkFault = linksFault();
  if (linkFault !== null) throw new ConfigError([linkFault]);
  await awaitStores(config, { listens: true, needsClickHouse: false });
  const log = createLogger(config, 'api');
  const tracing = await openTracing('api', log);
  const context = await compose(config, { log });
  // With several processes, none of them writes a password to a file.
  const isAlone = process.send !== undefined;
  const firstRun = isAlone || config.firstOwnerEmail !== undefined ? ensureFirstRun : warnOfNoOrganization;
  const prepare = async (): Promise<void> => {
    await firstRun(context);
    await forgetSimulatedNumbers(context);
  };
  await retryWhileUnavailable(prepare, {
    pauseMs: 200,
    timeoutMs: 30_000,
    onFailure: (err) => log.warn({ err }, 'a store does not answer; waiting for it'),
  });
  const app = await buildApp(context);
  const { host, port } = config;
  await takePort();
  await app.listen({ host, port }).catch((error: unknown) => {
    const fault = toListenFault(error, host, port);
    throw fault === null ? error : new ConfigError([fault.sentence]);
  });
  log.info({ host, port }, 'the API is listening');
  releaseMemoryWhenIdle();
  void warnOfDelivery(context);
  context.newSeries.watch();
  process.send?.({ ready: true, url: config.baseUrl });

  const stoppables = [
    { name: 'requests', stop: async () => app.close() },
    { name: 'connections to the stores', stop: () => context.close() },
    { name: 'traces', stop: () => tracing.close() },
  ];
  onStop(log, stoppables, config.stopSeconds * 1_000);
});
