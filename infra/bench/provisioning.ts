import { count, duration, spreadOf } from './figures.ts';
import { type Bench, type BenchInstallation, printInputs, printTable, withInstallation } from './harness.ts';
import { countProcessorBelow } from './paging/processes.ts';

const CLIENTS = 8;
const CHANGES = 600;
/** Changes of each kind that are made first and not counted: statements earn their names, and code is compiled. */
const UNCOUNTED = 200;
const PEOPLE = 10_000;
/** Members that a provider adds in one request, as Entra ID does with a large group. */
const MEMBERS_AT_ONCE = 100;
const PATCH_SCHEMA = 'urn:ietf:params:scim:api:messages:2.0:PatchOp';

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH';
type Ask = (
  method: Method,
  path: string,
  body?: object,
) => Promise<{ readonly id?: string; readonly members?: readonly unknown[] }>;

export const provisioning: Bench = {
  name: 'provisioning',
  about: `changes by SCIM from ${CLIENTS} clients of one organization (goal: 200 a second of each kind), ${count(PEOPLE)} people, groups of all of them`,
  run: () =>
    withInstallation(async (installation) => {
      printInputs({ clients: CLIENTS, 'changes of each kind': CHANGES, uncounted: UNCOUNTED, people: PEOPLE });
      const ask = await connect(installation);
      await changes(ask);
      await manyPeople(ask);
    }),
};

/** Measures each kind of change by itself: the processor time tells on a busy machine what the rate does not. */
async function changes(ask: Ask): Promise<void> {
  const users: string[] = [];
  const groups: string[] = [];
  const idOf = (ids: readonly string[], index: number): string => ids[index % ids.length] ?? '';
  const patch = (path: string, operation: object) =>
    ask('PATCH', path, { schemas: [PATCH_SCHEMA], Operations: [operation] });
  const kinds: Readonly<Record<string, (index: number) => Promise<void>>> = {
    'create a user': async (index) => void users.push(await created(ask, '/Users', userOf(`a${index}`))),
    'rename a user': async (index) =>
      void (await patch(`/Users/${idOf(users, index)}`, { op: 'replace', path: 'displayName', value: `N${index}` })),
    'deactivate a user': async (index) =>
      void (await patch(`/Users/${idOf(users, index)}`, { op: 'replace', path: 'active', value: false })),
    'activate a user': async (index) =>
      void (await patch(`/Users/${idOf(users, index)}`, { op: 'replace', path: 'active', value: true })),
    'create a group': async (index) =>
      void groups.push(await created(ask, '/Groups', { displayName: `Group ${index}` })),
    'add a member': async (index) =>
      void (await patch(`/Groups/${idOf(groups, index)}`, {
        op: 'add',
        path: 'members',
        value: [{ value: idOf(users, index * 7) }],
      })),
  };
  const rows: Record<string, string>[] = [];
  for (const [kind, change] of Object.entries(kinds)) {
    await concurrently(UNCOUNTED, change);
    const spentMs = countProcessorBelow(process.pid);
    const { ms, samples } = await concurrently(CHANGES, (index) => change(UNCOUNTED + index));
    const spent = spentMs();
    const [api = 0, postgres = 0] = ['API', 'PostgreSQL'].map((name) => (spent.get(name) ?? 0) / CHANGES);
    const { p50, p99 } = spreadOf(samples);
    rows.push({
      change: kind,
      'a second': count(CHANGES / (ms / 1_000)),
      p50: duration(p50),
      p99: duration(p99),
      'processor of the API': duration(api),
      'of PostgreSQL': duration(postgres),
    });
  }
  printTable(rows);
}

async function manyPeople(ask: Ask): Promise<void> {
  const ids: string[] = [];
  const rows: Record<string, string>[] = [];
  const row = (what: string, ms: number, requests: number) =>
    rows.push({ what, took: duration(ms), 'requests a second': count(requests / (ms / 1_000)) });
  const people = await concurrently(PEOPLE, async (index) => {
    ids.push(await created(ask, '/Users', userOf(`b${index}`)));
  });
  row(`${count(PEOPLE)} users`, people.ms, PEOPLE);
  const members = ids.map((value) => ({ value }));
  let all = '';
  const whole = await concurrently(1, async () => {
    all = await created(ask, '/Groups', { displayName: 'All', members });
  });
  row(`a group of ${count(PEOPLE)} at once`, whole.ms, 1);
  const replaced = await concurrently(
    1,
    async () => void (await ask('PUT', `/Groups/${all}`, { displayName: 'All', members })),
  );
  row('the same group put again', replaced.ms, 1);
  const parts = await created(ask, '/Groups', { displayName: 'In parts' });
  const requests = PEOPLE / MEMBERS_AT_ONCE;
  const added = await concurrently(requests, async (index) => {
    const value = members.slice(index * MEMBERS_AT_ONCE, (index + 1) * MEMBERS_AT_ONCE);
    const Operations = [{ op: 'add', path: 'members', value }];
    await ask('PATCH', `/Groups/${parts}`, { schemas: [PATCH_SCHEMA], Operations });
  });
  row(`a group of ${count(PEOPLE)}, ${MEMBERS_AT_ONCE} in a request`, added.ms, requests);
  const read = await concurrently(1, async () => {
    const group = await ask('GET', `/Groups/${parts}`);
    if (group.members?.length !== PEOPLE) throw new Error(`the group has ${group.members?.length} members`);
  });
  row('that group read', read.ms, 1);
  printTable(rows);
}

function userOf(name: string): object {
  const userName = `${name}@example.com`;
  return {
    userName,
    externalId: `x-${name}`,
    displayName: `Person ${name}`,
    name: { givenName: 'Person', familyName: name },
    emails: [{ value: userName, primary: true }],
    active: true,
  };
}

async function created(ask: Ask, path: string, body: object): Promise<string> {
  const { id } = await ask('POST', path, body);
  if (id === undefined) throw new Error(`${path} named no id`);
  return id;
}

/** Runs the work so many times, as many at once as there are clients. */
async function concurrently(times: number, work: (index: number) => Promise<void>) {
  const samples: number[] = [];
  let next = 0;
  const began = performance.now();
  const client = async (): Promise<void> => {
    while (next < times) {
      const index = next;
      next += 1;
      const from = performance.now();
      await work(index);
      samples.push(performance.now() - from);
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
  return { ms: performance.now() - began, samples };
}

/** Signs the owner in, makes the token of an identity provider, and returns how it asks. */
async function connect({ baseUrl, organizationId, email, password }: BenchInstallation): Promise<Ask> {
  const login = await send(`${baseUrl}/api/console/session`, { email, password }, {});
  const cookies = login.headers.getSetCookie().map((text) => text.split(';')[0]);
  const url = `${baseUrl}/api/console/organizations/${organizationId}/actions/create_provisioning_token`;
  const made = await send(url, {}, { cookie: cookies.join('; ') });
  const { result } = (await made.json()) as { result: { token: string } };
  return async (method, path, body) => {
    const response = await fetch(`${baseUrl}/scim/v2${path}`, {
      method,
      headers: {
        authorization: `Bearer ${result.token}`,
        ...(body !== undefined && { 'content-type': 'application/scim+json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return (text === '' ? {} : JSON.parse(text)) as Awaited<ReturnType<Ask>>;
  };
}

async function send(url: string, body: object, headers: Record<string, string>): Promise<Response> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: new URL(url).origin, ...headers },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${url}: ${response.status} ${await response.text()}`);
  return response;
}
