import type { AuditEntry } from '#console/api/organization.ts';

type Entry = Pick<AuditEntry, 'target' | 'before' | 'after'>;

/** Nouns of things without a name of their own, by the prefix of their ids. */
const NOUNS: Readonly<Record<string, string>> = {
  user: 'member',
  member: 'team membership',
  override: 'override',
  session: 'session',
  subscription: 'device',
  notification: 'test message',
  invitation: 'invitation',
  connection: 'connected app',
  apikey: 'API key',
  service: 'service',
  rule: 'rule',
  incident: 'incident',
  group: 'exception',
  team: 'team',
  tracker: 'issue tracker',
  schedule: 'schedule',
  policy: 'escalation policy',
  dashboard: 'dashboard',
  maintenance: 'maintenance',
  monitor: 'monitor',
  org: 'organization',
};

/** Fields that name the owner of a thing. */
const OWNER_FIELDS = ['userId', 'createdBy'] as const;

function fieldsOf({ before, after }: Entry): Readonly<Record<string, unknown>> {
  return { ...before, ...after };
}

/** Returns the person whom the entry concerns besides its target; null if there is none. */
export function ownerOf(entry: Entry): string | null {
  const fields = fieldsOf(entry);
  return OWNER_FIELDS.map((name) => fields[name]).find((id) => typeof id === 'string') ?? null;
}

/** Returns the subject of an entry: a name, or else the kind of thing and its owner: ids say nothing to people. */
export function targetText(entry: Entry, nameOf: (id: string) => string | undefined): string {
  const { target } = entry;
  if (target === null) return '';
  const fields = fieldsOf(entry);
  const fieldName = [fields['name'], fields['title'], fields['email'], fields['label']].find(
    (text) => typeof text === 'string' && text !== '',
  );
  const targetName = fieldName ?? nameOf(target);
  if (typeof targetName === 'string') return targetName;
  const noun = NOUNS[target.slice(0, Math.max(0, target.lastIndexOf('_')))];
  if (noun === undefined) return target;
  const ownerId = ownerOf(entry);
  const owner = ownerId === null ? undefined : nameOf(ownerId);
  return owner === undefined ? noun : `${noun} of ${owner}`;
}
