import { FURTHER_KEYS_MAX } from '#modules/configuration/decide/file.ts';
import { Moved, nameInFile, type ReadingTime } from '#modules/moving_in/decide/moved.ts';
import {
  numberOf,
  objectOf,
  objectsOf,
  type RawDocument,
  type RawObject,
  textOf,
} from '#modules/moving_in/decide/raw.ts';

/** One row of a relocation export: `{ model, pk, fields }`. */
interface Row {
  readonly id: string;
  readonly fields: RawObject;
}

const ROLES: Record<string, 'admin' | 'editor'> = {
  owner: 'admin',
  manager: 'admin',
  admin: 'editor',
  member: 'editor',
};

const LEVELS: Record<string, string> = { 50: 'fatal', 40: 'error', 30: 'warning', 20: 'info', 10: 'debug' };

/** Turns a relocation export of Sentry, or its answers over REST, into a file; null if there is neither. */
export function readSentry(documents: readonly RawDocument[], time: ReadingTime): Moved | null {
  const rows = new Map<string, Row[]>();
  for (const { value } of [...documents, { value: rowsOfAnswers(documents) }]) {
    for (const row of objectsOf(value)) {
      const [model, fields] = [textOf(row, 'model'), objectOf(row['fields'])];
      if (!model.startsWith('sentry.') || fields === null) continue;
      const list = rows.get(model) ?? [];
      list.push({ id: textOf(row, 'pk'), fields });
      rows.set(model, list);
    }
  }
  const of = (model: string): readonly Row[] => rows.get(`sentry.${model}`) ?? [];
  if (rows.size === 0) return null;
  const moved = new Moved({ prefix: 'sentry', title: 'Sentry' }, time);
  for (const { id, fields } of of('organization')) {
    moved.ledger
      .see('organization', id, textOf(fields, 'name'))
      .judge('compiled', 'Everything goes into the organization that the file is applied to.');
  }
  addPeople(moved, of);
  for (const { id, fields } of of('team')) moved.addTeam(id, textOf(fields, 'name') || textOf(fields, 'slug'));
  addMemberships(moved, of);
  addProjects(moved, of);
  addRules(moved, of);
  for (const [model, list] of rows) {
    if (READ.has(model)) continue;
    const kind = model.slice('sentry.'.length);
    for (const { id } of list) moved.ledger.see(kind, id, id).refuse(`Rows of "${model}" are not taken over.`);
  }
  return moved;
}

const READ = new Set(
  [
    'organization',
    'user',
    'email',
    'useremail',
    'team',
    'organizationmember',
    'organizationmemberteam',
    'project',
    'projectteam',
    'projectkey',
    'rule',
    'alertrule',
  ].map((name) => `sentry.${name}`),
);

function addPeople(moved: Moved, of: (model: string) => readonly Row[]): void {
  const roles = new Map(
    of('organizationmember').map(({ fields }) => [
      textOf(fields, 'user') || textOf(fields, 'user_id'),
      ROLES[textOf(fields, 'role')],
    ]),
  );
  for (const { id, fields } of of('user')) {
    const [username, email] = [textOf(fields, 'username'), textOf(fields, 'email')];
    moved.addPerson({
      id,
      name: textOf(fields, 'name') || username,
      email: email || username,
      role: roles.get(id),
      zone: '',
      phones: [],
      channels: null,
    });
  }
  for (const model of ['email', 'useremail']) {
    for (const { id, fields } of of(model))
      moved.ledger
        .see('address', `${model}/${id}`, textOf(fields, 'email'))
        .judge('compiled', 'The account has one address; others are not kept.');
  }
}

function addMemberships(moved: Moved, of: (model: string) => readonly Row[]): void {
  const userOf = new Map(
    of('organizationmember').map(({ id, fields }) => [id, textOf(fields, 'user') || textOf(fields, 'user_id')]),
  );
  for (const { id, fields } of of('organizationmember')) {
    const email = textOf(fields, 'email') || textOf(fields, 'user_email');
    const isKnown = moved.person(userOf.get(id) ?? '') !== null;
    const membership = moved.ledger.see('membership', id, email);
    if (isKnown) membership.judge('exact');
    else membership.refuse('The invitation was not accepted there.', 'Invite the person here.');
  }
  for (const { fields } of of('organizationmemberteam')) {
    const member = textOf(fields, 'organizationmember');
    moved.addMember(textOf(fields, 'team'), userOf.get(member) ?? `member ${member}`, member);
  }
}

