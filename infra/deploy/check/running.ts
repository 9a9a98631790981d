import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import http from 'node:http';
import { text } from 'node:stream/consumers';

import { firstRunFile, writeRunningFile } from '#infra/embedded/installation_files.ts';
import type { Engine } from './engine.ts';
import { execute } from './execute.ts';
import { type Report, seconds } from './report.ts';
import { isReady, type Stack, waitUntil } from './stack.ts';
import { EVENTS_PER_SECOND, POINTS_PER_SECOND, sendTraffic, type Target } from './traffic.ts';

const ROOT = path.resolve(import.meta.dirname, '../../..');
const PROCESSES = ['api', 'worker', 'pager'] as const;
const STORES = ['postgres', 'redis', 'clickhouse'] as const;

/** Brings everything up, as the guide says. */
export async function bringUp({ compose, baseUrl }: Stack, report: Report): Promise<void> {
  const began = performance.now();
  await compose(['up', '-d', '--no-build'], 150);
  await waitUntil('the API is ready', 60, () => isReady(baseUrl));
  report.figure('compose, from nothing to ready', seconds(began));
}

/** Checks the users of the containers, and their rights. */
export async function checkContainers({ docker }: Engine, stack: Stack, report: Report): Promise<void> {
  const faults: string[] = [];
  for (const service of PROCESSES) {
    const containers = await stack.containers(service);
    const expected = service === 'worker' ? 2 : 1;
    if (containers.length !== expected) faults.push(`${containers.length} ${service} instead of ${expected}`);
    const [container = ''] = containers;
    const shell =
      'id -u; grep -E "^(CapEff|NoNewPrivs)" /proc/1/status; touch /app/x 2>&1; env | grep -c "postgres://"';
    const { stdout } = await stack.tryCompose(['exec', '-T', service, 'sh', '-c', shell]);
    if (!stdout.startsWith('10001\n')) faults.push(`${service} runs as another user: ${stdout.split('\n')[0]}`);
    if (!/CapEff:\s*0+\n/.test(stdout)) faults.push(`${service} has capabilities`);
    if (!/NoNewPrivs:\s*1/.test(stdout)) faults.push(`${service} may gain privileges`);
    if (!stdout.includes('Read-only file system')) faults.push(`${service} can write to the image`);
    if (!/\n0\s*$/.test(stdout)) faults.push(`${service} has a secret in its environment`);
    const logs = await docker(['logs', '--tail', '200', container]);
    if (logs.includes(stack.password())) faults.push(`${service} logs the password of the owner`);
  }
  if (faults.length > 0) throw new Error(`the containers have faults: ${faults.join('; ')}`);
  report.say('one API, two workers, one pager: user 10001, no capabilities, nothing to write to, secrets in files');
}

/** `npm run demo` on what runs: pages go out to phones, and people answer. */
export async function runDemo(engine: Engine, stack: Stack, report: Report): Promise<string> {
  const { organizations } = await stack.tocsin<{ organizations: { organizationId: string }[] }>('org', 'list');
  const organizationId = organizations[0]?.organizationId ?? '';
  const { users } = await stack.tocsin<{ users: { userId: string; email: string }[] }>('user', 'list');
  const owner = users.find(({ email }) => email === 'owner@example.com');
  if (owner === undefined) throw new Error('migrate has not created the owner that the settings name');
  const made = ['key', 'create', '--org', organizationId, '--name', 'check', '--permissions', 'all'];
  const { key } = await stack.tocsin<{ key: string }>(...made);

  const dataDir = path.join(engine.folder, 'demo');
  mkdirSync(dataDir);
  const { baseUrl, phoneUrl } = stack;
  writeRunningFile(dataDir, { databaseUrl: '', clickhouseUrl: '', appSecret: '', baseUrl, phoneUrl });
  writeFileSync(firstRunFile(dataDir), JSON.stringify({ apiKey: key, userId: owner.userId }));
  await waitUntil('everything is healthy', 60, async () => (await fetch(`${baseUrl}/healthz`)).ok);
  const output = await execute(process.execPath, [path.join(ROOT, 'infra/demo/main.ts')], {
    env: { DATA_DIR: dataDir },
    secondsMax: 90,
  });
  const texts = output.split('\n').filter((line) => /^ {2}SMS after/.test(line));
  if (texts.length !== 2 || !output.includes('Every step worked.'))
    throw new Error(`the demo did not page twice:\n${output}`);
  for (const text of texts) report.say(text.trim());
  report.figure('demo through compose', texts.map((text) => /after \d+ ms/.exec(text)?.[0]).join(', '));
  return key;
}

/**
 * Measures the resources of each process without load and under a steady load. Resolves to the number of accepted
 * exceptions.
 */
