/** `npm run demo`: a real error and a real metric page a phone, step by step, with latencies. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';

import { refuseArguments } from '#infra/usage.ts';
import { loadConfig } from '#entry/config.ts';

import { type Client, connect } from './client.ts';
import { findOrStartInstance } from './instance.ts';
import { heading, line, printTimeline } from './printing.ts';

const RESPONDER_PHONE = '+31612345678';
const THRESHOLD = 250;

if (process.argv[2] === 'self') {
  await (await import('./self/main.ts')).watchSelf(process.argv.slice(3));
  process.exit();
}
refuseArguments(
  `npm run demo: a real program throws and a real metric rises, and both page a simulated phone. It uses the Tocsin that runs on
DATA_DIR, or starts a temporary one. "npm run demo -- self" lets Tocsin watch itself.`,
);
if (!isInstalled('@sentry/node')) {
  process.stderr.write('The demo needs the development dependencies: run "npm ci" without --omit=dev.\n');
  process.exit(2);
}
heading('Tocsin, from an error to a phone');
const instance = await findOrStartInstance(loadConfig().dataDir);
try {
  line(`running at ${instance.baseUrl}, phones at ${instance.phoneUrl}`);
  await play(connect(instance));
  heading('Every step worked.');
} catch (error) {
  process.exitCode = 1;
  line(`The demo failed: ${error instanceof Error ? error.message : String(error)}`);
} finally {
  await instance.stop();
}

function isInstalled(name: string): boolean {
  try {
    return import.meta.resolve(name) !== '';
  } catch {
    return false;
  }
}

async function play(client: Client): Promise<void> {
  const setUp = await prepare(client);

  heading('A program throws; its Sentry SDK reports it');
  const thrownAt = performance.now();
  await runFailingProgram(setUp.dsn);
  const exceptionSms = await client.waitForSms(RESPONDER_PHONE, setUp.serviceName, 15_000);
  line(`SMS after ${since(thrownAt)} (the program itself included): ${exceptionSms.body}`);
  const exceptionIncident = await client.waitForIncident(setUp.serviceId, 'exception', 5_000);
  await client.reply(RESPONDER_PHONE, `ACK ${exceptionIncident.number}`);
  const acknowledged = await client.waitForStatus(exceptionIncident.incidentId, 'acknowledged', 5_000);
  line(`answered "ACK ${exceptionIncident.number}": the incident is ${acknowledged.status}`);

  heading(`A metric rises over ${THRESHOLD}`);
  const sentAt = performance.now();
  await client.sendMetric(setUp.ingestionKey, 'checkout.latency', THRESHOLD * 2);
  const metricIncident = await client.waitForIncident(setUp.serviceId, 'metric_threshold', 30_000);
  const metricSms = await client.waitForSms(RESPONDER_PHONE, `ACK ${metricIncident.number} `, 15_000);
  line(`SMS after ${since(sentAt)}: ${metricSms.body}`);
  await client.reply(RESPONDER_PHONE, `ACK ${metricIncident.number}`);
  await client.waitForStatus(metricIncident.incidentId, 'acknowledged', 5_000);
  line(`answered "ACK ${metricIncident.number}": the incident is acknowledged`);

  heading('What happened, as the incidents tell it');
  for (const { incidentId } of [exceptionIncident, metricIncident]) {
    printTimeline(await client.waitForDelivery(incidentId, 5_000));
  }
}

interface SetUp {
  readonly serviceId: string;
  readonly serviceName: string;
  readonly ingestionKey: string;
  readonly dsn: string;
}

async function prepare(client: Client): Promise<SetUp> {
  heading('A service, a team, a policy and two rules');
  const serviceName = `checkout-${Date.now().toString(36)}`;
  const service = await client.action<{ serviceId: string; ingestionKey: string; dsn: string }>('create_service', {
    name: serviceName,
  });
  const { serviceId } = service;
  for (const capability of ['metrics', 'exceptions', 'oncall']) {
    await client.action('enable_capability', { serviceId, capability });
  }
  line(`service ${serviceName} with metrics, exceptions and oncall`);
  const { teamId } = await client.action<{ teamId: string }>('create_team', { name: 'Demo team' });
  const userId = client.userId;
  await client.action('add_team_member', { teamId, userId, phone: RESPONDER_PHONE });
  line(`one responder, at ${RESPONDER_PHONE}`);
  const { policyId } = await client.action<{ policyId: string }>('create_escalation_policy', {
    teamId,
    name: 'SMS at once, call after one minute',
    steps: [
      { afterMinutes: 0, channels: ['sms'], targetUserIds: [userId] },
      { afterMinutes: 1, channels: ['call'], targetUserIds: [userId] },
    ],
  });
  line('policy: SMS at once, call after one minute');
  const rule = { serviceId, escalationPolicyId: policyId };
  await client.action('create_alert_rule', { ...rule, name: 'New exceptions', kind: 'exception', config: {} });
  const config = { metricName: 'checkout.latency', comparator: '>', threshold: THRESHOLD, windowMinutes: 1 };
  await client.action('create_alert_rule', { ...rule, name: 'Slow checkout', kind: 'metric_threshold', config });
  line(`rules: new exceptions; checkout.latency over ${THRESHOLD}`);
  return { serviceId, serviceName, ingestionKey: service.ingestionKey, dsn: service.dsn };
}

async function runFailingProgram(dsn: string): Promise<void> {
  const program = spawn(process.execPath, [path.join(import.meta.dirname, 'failing_program.ts')], {
    env: { ...process.env, SENTRY_DSN: dsn },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const [code] = (await once(program, 'exit')) as [number | null];
  if (code !== 0) throw new Error(`the failing program could not report its exception (status ${code})`);
}

function since(began: number): string {
  return `${Math.round(performance.now() - began)} ms`;
}