/** Adds projects as services, which keep the public key and the number: senders change the host of their DSN only. */
function addProjects(moved: Moved, of: (model: string) => readonly Row[]): void {
  const keys = Map.groupBy(of('projectkey'), ({ fields }) => textOf(fields, 'project'));
  const teams = new Map(of('projectteam').map(({ fields }) => [textOf(fields, 'project'), textOf(fields, 'team')]));
  for (const { id, fields } of of('project')) {
    const name = textOf(fields, 'name') || textOf(fields, 'slug');
    const project = moved.ledger.see('project', id, name);
    const projectKeys = (keys.get(id) ?? []).toSorted(byAge);
    const active = projectKeys.filter(
      (key) => /^[0-9a-f]{32}$/.test(textOf(key.fields, 'public_key')) && (numberOf(key.fields, 'status') ?? 0) === 0,
    );
    const kept = active.slice(0, FURTHER_KEYS_MAX + 1);
    const [first, ...further] = kept.map(({ fields: key }) => textOf(key, 'public_key'));
    const number = Number(id);
    const team = moved.teamKey(teams.get(id) ?? '');
    moved.services.set(id, {
      key: moved.key(id),
      name: nameInFile(name, id),
      capabilities: ['exceptions', 'oncall'],
      ...(team !== null && { team }),
      ...(first !== undefined &&
        Number.isSafeInteger(number) &&
        number > 0 && {
          sentry: { publicKey: first, projectNumber: number, ...(further.length > 0 && { furtherKeys: further }) },
        }),
    });
    if (first === undefined)
      project.judge(
        'compiled',
        'It has no active public key, so its senders need the DSN of the service.',
        'Change the DSN in the senders.',
      );
    else project.judge('exact');
    for (const key of projectKeys) {
      const label = `${name}: ${textOf(key.fields, 'label')}`;
      const isKept = kept.includes(key);
      const reason = isKept
        ? 'Senders change the host of their DSN only.'
        : active.includes(key)
          ? `A service keeps ${FURTHER_KEYS_MAX + 1} public keys, the oldest that are active.`
          : 'It is switched off there, or is no public key.';
      const todo = active.includes(key) ? 'Give senders that use this key the DSN of the service.' : '';
      moved.ledger.see('public_key', key.id, label).judge(isKept ? 'exact' : 'refused', reason, isKept ? '' : todo);
    }
  }
}

/** Answers tell when a key was made; numbers of an export tell it by themselves. */
function byAge(a: Row, b: Row): number {
  const [first, second] = [textOf(a.fields, 'dateCreated'), textOf(b.fields, 'dateCreated')];
  return first === second ? Number(a.id) - Number(b.id) : first < second ? -1 : 1;
}

function addRules(moved: Moved, of: (model: string) => readonly Row[]): void {
  for (const { id, fields } of of('rule')) {
    const name = textOf(fields, 'label') || textOf(fields, 'name');
    const item = moved.ledger.see('rule', id, name);
    const service = moved.services.get(textOf(fields, 'project'));
    const data = parsedOf(fields['data']);
    const conditions = objectsOf(data?.['conditions']).map((condition) => textOf(condition, 'id'));
    const isNew = conditions.some((condition) =>
      /FirstSeenEventCondition|RegressionEventCondition|ReappearedEventCondition|NewHighPriorityIssue/.test(condition),
    );
    if (service === undefined || !isNew) {
      const reason =
        service === undefined
          ? 'Its project was not read.'
          : 'Its condition is not about new issues or such as came back.';
      item.refuse(reason, 'Make a rule of the service by hand.');
      continue;
    }
    const level = objectsOf(data?.['conditions'])
      .map((condition) => LEVELS[textOf(condition, 'level')])
      .find((name) => name !== undefined);
    moved.rules.push({
      key: moved.key(`rule-${id}`),
      service: service.key,
      name: nameInFile(name, id),
      kind: 'exception',
      config: { minSeverity: level ?? 'error' },
      enabled: (numberOf(fields, 'status') ?? 0) === 0,
    });
    item.judge(
      'compiled',
      'It opens an incident for new exceptions and such as came back; its actions and filters are not kept.',
      'Give the rule a policy.',
    );
  }
  for (const { id, fields } of of('alertrule')) {
    moved.ledger
      .see('metric_alert', id, textOf(fields, 'name'))
      .refuse(
        'Metric alerts are about data that is not taken over.',
        'Make a rule on a metric, or with how many events, by hand.',
      );
  }
}

