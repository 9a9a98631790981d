import path from 'node:path';

import { execute, tryToExecute } from './execute.ts';
import { findObjectFaults, type KubernetesObject, parseObjects } from './objects.ts';
import { type Report, seconds } from './report.ts';
import { installTools, type Tools } from './tools.ts';

const CHART = path.resolve(import.meta.dirname, '../chart');
const VALUES = ['default', 'minimal', 'full'] as const;
const valuesFile = (name: string): string => path.join(CHART, 'ci', `${name}.yaml`);

/** Values that cannot be used, on top of the default ones, and what is said of them. */
const REFUSED: readonly (readonly [set: readonly string[], sentence: RegExp])[] = [
  [['baseUrl=tocsin.example.com'], /baseUrl is tocsin\.example\.com: write it as https/],
  [['pager.replicas=0'], /without a pager nobody is paged/],
  [['worker.replicas=0'], /nothing that is sent is stored/],
  [
    ['api.autoscaling.enabled=true', 'api.autoscaling.minReplicas=9'],
    /minReplicas \(9\) is more than its maxReplicas \(8\)/,
  ],
  [['worker.autoscaling.enabled=true'], /worker\.autoscaling\.prometheusAddress is not set/],
  [['terminationGracePeriodSeconds=10'], /set it to 25 or more/],
  [['podDisruptionBudget.maxUnavailable=0'], /can be drained/],
  [['image.tag=v1', `image.digest=sha256:${'0'.repeat(64)}`], /remove one of them/],
  [['settings.APP_SECRET=x'], /settings\.APP_SECRET is a secret/],
  [['settings.OTEL_EXPORTER_OTLP_HEADERS=x'], /settings\.OTEL_EXPORTER_OTLP_HEADERS is a secret/],
  [['settings.PORT=80'], /settings\.PORT is set by the chart/],
  [['settings.TRUSTED_PROXY=10.0.0.1'], /TRUSTED_PROXY is no setting of this release/],
  [
    ['settings.FIRST_OWNER_EMAIL=a@example.com'],
    /secrets\.FIRST_OWNER_PASSWORD is not set, which FIRST_OWNER_EMAIL needs/,
  ],
  [['secrets.PORT.name=a', 'secrets.PORT.key=b'], /secrets\.PORT is no secret/],
  [['baseUrl=http://a.example', 'ingress.enabled=true', 'ingress.tlsSecret=a'], /begin it with https/],
  // By the schema, before any template is read.
  [['api.replica=3'], /additional properties 'replica' not allowed/],
  [['api.replicas=many'], /got string, want integer/],
];

/** Lints and renders the chart with each file of values, validates every object, and tries values that do not fit. */
export async function checkChart(report: Report): Promise<void> {
  const tools = await installTools();
  const faults: string[] = [];
  for (const name of VALUES) {
    await execute(tools.helm, ['lint', '--strict', CHART, '-f', valuesFile(name)]);
    const objects = await render(tools, name);
    faults.push(...(await findObjectFaults(tools, objects)).map((fault) => `${name}: ${fault}`));
    report.figure(`chart, ${name} values`, `${objects.length} objects: ${kindsOf(objects)}`);
  }
  faults.push(...(await findClosedPorts(tools)));
  faults.push(...(await findUndetectedFaults(tools)));
  faults.push(...(await findAccepted(tools)));
  if (faults.length > 0) throw new Error(`the chart has faults:\n  ${faults.join('\n  ')}`);
  report.say('every object is valid, and every combination that cannot work is refused in a sentence');
  const began = performance.now();
  const folder = path.join(tools.folder, 'packaged');
  await execute(tools.helm, ['package', CHART, '-d', folder]);
  report.figure('chart, packaged in', seconds(began));
}

async function render(tools: Tools, name: (typeof VALUES)[number]): Promise<KubernetesObject[]> {
  const args = ['template', 'release', CHART, '--namespace', 'tocsin', '-f', valuesFile(name)];
  return await parseObjects(tools, await execute(tools.helm, args));
}

/** Every further port that is set has to be open in the pods of the API, the Service and the NetworkPolicy; no other is. */
async function findClosedPorts(tools: Tools): Promise<string[]> {
  const open = async (name: (typeof VALUES)[number], port: number): Promise<string> => {
    const objects = await render(tools, name);
    return objects
      .filter((object) => new RegExp(`"(?:containerPort|port)":${port}\\b`).test(JSON.stringify(object)))
      .map(({ kind }) => kind)
      .join(', ');
  };
  const faults: string[] = [];
  for (const port of [4317, 8125]) {
    const rendered = { full: await open('full', port), default: await open('default', port) };
    const isRight = ['StatefulSet', 'Service', 'NetworkPolicy'].every((kind) => rendered.full.includes(kind));
    if (!isRight) faults.push(`port ${port} is open in these only: ${rendered.full}`);
    if (rendered.default !== '') faults.push(`port ${port} is open although it is not set: ${rendered.default}`);
  }
  return faults;
}

/** A validation that finds nothing proves nothing: it must find these. */
async function findUndetectedFaults(tools: Tools): Promise<string[]> {
  const metadata = { name: 'wrong' };
  const wrong: KubernetesObject[] = [
    { apiVersion: 'v1', kind: 'Service', metadata, spec: { selectors: {} } },
    { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', metadata, spec: { maxUnavailable: true } },
    { apiVersion: 'keda.sh/v1alpha1', kind: 'ScaledObject', metadata, spec: { triggers: [] } },
  ];
  const faults = await Promise.all(wrong.map((object) => findObjectFaults(tools, [object])));
  return wrong.flatMap(({ kind }, index) =>
    (faults[index] ?? []).length > 0 ? [] : [`the validation does not find what is wrong with a ${kind}`],
  );
}

async function findAccepted(tools: Tools): Promise<string[]> {
  const tried = await Promise.all([
    ...REFUSED.map(async ([set, sentence]) => {
      const args = ['template', CHART, '-f', valuesFile('default'), ...set.flatMap((value) => ['--set', value])];
      const { code, stderr } = await tryToExecute(tools.helm, args);
      return code !== 0 && sentence.test(stderr) ? null : `${set.join(', ')} is not refused in its sentence: ${stderr}`;
    }),
    (async () => {
      const { code, stderr } = await tryToExecute(tools.helm, ['template', CHART]);
      const isSaid = ['baseUrl', 'APP_SECRET', 'DATABASE_URL', 'CLICKHOUSE_URL'].every((name) => stderr.includes(name));
      return code !== 0 && isSaid ? null : `without values it is not said what must be set: ${stderr}`;
    })(),
  ]);
  return tried.filter((fault) => fault !== null);
}

function kindsOf(objects: readonly KubernetesObject[]): string {
  const counts = Map.groupBy(objects, ({ kind }) => kind);
  return [...counts].map(([kind, { length }]) => (length === 1 ? kind : `${length} ${kind}`)).join(', ');
}
