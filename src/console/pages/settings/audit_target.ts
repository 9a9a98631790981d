import type { AuditEntry } from '#console/api/organization.ts';

/** Returns the name of the thing with this id; undefined if it is not known. */
export type NameOf = (id: string) => string | undefined;

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

/** Short forms in the names of fields, as they are written. */
const SHORT_FORMS: Readonly<Record<string, string>> = {
  api: 'API',
  sms: 'SMS',
  csv: 'CSV',
  scim: 'SCIM',
  dsn: 'DSN',
  url: 'URL',
  id: 'id',
};

function sentenceOf(words: readonly string[]): string {
  const text = words.map((word) => SHORT_FORMS[word] ?? word).join(' ');
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}

/** Returns a field in words, as "Service" for `serviceId` and "Created by" for `createdBy`. */
export function fieldText(name: string): string {
  const words = name.split(/(?=[A-Z])|_/).map((word) => word.toLowerCase());
  const isId = words.length > 1 && /^ids?$/.test(words.at(-1) ?? '');
  return sentenceOf(isId ? words.slice(0, -1) : words);
}

/** Replaces ids in a text by the names of what they are of, as far as these are known. */
export function withNames(text: string, nameOf: NameOf): string {
  return text.replaceAll(/\b[a-z]+_[0-9a-hjkmnp-tv-z]{26}\b/g, (id) => nameOf(id) ?? id);
}

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
export function targetText(entry: Entry, nameOf: NameOf): string {
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
