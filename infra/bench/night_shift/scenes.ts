import { randomUUID } from 'node:crypto';

/** Causes of an incident. The last two are nobody's fault. */
export const CAUSES = [
  'deploy',
  'bad_config',
  'dependency',
  'leak',
  'noisy_neighbour',
  'clock',
  'retry_storm',
  'certificate',
  'poison_message',
  'missing_metric',
  'healthy',
  'recovered',
] as const;

export type Cause = (typeof CAUSES)[number];

/** One night: a service whose signals and exceptions follow from one cause. */
export interface Scene {
  readonly name: string;
  readonly cause: Cause;
  /** Fact that looks like the cause and is not. */
  readonly herring?: 'deploy' | 'high_memory' | 'some_retries';
}

/** The signals that every service sends, whatever its cause: their names tell nothing. */
export const SIGNALS = [
  'http_errors_percent',
  'memory_mb',
  'upstream_latency_ms',
  'host_steal_percent',
  'clock_offset_ms',
  'retries_per_second',
  'worker_heartbeat',
] as const;

export type Signal = (typeof SIGNALS)[number];

const twice = (cause: Cause, herring: NonNullable<Scene['herring']>): Scene[] => [
  { name: `${cause} 1`, cause },
  { name: `${cause} 2`, cause, herring },
];

export const SCENES: readonly Scene[] = [
  ...twice('deploy', 'some_retries'),
  ...twice('bad_config', 'high_memory'),
  ...twice('dependency', 'some_retries'),
  ...twice('leak', 'some_retries'),
  ...twice('noisy_neighbour', 'high_memory'),
  ...twice('clock', 'high_memory'),
  ...twice('retry_storm', 'high_memory'),
  ...twice('certificate', 'some_retries'),
  ...twice('poison_message', 'some_retries'),
  ...twice('missing_metric', 'high_memory'),
  { name: 'healthy', cause: 'healthy', herring: 'high_memory' },
  { name: 'recovered', cause: 'recovered' },
  { name: 'misleading deploy', cause: 'dependency', herring: 'deploy' },
  { name: 'misleading memory', cause: 'deploy', herring: 'high_memory' },
];

/** Minutes of history that each service sends, and how long ago it began to fail. */
const HISTORY_MINUTES = 55;
const ONSET = 12;
/** A deploy comes shortly before the failure that it causes, and some time before one that it does not. */
const DEPLOYED = 14;

interface Point {
  readonly minutesAgo: number;
  readonly value: number;
}

/** The points of one signal, with the noise of the seed. */
export function pointsOf(scene: Scene, signal: Signal, random: () => number): Point[] {
  const points: Point[] = [];
  for (let minutesAgo = HISTORY_MINUTES; minutesAgo >= 0; minutesAgo -= 1) {
    const value = valueOf(scene, signal, minutesAgo);
    if (value !== null) points.push({ minutesAgo, value: value * (0.94 + 0.12 * random()) });
  }
  return points;
}

/** Null: the service sent nothing then. */
function valueOf({ cause, herring }: Scene, signal: Signal, minutesAgo: number): number | null {
  const isBad = minutesAgo <= ONSET;
  switch (signal) {
    case 'http_errors_percent':
      return errorsOf(cause, minutesAgo);
    case 'memory_mb':
      if (cause === 'leak') return 300 + (HISTORY_MINUTES - minutesAgo) * 14;
      // High, and swinging: a cache that is emptied again and again.
      return herring === 'high_memory' ? 800 + ((HISTORY_MINUTES - minutesAgo) % 9) * 20 : 310;
    case 'upstream_latency_ms':
      if (isBad && cause === 'dependency') return 460;
      return isBad && cause === 'retry_storm' ? 130 : 70;
    case 'host_steal_percent':
      return isBad && cause === 'noisy_neighbour' ? 38 : 1;
    case 'clock_offset_ms':
      return isBad && cause === 'clock' ? 95_000 : 4;
    case 'retries_per_second':
      if (isBad && cause === 'retry_storm') return 240;
      return isBad && herring === 'some_retries' ? 18 : 10;
    case 'worker_heartbeat':
      return cause === 'missing_metric' && minutesAgo <= ONSET + 5 ? null : 1;
  }
}

function errorsOf(cause: Cause, minutesAgo: number): number {
  if (cause === 'healthy') return minutesAgo === 6 ? 9 : 0.6;
  if (cause === 'recovered') return minutesAgo <= 20 && minutesAgo > 8 ? 24 : 0.6;
  return minutesAgo <= ONSET ? 24 : 0.6;
}

