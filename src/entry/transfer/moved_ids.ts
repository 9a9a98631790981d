import { AppError } from '#kernel/errors.ts';
import { type Kind, KIND_NOUNS, newId } from '#kernel/ids.ts';

const ID = /\b([a-z]+)_[0-9a-hjkmnp-tv-z]{26}\b/g;

/** The ids that an export brings, and what they become where they are taken already. */
export class MovedIds {
  /** Of everything that the export has. */
  readonly own = new Set<string>();
  /** Named somewhere in it, by rows of its own or by what they hold. */
  readonly named = new Set<string>();
  /** Accounts of this installation that people of the export have. */
  readonly accounts = new Set<string>();
  readonly #moved = new Map<string, string>();

  /** The id that this one becomes. */
  to(id: string): string {
    return this.#moved.get(id) ?? id;
  }

  /** From now on `id` is another one: that which is given, or a new one of its kind. */
  move(id: string, to: string = newId(kindOf(id))): void {
    this.#moved.set(id, to);
  }

  /** Notes every id in the text. */
  note(text: string): void {
    for (const [id] of text.matchAll(ID)) this.named.add(id);
  }

  /** The text with every id in it that has moved, wherever it stands. */
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
