/** `npm run check:deploy`: image, compose, chart and unit, each as far as this machine can show it. */
import { refuseArguments } from '#infra/usage.ts';
import { connect } from '#infra/demo/client.ts';
import { messageOf } from '#kernel/errors.ts';

import { buildImage, checkImage, makeBaseImage } from './image.ts';
import { checkChart } from './chart.ts';
import { type Engine, startEngine } from './engine.ts';
import { type Report, runParts, seconds } from './report.ts';
import { bringUp, checkContainers, checkStopping, measureUsage, runDemo } from './running.ts';
import { prepareStack, type Stack, waitUntil } from './stack.ts';
import type { Target } from './traffic.ts';
import { checkUnit } from './unit.ts';

refuseArguments(
  `npm run check:deploy: builds the image, brings compose.yaml up, runs the demo through it, stops its processes under load, and lints,
renders and validates the chart. It needs root and packages of Debian: docker.io, mmdebstrap. What it cannot do here it says at its end.`,
);

/** Downloads that take longer are given up: it is not this product that is slow then. */
const BASE_SECONDS_MAX = 180;
const PACKAGES_SECONDS_MAX = 150;

let engine: Engine | null = null;
let stopping: Promise<void> | null = null;
const stopEngine = (): Promise<void> =>
  (stopping ??= (engine?.stop() ?? Promise.resolve()).catch((error: unknown) => {
    process.stderr.write(`The container engine was not removed completely: ${messageOf(error)}\n`);
  }));
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
  process.once(signal, () => void stopEngine().finally(() => process.exit(143)));
}

const isGood = await runParts([
  { name: 'chart', run: checkChart },
  { name: 'systemd unit', run: checkUnit },
  { name: 'image and compose', run: checkImageAndCompose },
]);
await stopEngine();
process.exitCode = isGood ? 0 : 1;

async function checkImageAndCompose(report: Report): Promise<void> {
  engine = await startEngine();
  try {
    const began = performance.now();
    await makeBaseImage(engine, BASE_SECONDS_MAX);
    report.say(`base image made of Debian's packages in ${seconds(began)}`);
    const stack = await prepareStack(engine);
    await buildImage(engine, report, PACKAGES_SECONDS_MAX);
    await checkImage(engine, report);
    await checkRunning(engine, stack, report);
  } finally {
    await stopEngine();
  }
}

async function checkRunning(running: Engine, stack: Stack, report: Report): Promise<void> {
  try {
    await bringUp(stack, report);
    await checkContainers(running, stack, report);
    const apiKey = await runDemo(running, stack, report);
    const client = connect({ ...stack, apiKey, userId: '', stop: async () => {} });
    const service = await client.action<Omit<Target, 'baseUrl'> & { serviceId: string }>('create_service', {
      name: 'load',
    });
    const { serviceId } = service;
    for (const capability of ['metrics', 'exceptions'])
      await client.action('enable_capability', { serviceId, capability });
    const target = { ...service, baseUrl: stack.baseUrl };
    const accepted =
      (await measureUsage(running, stack, target, report)) + (await checkStopping(running, stack, target, report));
    let stored = 0;
    await waitUntil(`all ${accepted} exceptions are stored`, 60, async () => {
      stored = await countEvents(client, serviceId);
      return stored >= accepted;
    }).catch((error: unknown) => {
      throw new Error(`${accepted} exceptions were accepted and ${stored} are stored`, { cause: error });
    });
    report.figure('accepted, also while processes were replaced', `${accepted} exceptions, all of them stored`);
    await stack.compose(['down', '-v', '-t', '30'], 90);
  } catch (error) {
    const { stdout } = await stack.tryCompose(['logs', '--no-color', '--tail', '40']);
    const { stdout: listed } = await stack.tryCompose(['ps', '-a']);
    report.say(`what the containers said:\n${stdout.slice(-12_000)}\n${listed}`);
    throw error;
  }
}

async function countEvents(client: ReturnType<typeof connect>, serviceId: string): Promise<number> {
  const { groups } = await client.action<{ groups: { eventCount: number }[] }>('list_exception_groups', { serviceId });
  return groups.reduce((total, { eventCount }) => total + eventCount, 0);
}
