import { invalidInput } from '#kernel/errors.ts';
import type { Kind } from '#kernel/ids.ts';

/** Cursor of a list sorted by name: the position after the last row of a page. */
interface NamePlace {
  readonly name: string;
  readonly id: string;
}

export function nameCursorOf({ name, id }: NamePlace): string {
  return Buffer.from(`${id} ${name}`).toString('base64url');
}

/** Throws `invalid_input` for a text that is no cursor of a list of this kind. */
export function parseNameCursor(kind: Kind, cursor: string): NamePlace {
  const [, id, name] = /^([a-z]+_\w{26}) (.*)$/s.exec(Buffer.from(cursor, 'base64url').toString()) ?? [];
  if (id === undefined || name === undefined || !id.startsWith(`${kind}_`) || name.includes('\0')) {
    throw invalidInput([{ path: 'cursor', message: 'must be the nextCursor of the page before' }]);
  }
  return { name, id };
}