function parsedOf(value: unknown): RawObject | null {
  if (typeof value !== 'string') return objectOf(value);
  try {
    return objectOf(JSON.parse(value));
  } catch {
    return null;
  }
}

/** Returns answers of Sentry's REST API as rows of a relocation export, which have numbers of their own there, too. */
function rowsOfAnswers(documents: readonly RawDocument[]): RawObject[] {
  const lists = documents.map(({ path, value }) => ({ path, objects: objectsOf(value) }));
  const all = lists.flatMap(({ path, objects }) => objects.map((object) => ({ path, object })));
  const projects = new Map(
    all.filter(({ object }) => isProject(object)).map(({ object }) => [textOf(object, 'slug'), textOf(object, 'id')]),
  );
  const teams = new Map(
    all.filter(({ object }) => isTeam(object)).map(({ object }) => [textOf(object, 'slug'), textOf(object, 'id')]),
  );
  const members = new Set<string>();
  const rows: RawObject[] = [];
  const add = (model: string, pk: string, fields: object): void =>
    void rows.push({ model: `sentry.${model}`, pk, fields });
  for (const { path, object } of all) {
    const [id, name] = [textOf(object, 'id'), textOf(object, 'name') || textOf(object, 'slug')];
    if (isProject(object)) {
      add('project', id, { name });
      const first = objectsOf(object['teams'])[0] ?? objectOf(object['team']);
      if (first !== null) add('projectteam', id, { project: id, team: textOf(first, 'id') });
    } else if (isTeam(object)) add('team', id, { name });
    else if (isOrganization(object)) add('organization', id, { name });
    else if (isMember(object)) {
      const user = objectOf(object['user']);
      if (!members.has(id)) {
        members.add(id);
        const role = textOf(object, 'orgRole') || textOf(object, 'role');
        add('organizationmember', id, { user: textOf(user, 'id'), email: textOf(object, 'email'), role });
        if (user !== null) {
          const email = textOf(user, 'email') || textOf(object, 'email');
          add('user', textOf(user, 'id'), { name: textOf(user, 'name'), username: email, email });
        }
      }
      const team = teams.get(/teams[/-][^/]+[/-]([^/]+)[/-]members/.exec(path)?.[1] ?? '') ?? null;
      if (team !== null) add('organizationmemberteam', `${team}/${id}`, { organizationmember: id, team });
    } else if (isKey(object)) {
      const dsn = textOf(objectOf(object['dsn']), 'public');
      const project = textOf(object, 'projectId') || (/\/(\d+)$/.exec(dsn)?.[1] ?? '');
      const fields = { project, label: textOf(object, 'label') || name, public_key: textOf(object, 'public') };
      const status = object['isActive'] === false ? 1 : 0;
      add('projectkey', id, { ...fields, status, dateCreated: textOf(object, 'dateCreated') });
    } else if (isRule(object)) {
      const slug = [object['projects']].flat().find((value) => typeof value === 'string') ?? '';
      const isOff = textOf(object, 'status') === 'disabled';
      const fields = { project: projects.get(slug) ?? '', label: name, data: object, status: isOff ? 1 : 0 };
      add('rule', id, fields);
    } else if (isMetricAlert(object)) add('alertrule', id, { name });
  }
  return rows;
}

const has = (object: RawObject, ...fields: readonly string[]): boolean =>
  fields.every((field) => object[field] !== undefined);

const isKey = (object: RawObject): boolean => has(object, 'public', 'dsn');
const isRule = (object: RawObject): boolean => has(object, 'conditions', 'actions');
const isMetricAlert = (object: RawObject): boolean => has(object, 'aggregate', 'triggers');
const isMember = (object: RawObject): boolean => has(object, 'email', 'user') && !has(object, 'slug');
const isProject = (object: RawObject): boolean => has(object, 'slug', 'platform') && has(object, 'id');
const isTeam = (object: RawObject): boolean => has(object, 'slug', 'memberCount') && !isProject(object);
const isOrganization = (object: RawObject): boolean =>
  has(object, 'slug', 'id') && (has(object, 'links') || has(object, 'require2FA') || has(object, 'isEarlyAdopter'));
