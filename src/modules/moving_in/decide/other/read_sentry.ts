import { FURTHER_KEYS_MAX } from '#modules/configuration/decide/file.ts';
import { nameInFile } from '#modules/moving_in/decide/in_file.ts';
import { Moved, type ReadingTime } from '#modules/moving_in/decide/moved.ts';
import { rowsOfAnswers } from '#modules/moving_in/decide/other/sentry_answers.ts';
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
    moved.ledger.add(
      'organization',
      id,
      textOf(fields, 'name'),
      'compiled',
      'Everything goes into the organization that the file is applied to.',
    );
  }
  addPeople(moved, of);
  for (const { id, fields } of of('team')) moved.addTeam(id, textOf(fields, 'name') || textOf(fields, 'slug'));
  addMemberships(moved, of);
  addProjects(moved, of);
  addRules(moved, of);
  for (const [model, list] of rows) {
    if (READ.has(model)) continue;
    const kind = model.slice('sentry.'.length);
    for (const { id } of list) moved.ledger.add(kind, id, id, 'refused', `Rows of "${model}" are not taken over.`);
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
      moved.ledger.add(
        'address',
        `${model}/${id}`,
        textOf(fields, 'email'),
        'compiled',
        'The account has one address; others are not kept.',
      );
  }
}

function addMemberships(moved: Moved, of: (model: string) => readonly Row[]): void {
  const userOf = new Map(
    of('organizationmember').map(({ id, fields }) => [id, textOf(fields, 'user') || textOf(fields, 'user_id')]),
  );
  for (const { id, fields } of of('organizationmember')) {
    const email = textOf(fields, 'email') || textOf(fields, 'user_email');
    const isKnown = moved.person(userOf.get(id) ?? '') !== null;
    moved.ledger.see('membership', id, email);
    if (isKnown) moved.ledger.judge('membership', id, 'exact');
    else
      moved.ledger.judge(
        'membership',
        id,
        'refused',
        'The invitation was not accepted there.',
        'Invite the person here.',
      );
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
    moved.ledger.see('project', id, name);
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
          sentry: {
            publicKey: first,
            projectNumber: number,
            ...(further.length > 0 && { furtherKeys: further }),
          },
        }),
    });
    if (first === undefined)
      moved.ledger.judge(
        'project',
        id,
        'compiled',
        'It has no active public key, so its senders need the DSN of the service.',
        'Change the DSN in the senders.',
      );
    else moved.ledger.judge('project', id, 'exact');
    for (const key of projectKeys) {
      const label = `${name}: ${textOf(key.fields, 'label')}`;
      const isKept = kept.includes(key);
      const reason = isKept
        ? 'Senders change the host of their DSN only.'
        : active.includes(key)
          ? `A service keeps ${FURTHER_KEYS_MAX + 1} public keys, the oldest that are active.`
          : 'It is switched off there, or is no public key.';
      const todo = active.includes(key) ? 'Give senders that use this key the DSN of the service.' : '';
      moved.ledger.add('public_key', key.id, label, isKept ? 'exact' : 'refused', reason, isKept ? '' : todo);
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
    moved.ledger.see('rule', id, name);
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
      moved.ledger.judge('rule', id, 'refused', reason, 'Make a rule of the service by hand.');
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
    moved.ledger.judge(
      'rule',
      id,
      'compiled',
      'It opens an incident for new exceptions and such as came back; its actions and filters are not kept.',
      'Give the rule a policy.',
    );
  }
  for (const { id, fields } of of('alertrule')) {
    moved.ledger.add(
      'metric_alert',
      id,
      textOf(fields, 'name'),
      'refused',
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
