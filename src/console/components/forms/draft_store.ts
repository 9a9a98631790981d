/** Input in a form that has not been sent yet. */
export interface StoredDraft {
  /** Time in milliseconds since 1970. */
  readonly at: number;
  /** Values of the form when the person began. */
  readonly base: Readonly<Record<string, unknown>>;
  readonly values: Readonly<Record<string, unknown>>;
}

const PREFIX = 'tocsin-draft:';
const DRAFTS_MAX = 30;
const CHARACTERS_MAX = 50_000;
const KEPT_MS = 7 * 24 * 60 * 60 * 1000;
/** Prefix of every secret of the product. */
const SECRET = 'tocsin_';

/**
 * Returns the key of a draft. Drafts belong to a person, an organization and a form: nobody sees those of somebody else
 * on the same device.
 */
export function draftKey(userId: string, orgId: string, form: string): string {
  return `${PREFIX}${userId}:${orgId}:${form}`;
}

export function readDraft(key: string, nowMs = Date.now()): StoredDraft | null {
  const draft = parseDraft(read(key));
  return draft === null || nowMs - draft.at > KEPT_MS ? null : draft;
}

/** Whether this input is neither too long to be stored nor holds one of our secrets. */
export function isStorable(text: string): boolean {
  return text.length <= CHARACTERS_MAX && !text.includes(SECRET);
}

/** Stores a draft that is storable. If there are too many, removes the oldest. */
export function writeDraft(key: string, draft: StoredDraft): void {
  const text = JSON.stringify(draft);
  if (!isStorable(text)) return removeDraft(key);
  try {
    localStorage.setItem(key, text);
    pruneDrafts(draft.at);
  } catch {
    // The browser stores nothing. The form works as before.
  }
}

export function removeDraft(key: string): void {
  try {
    localStorage.removeItem(key);
  } catch {
    // The browser stores nothing.
  }
}

/** Removes all drafts at sign-out: the next person at this browser finds none. */
export function removeAllDrafts(): void {
  for (const key of draftKeys()) removeDraft(key);
}

function pruneDrafts(nowMs: number): void {
  const drafts = draftKeys().map((key) => ({ key, at: parseDraft(read(key))?.at ?? 0 }));
  const newestFirst = drafts.toSorted((a, b) => b.at - a.at);
  for (const [index, { key, at }] of newestFirst.entries()) {
    if (index >= DRAFTS_MAX || nowMs - at > KEPT_MS) removeDraft(key);
  }
}

function draftKeys(): string[] {
  try {
    return Object.keys(localStorage).filter((key) => key.startsWith(PREFIX));
  } catch {
    return [];
  }
}

function read(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

function parseDraft(text: string | null): StoredDraft | null {
  if (text === null) return null;
  try {
    const stored: unknown = JSON.parse(text);
    return isDraft(stored) ? stored : null;
  } catch {
    return null;
  }
}

function isDraft(draft: unknown): draft is StoredDraft {
  return isRecord(draft) && typeof draft['at'] === 'number' && isRecord(draft['base']) && isRecord(draft['values']);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