export async function measureUsage(engine: Engine, stack: Stack, target: Target, report: Report): Promise<number> {
  const names = [...PROCESSES, ...STORES];
  const containers = new Map(
    await Promise.all(names.map(async (name) => [name, await stack.containers(name)] as const)),
  );
  const read = async (): Promise<Map<string, Usage[]>> =>
    new Map(
      await Promise.all(
        names.map(async (name) => {
          const usages = (containers.get(name) ?? []).map((id) => readUsage(engine.socket, id));
          return [name, await Promise.all(usages)] as const;
        }),
      ),
    );
  const during = async (ms: number) => {
    const [from, began] = [await read(), performance.now()];
    await delay(ms);
    const [to, tookMs] = [await read(), performance.now() - began];
    return new Map(
      names.map((name) => {
        const before = sum(from.get(name), 'processorMs');
        const processor = ((sum(to.get(name), 'processorMs') - before) / tookMs) * 1_000;
        const count = Math.max(1, to.get(name)?.length ?? 1);
        const memory = sum(to.get(name), 'memoryBytes') / count / 1_048_576;
        return [name, `${Math.round(processor / count)} m, ${Math.round(memory)} MiB`] as const;
      }),
    );
  };
  const rest = await during(8_000);
  const traffic = sendTraffic(target);
  await delay(3_000);
  const load = await during(12_000);
  const { events, refusals } = await traffic.stop();
  if (refusals !== '') report.say(`refused under load: ${refusals}`);
  const what = `${EVENTS_PER_SECOND} exceptions and ${POINTS_PER_SECOND} points a second`;
  report.figure('processor (thousandths) and memory of one', `at rest; with ${what} together`);
  for (const name of names) report.figure(`  ${name}`, `${rest.get(name)}; ${load.get(name)}`);
  return events.accepted;
}

/** Stops processes under load. Each must end by itself, in time, and nothing that was accepted may be lost. */
export async function checkStopping({ docker }: Engine, stack: Stack, target: Target, report: Report): Promise<number> {
  const traffic = sendTraffic(target);
  await delay(2_000);
  const faults: string[] = [];
  for (const service of ['worker', 'pager', 'api'] as const) {
    const [container = ''] = await stack.containers(service);
    const began = performance.now();
    await docker(['stop', '-t', '30', container], { secondsMax: 45 });
    const took = seconds(began);
    const status = (await docker(['inspect', '-f', '{{.State.ExitCode}}', container])).trim();
    if (status !== '0') faults.push(`${service} ended with status ${status} after ${took}`);
    const startedAt = performance.now();
    await docker(['start', container]);
    const address = await addressOf(docker, container);
    await waitUntil(`the ${service} is ready again`, 60, async () => (await fetch(`http://${address}:9090/readyz`)).ok);
    report.figure(`SIGTERM under load, ${service}`, `${took}; ready again after ${seconds(startedAt)}`);
  }
  const { events } = await traffic.stop();
  report.say(`${events.accepted} of ${events.sent} exceptions were accepted while each kind of process was replaced`);
  if (faults.length > 0) throw new Error(`processes do not drain: ${faults.join('; ')}`);
  return events.accepted;
}

/** Returns the address at which this machine reaches the container, also at ports that compose does not publish. */
async function addressOf(docker: Engine['docker'], container: string): Promise<string> {
  const template = '{{range .NetworkSettings.Networks}}{{.IPAddress}} {{end}}';
  return (await docker(['inspect', '-f', template, container])).trim().split(' ')[0] ?? '';
}

function sum(usages: readonly Usage[] | undefined, what: keyof Usage): number {
  return (usages ?? []).reduce((total, usage) => total + usage[what], 0);
}

/** Resources that a container has used, as its control group counts them. */
interface Usage {
  readonly processorMs: number;
  /** Memory without the files in the cache. */
  readonly memoryBytes: number;
}

interface Stats {
  readonly cpu_stats: { readonly cpu_usage: { readonly total_usage: number } };
  readonly memory_stats: { readonly usage?: number; readonly stats?: Readonly<Record<string, number>> };
}

async function readUsage(socket: string, container: string): Promise<Usage> {
  const { cpu_stats: cpu, memory_stats: memory } = await ask(
    socket,
    `/containers/${container}/stats?stream=false&one-shot=true`,
  );
  const { usage = 0, stats = {} } = memory;
  const cache = stats['inactive_file'] ?? stats['total_inactive_file'] ?? 0;
  return { processorMs: cpu.cpu_usage.total_usage / 1e6, memoryBytes: Math.max(0, usage - cache) };
}

async function ask(socketPath: string, path: string): Promise<Stats> {
  return await new Promise((resolve, reject) => {
    const request = http.get({ socketPath, path, timeout: 10_000 }, (response) => {
      text(response).then((body) => resolve(JSON.parse(body) as Stats), reject);
    });
    request.once('timeout', () => request.destroy(new Error('the engine does not answer')));
    request.once('error', reject);
  });
}