/** Error as an SDK would send it. */
export interface Raised {
  readonly minutesAgo: number;
  readonly type: string;
  readonly value: string;
  readonly where: string;
  readonly release: string;
  readonly tags: Readonly<Record<string, string>>;
}

const OLD_RELEASE = '4.1.0';
const NEW_RELEASE = '4.2.0';

/** Each service has an old, harmless group; most failures have one of their own. */
export function raisedIn({ cause, herring }: Scene): Raised[] {
  const deployedAt = cause === 'deploy' ? DEPLOYED : herring === 'deploy' ? 30 : null;
  const releaseAt = (minutesAgo: number) =>
    deployedAt !== null && minutesAgo <= deployedAt ? NEW_RELEASE : OLD_RELEASE;
  const harmless = [50, 42, 34, 26, 18, 13, 9, 5, 2].map((minutesAgo) => ({
    minutesAgo,
    type: 'ClientGone',
    value: 'the client closed the connection',
    where: 'respond',
    release: releaseAt(minutesAgo),
    tags: {},
  }));
  const failure = FAILURES[cause];
  if (failure === undefined) return harmless;
  const times = cause === 'recovered' ? [19, 17, 15, 13, 11, 9] : [12, 11, 9, 8, 6, 5, 3, 2, 1];
  const raised = times.map((minutesAgo, index) => {
    const tags = cause === 'poison_message' ? { message_id: 'msg-7731' } : { request: `r-${index}` };
    return { minutesAgo, ...failure, release: releaseAt(minutesAgo), tags };
  });
  return [...harmless, ...raised];
}

type Failure = Pick<Raised, 'type' | 'value' | 'where'>;

const TIMEOUT: Failure = { type: 'TimeoutError', value: 'no answer from ledger within 400 ms', where: 'askLedger' };

const FAILURES: Partial<Record<Cause, Failure>> = {
  deploy: { type: 'TypeError', value: "Cannot read properties of undefined (reading 'currency')", where: 'priceOf' },
  bad_config: { type: 'ConfigError', value: 'setting POOL_SIZE must be at least 1, and is 0', where: 'openPool' },
  dependency: TIMEOUT,
  retry_storm: TIMEOUT,
  recovered: TIMEOUT,
  noisy_neighbour: { type: 'TimeoutError', value: 'the request took longer than 2 s', where: 'handle' },
  clock: { type: 'TokenError', value: 'the token is not valid yet', where: 'verifyToken' },
  certificate: { type: 'TLSError', value: 'certificate has expired', where: 'connectUpstream' },
  poison_message: { type: 'DecodeError', value: 'unexpected end of message', where: 'decodeOrder' },
};

export async function sendPoints(baseUrl: string, key: string, name: string, points: readonly Point[]): Promise<void> {
  const now = Date.now();
  const body = { points: points.map(({ minutesAgo, value }) => ({ name, value, at: now - minutesAgo * 60_000 })) };
  await post(`${baseUrl}/api/ingest/metrics`, { authorization: `Bearer ${key}` }, body);
}

/** Sends an exception, as an SDK does. */
export async function sendEvent(
  baseUrl: string,
  dsn: string,
  { minutesAgo, type, value, where, release, tags }: Raised,
): Promise<void> {
  const { username, pathname } = new URL(dsn);
  const event = {
    event_id: randomUUID().replaceAll('-', ''),
    timestamp: Date.now() / 1_000 - minutesAgo * 60,
    platform: 'node',
    level: 'error',
    release,
    environment: 'production',
    tags,
    exception: {
      values: [
        {
          type,
          value,
          stacktrace: { frames: [{ filename: 'src/app.ts', function: where, lineno: 10, in_app: true }] },
        },
      ],
    },
  };
  const headers = { 'x-sentry-auth': `Sentry sentry_version=7, sentry_key=${username}, sentry_client=bench/1` };
  await post(`${baseUrl}/api/${pathname.split('/').at(-1)}/store/`, headers, event);
}

async function post(url: string, headers: Readonly<Record<string, string>>, body: object): Promise<void> {
  const init = {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  };
  const response = await fetch(url, init);
  if (!response.ok) throw new Error(`${new URL(url).pathname} answered ${response.status}: ${await response.text()}`);
}
