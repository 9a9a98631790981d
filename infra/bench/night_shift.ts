import { setTimeout as delay } from 'node:timers/promises';

import { connect } from '#infra/demo/client.ts';

import { type Bench, type BenchInstallation, printInputs, printTable, withInstallation } from './harness.ts';
import { McpSession } from './night_shift/mcp_session.ts';
import { investigateWithModel, type Model } from './night_shift/model_agent.ts';
import {
  type Cause,
  pointsOf,
  raisedIn,
  type Scene,
  SCENES,
  sendEvent,
  sendPoints,
  SIGNALS,
} from './night_shift/scenes.ts';
import { investigate } from './night_shift/scripted_agent.ts';
import { seeded } from './seeded.ts';

const SEED = Number(process.env['NIGHT_SHIFT_SEED'] ?? 24);
const CALLS_MAX = 12;
const TOKENS_MAX = 40_000;
const OPENED_WITHIN_MS = 180_000;
const POLL_MS = 1_000;

/** A scene whose incident is open. */
interface Night {
  readonly scene: Scene;
  readonly incidentId: string;
}

interface Finding {
  readonly scene: Scene;
  readonly found: Cause | 'unknown';
  readonly calls: number;
  readonly tokens: number;
}

export const nightShift: Bench = {
  name: 'night_shift',
  about:
    '24 incidents with a planted cause each, investigated through MCP alone (goal: a script without a model finds each in ' +
    `${CALLS_MAX} calls and ${TOKENS_MAX.toLocaleString('en')} tokens, and blames nothing falsely); NIGHT_SHIFT_MODEL_URL for a model`,
  minutesMax: 60,
  run: () =>
    withInstallation(async (installation) => {
      const model = modelFrom(process.env);
      printInputs({ scenes: SCENES.length, seed: SEED, model: model === null ? 'none' : model.name });
      const nights = await openIncidents(installation);
      const scripted: Finding[] = [];
      for (const { scene, incidentId } of nights) {
        const session = new McpSession(installation.baseUrl, installation.apiKey);
        const finding = await investigate(session, incidentId);
        scripted.push({ scene, found: finding, calls: session.calls, tokens: session.tokens });
      }
      show('script without a model', scripted);
      if (model === null) return;
      const byModel: Finding[] = [];
      for (const { scene, incidentId } of nights) {
        const session = new McpSession(installation.baseUrl, installation.apiKey);
        const tools = await session.listTools();
        const finding = await investigateWithModel(session, model, tools, incidentId);
        byModel.push({ scene, found: finding, calls: session.calls, tokens: session.tokens });
      }
      show(model.name, byModel);
    }),
};

function modelFrom(variables: NodeJS.ProcessEnv): Model | null {
  const url = variables['NIGHT_SHIFT_MODEL_URL'];
  if (url === undefined || url === '') return null;
  return { url, name: variables['NIGHT_SHIFT_MODEL'] ?? 'default', key: variables['NIGHT_SHIFT_MODEL_KEY'] };
}

/** Sends the history of every service, and waits until its own rule has opened its incident. */
async function openIncidents(installation: BenchInstallation): Promise<Night[]> {
  const client = connect({ ...installation, stop: async () => {} });
  const random = seeded(SEED);
  const services: { scene: Scene; serviceId: string }[] = [];
  for (const [place, scene] of SCENES.entries()) {
    const { serviceId } = await client.action<{ serviceId: string }>('create_service', {
      name: `service ${place + 1}`,
      environment: 'production',
    });
    for (const capability of ['metrics', 'exceptions', 'oncall']) {
      await client.action('enable_capability', { serviceId, capability });
    }
    const { ingestionKey, dsn } = await client.action<{ ingestionKey: string; dsn: string }>('get_service', {
      serviceId,
    });
    const isShort = scene.cause === 'healthy' || scene.cause === 'recovered';
    await client.action('create_alert_rule', {
      serviceId,
      name: 'Errors',
      kind: 'metric_threshold',
      config: {
        metricName: 'http_errors_percent',
        comparator: '>',
        threshold: 5,
        windowMinutes: isShort ? 30 : 10,
        aggregation: isShort ? 'max' : 'avg',
      },
    });
    for (const raised of raisedIn(scene)) await sendEvent(installation.baseUrl, dsn, raised);
    for (const signal of SIGNALS) {
      await sendPoints(installation.baseUrl, ingestionKey, signal, pointsOf(scene, signal, random));
    }
    services.push({ scene, serviceId });
  }
  const deadline = Date.now() + OPENED_WITHIN_MS;
  const nights: Night[] = [];
  for (const { scene, serviceId } of services) {
    let incidentId: string | undefined;
    while (incidentId === undefined) {
      const { incidents } = await client.action<{ incidents: { incidentId: string }[] }>('list_incidents', {
        serviceId,
      });
      incidentId = incidents[0]?.incidentId;
      if (incidentId === undefined && Date.now() > deadline) throw new Error(`no incident opened for ${scene.name}`);
      if (incidentId === undefined) await delay(POLL_MS);
    }
    nights.push({ scene, incidentId });
  }
  return nights;
}

function show(who: string, findings: readonly Finding[]): void {
  console.log(`  ${who}`);
  printTable(
    findings.map(({ scene, found, calls, tokens }) => ({
      scene: scene.name,
      planted: scene.cause,
      herring: scene.herring ?? '–',
      found,
      right: found === scene.cause ? 'yes' : 'no',
      calls,
      tokens,
      'within limits': calls <= CALLS_MAX && tokens <= TOKENS_MAX ? 'yes' : 'no',
    })),
  );
  const right = findings.filter(({ scene, found }) => found === scene.cause).length;
  // Who names a cause that is not there sends people the wrong way; who says that it is over, or unknown, does not.
  const blamed = findings.filter(({ scene, found }) => found !== scene.cause && blamesAChange(found)).length;
  console.log(
    `  found ${right} of ${findings.length}, falsely blamed ${blamed}, ` +
      `most calls ${Math.max(...findings.map(({ calls }) => calls))}, ` +
      `most tokens ${Math.max(...findings.map(({ tokens }) => tokens)).toLocaleString('en')}\n`,
  );
}

function blamesAChange(cause: Cause | 'unknown'): boolean {
  return cause !== 'unknown' && cause !== 'healthy' && cause !== 'recovered';
}
