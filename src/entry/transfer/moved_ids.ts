import { AppError } from '#kernel/errors.ts';
import { type Kind, KIND_NOUNS, newId } from '#kernel/ids.ts';

const ID = /\b([a-z]+)_[0-9a-hjkmnp-tv-z]{26}\b/g;

/** Ids of an export, and the new ids of those that are taken here. */
export class MovedIds {
  /** Ids of all rows in the export. */
  readonly own = new Set<string>();
  /** Ids named anywhere in the export, by its own rows or in their values. */
  readonly named = new Set<string>();
  /** Accounts of this installation that people of the export have. */
  readonly accounts = new Set<string>();
  readonly #moved = new Map<string, string>();

  /** Returns the new id of `id`, or `id` itself if it is kept. */
  to(id: string): string {
    return this.#moved.get(id) ?? id;
  }

  /** Replaces `id` by the given id, or by a new one of its kind. */
  move(id: string, to: string = newId(kindOf(id))): void {
    this.#moved.set(id, to);
  }

  note(text: string): void {
    for (const [id] of text.matchAll(ID)) this.named.add(id);
  }

  apply(text: string): string {
    return this.#moved.size === 0 ? text : text.replaceAll(ID, (id) => this.to(id));
  }
}

function kindOf(id: string): Kind {
  const kind = id.slice(0, id.lastIndexOf('_'));
  if (!isKind(kind)) throw new AppError('invalid_input', `the export has an id of an unknown kind, ${kind}`);
  return kind;
}

function isKind(text: string): text is Kind {
  return Object.hasOwn(KIND_NOUNS, text);
}
