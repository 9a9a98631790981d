import { objectOf, objectsOf, type RawDocument, type RawObject, textOf } from '#modules/moving_in/decide/raw.ts';

/** Returns answers of Sentry's REST API as rows of a relocation export, which have numbers of their own there, too. */
export function rowsOfAnswers(documents: readonly RawDocument[]): RawObject[] {
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
