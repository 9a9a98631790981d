import type { Import } from '#test/kit/import_graph.ts';

/** Parts and packages that each part may import; `*` is any package. */
const RULES: Record<string, { parts: string[]; packages: string[] }> = {
  kernel: {
    parts: ['kernel'],
    packages: [
      'typebox',
      'temporal-polyfill',
      'typeid-js',
      'p-limit',
      'node:timers/promises',
      'node:async_hooks',
      'node:net',
      'node:v8',
      'node:vm',
      'node:events',
      'node:fs',
      'node:os',
      'node:worker_threads',
    ],
  },
  decide: {
    parts: ['decide', 'kernel'],
    packages: [
      're2js',
      'ipaddr.js',
      'typebox',
      'node:crypto',
      'node:net',
      '@jridgewell/trace-mapping',
      'acorn',
      'yaml',
      'scim2-parse-filter',
    ],
  },
  storage: {
    parts: ['storage', 'kernel', 'decide'],
    packages: ['@mikro-orm/', 'kysely', 'pg', '@clickhouse/client', 'ioredis', 'bullmq', 'p-limit', 'typebox', 'node:'],
  },
  store: {
    parts: ['store', 'storage', 'kernel', 'decide'],
    packages: ['@mikro-orm/', '@clickhouse/client', 'kysely', 'p-limit', 'node:'],
  },
  stores: { parts: ['stores', 'store', 'storage', 'kernel'], packages: ['typebox'] },
  auth: {
    parts: ['auth', 'decide', 'kernel', 'storage', 'store', 'stores'],
    packages: [
      'oidc-provider',
      'openid-client',
      'ipaddr.js',
      'lru-cache',
      'p-limit',
      '@zxcvbn-ts/',
      '@simplewebauthn/server',
      'otpauth',
      'node:',
    ],
  },
  notify: { parts: ['notify', 'kernel', 'decide'], packages: ['twilio', 'nodemailer', 'web-push', 'tlds', 'node:'] },
  'ingest/protocols': { parts: ['ingest/protocols', 'ingest', 'kernel', 'decide'], packages: ['*'] },
  ingest: {
    parts: ['ingest', 'ingest/protocols', 'kernel', 'decide', 'storage', 'store', 'stores', 'auth'],
    packages: ['node:', 'typebox'],
  },
  module: {
    parts: [
      'module',
      'actions',
      'auth',
      'decide',
      'ingest',
      'ingest/protocols',
      'kernel',
      'notify',
      'storage',
      'store',
      'stores',
    ],
    packages: ['typebox', 'fastest-levenshtein', 'node:', 'yaml'],
  },
  operations: {
    parts: ['operations', 'module', 'actions', 'auth', 'decide', 'kernel', 'storage', 'store', 'stores'],
    packages: ['typebox', 'fastest-levenshtein', 'node:util'],
  },
  actions: {
    parts: ['actions', 'operations', 'module', 'auth', 'decide', 'kernel', 'storage', 'store', 'stores'],
    packages: ['typebox', 'fastest-levenshtein', 'node:util'],
  },
  entry: {
    parts: [
      'entry',
      'actions',
      'auth',
      'decide',
      'ingest',
      'ingest/protocols',
      'kernel',
      'module',
      'notify',
      'operations',
      'storage',
      'store',
      'stores',
    ],
    packages: ['*'],
  },
  workers: {
    parts: [
      'workers',
      'entry',
      'actions',
      'auth',
      'decide',
      'ingest',
      'ingest/protocols',
      'kernel',
      'module',
      'notify',
      'operations',
      'storage',
      'store',
      'stores',
    ],
    packages: ['bullmq', 'p-limit', 'typebox', 'node:'],
  },
};

/** Modules whose operations do what operations of other modules do, and why. */
const OPERATIONS_OF_OTHERS: Readonly<Record<string, string>> = {
  'src/modules/home/operations/set_up_paging.ts': 'sets up a team, a schedule, a policy and a rule in one unit of work',
  'src/modules/home/operations/get_home.ts': 'shows who is on call',
  'src/modules/schedules/operations/create_schedule.ts': 'makes the team of the schedule',
  'src/modules/agents/operations/responder_tools.ts': 'gives an agent the incident that it works on',
  'src/modules/exceptions/operations/console_operations.ts': 'lists the operations of release health',
  'src/modules/rules/operations/operations.ts': 'lists the operations of maintenance',
};

/** Stores that read rows of another module below them. */
const STORES_BELOW: Readonly<Record<string, readonly string[]>> = {
  rules: ['metrics', 'policies'],
  releases: ['exceptions'],
  exceptions: ['services'],
  schedules: ['accounts'],
  configuration: ['schedules', 'services', 'teams'],
  api_keys: ['accounts'],
  apps: ['accounts'],
  notifications: [],
};

const moduleOf = (file: string): string | null => /^src\/modules\/(\w+)\//.exec(file)?.[1] ?? null;

/** The part of the repository that a file belongs to, as a key of the rules. */
export function partOf(file: string): string {
  const [folder = '', second = '', , role = ''] = file.split('/');
  if (folder !== 'src') return folder;
  if (file.startsWith('src/ingest/protocols/')) return 'ingest/protocols';
  if (second !== 'modules') return second;
  if (moduleOf(file) === null) return 'stores';
  if (role === 'decide' || role === 'operations') return role;
  return role === 'store' || role === 'store.ts' ? 'store' : 'module';
}

/** True if the file may import what it imports. */
export function isAllowed({ file, target }: Import): boolean {
  const rule = RULES[partOf(file)];
  if (rule === undefined) return false;
  if (target.startsWith('.')) return !target.includes('..');
  if (!target.startsWith('#')) {
    return rule.packages.some((allowed) => allowed === '*' || target === allowed || target.startsWith(allowed));
  }
  if (target.startsWith('#entry/http')) return file.startsWith('src/entry');
  const imported = target.startsWith('#workers/') ? target.slice(1) : `src/${target.slice(1)}`;
  const [from, to] = [moduleOf(file), moduleOf(imported)];
  const parts = [partOf(file), partOf(imported)];
  if (from !== to && parts.every((part) => part === 'operations')) return file in OPERATIONS_OF_OTHERS;
  if (from !== to && parts.every((part) => part === 'store'))
    return STORES_BELOW[from ?? '']?.includes(to ?? '') ?? false;
  return rule.parts.includes(partOf(imported));
}
