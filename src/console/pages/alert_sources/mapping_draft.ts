import type { WebhookMapping } from '#modules/alerts/decide/mapping.ts';

export const MAPPED_PARTS = ['title', 'key', 'status', 'severity', 'link', 'at'] as const;

export type MappedPart = (typeof MAPPED_PARTS)[number];

export const PART_NAMES: Readonly<Record<MappedPart, string>> = {
  title: 'Title',
  key: 'Key',
  status: 'Status',
  severity: 'Severity',
  link: 'Link',
  at: 'Time',
};

export const PART_HINTS: Readonly<Record<MappedPart, string>> = {
  title: 'What went wrong, in a few words.',
  key: 'What is the same in every message about one problem.',
  status: 'Says whether the problem began or is over.',
  severity: 'A word such as critical, warning or P1.',
  link: 'Where the tool shows it.',
  at: 'When it happened, by the clock of the tool.',
};

/** A mapping while it is edited: a path for each part, and the words of the status. */
export interface MappingDraft {
  readonly paths: Readonly<Record<MappedPart, string>>;
  readonly resolved: string;
  readonly acknowledged: string;
}

/** A field of a body, with its value as text. */
export interface BodyField {
  readonly path: string;
  readonly value: string;
}

const FIELDS_MAX = 200;
const DEPTH_MAX = 8;

/** Lists the fields of a body that hold a text, a number or a yes or no; none if it is no JSON. */
export function fieldsOfBody(body: string): BodyField[] {
  const fields: BodyField[] = [];
  const collect = (value: unknown, path: string, depth: number): void => {
    if (fields.length >= FIELDS_MAX || depth > DEPTH_MAX) return;
    if (typeof value === 'object' && value !== null) {
      for (const [name, inner] of Object.entries(value)) {
        collect(inner, path === '' ? name : `${path}.${name}`, depth + 1);
      }
    } else if (path !== '' && (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')) {
      fields.push({ path, value: String(value) });
    }
  };
  collect(parsedBody(body), '', 0);
  return fields;
}

/** Returns the JSON object of a body, also of one that arrived as the field of a form; null if there is none. */
export function parsedBody(body: string): Record<string, unknown> | null {
  const candidates = [body, new URLSearchParams(body).get('data'), new URLSearchParams(body).get('payload')];
  for (const text of candidates) {
    try {
      const parsed: unknown = JSON.parse(text ?? '');
      if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed))
        return parsed as Record<string, unknown>;
    } catch {
      // The next form is tried.
    }
  }
  return null;
}

/** Alternatives stand behind each other in one text: the first that holds something counts. */
const OR = '|';

export function draftOfMapping(mapping: WebhookMapping): MappingDraft {
  const { title, key, status, severity, link, at } = mapping;
  const joined = (paths: readonly string[]) => paths.join(OR);
  return {
    paths: {
      title: joined(title),
      key: joined(key),
      status: status?.path ?? '',
      severity: joined(severity),
      link: joined(link),
      at: joined(at),
    },
    resolved: status?.resolved.join(', ') ?? '',
    acknowledged: status?.acknowledged?.join(', ') ?? '',
  };
}

/** Returns the mapping of a draft; `before` keeps what the draft does not show. */
export function mappingOfDraft(
  { paths, resolved, acknowledged }: MappingDraft,
  before: WebhookMapping,
): WebhookMapping {
  const split = (text: string) =>
    text
      .split(OR)
      .map((path) => path.trim())
      .filter((path) => path !== '');
  const path = paths.status.trim();
  const isSameStatus = before.status !== null && before.status.path === path;
  return {
    title: split(paths.title),
    key: split(paths.key),
    status:
      path === ''
        ? null
        : {
            path,
            resolved: words(resolved),
            acknowledged: words(acknowledged),
            ...(isSameStatus && before.status?.triggered !== undefined && { triggered: before.status.triggered }),
          },
    severity: split(paths.severity),
    link: split(paths.link),
    at: split(paths.at),
  };
}

function words(text: string): string[] {
  return text
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '');
}

export function faultsOfMapping({ paths, resolved }: MappingDraft): Readonly<Record<string, string>> {
  return {
    ...(paths.title.trim() === '' && paths.key.trim() === '' && { title: 'Point at a title or a key' }),
    ...(paths.status.trim() !== '' &&
      words(resolved).length === 0 && { resolved: 'Name the words that mean that it is over' }),
  };
}
