import { hash } from 'node:crypto';

/** Statements that have names at a time: each has a plan of up to 100 kB on every connection that ran it. */
const NAMES_MAX = 150;
/** Runs after which a statement has earned a name, of the last `COUNTED_MAX` runs of statements without one. */
const RUNS_FOR_NAME = 25;
const COUNTED_MAX = 5_000;
/** Names of statements that differ only in the number of their parameters. */
const SAME_SHAPE_MAX = 4;

interface Named {
  readonly name: string;
  readonly shape: string;
  wasUsed: boolean;
}

interface Limits {
  readonly namesMax?: number;
  readonly runsForName?: number;
}

/**
 * Gives names to statements that run often. PostgreSQL parses and plans a statement with a name once a connection, and one
 * without a name each time, which for a query by key takes longer than to run it. A name follows from the text, so that it
 * means the same statement to every process, whatever lies between them and the server.
 */
export class StatementNames {
  readonly #namesMax: number;
  readonly #runsForName: number;
  readonly #named = new Map<string, Named>();
  readonly #namesOfShape = new Map<string, number>();
  readonly #runs = new Map<string, number>();
  #counted = 0;
  #generation = 0;
  #isOff = false;

  constructor({ namesMax = NAMES_MAX, runsForName = RUNS_FOR_NAME }: Limits = {}) {
    this.#namesMax = namesMax;
    this.#runsForName = runsForName;
  }

  /** Returns the name of this statement, which is about to run; null if it has none. */
  nameOf(text: string): string | null {
    const named = this.#named.get(text);
    if (named !== undefined) {
      named.wasUsed = true;
      return named.name;
    }
    return this.#isOff || !this.#hasEarnedName(text) ? null : this.#name(text);
  }

  /** Gives new names from now on: the server refuses to run what was planned for tables that have changed since. */
  renew(): void {
    this.#generation += 1;
    this.#forget();
  }

  /** Gives no names from now on: sessions are shared, and names with them. */
  turnOff(): void {
    this.#isOff = true;
    this.#forget();
  }

  #hasEarnedName(text: string): boolean {
    this.#counted += 1;
    if (this.#counted > COUNTED_MAX) {
      this.#runs.clear();
      this.#counted = 1;
    }
    const runs = (this.#runs.get(text) ?? 0) + 1;
    this.#runs.set(text, runs);
    return runs >= this.#runsForName;
  }

  #name(text: string): string | null {
    const shape = shapeOf(text);
    const alike = this.#namesOfShape.get(shape) ?? 0;
    if (alike >= SAME_SHAPE_MAX || (this.#named.size >= this.#namesMax && !this.#makeRoom())) return null;
    const name = `t${this.#generation}_${hash('sha256', text, 'hex').slice(0, 32)}`;
    this.#namesOfShape.set(shape, alike + 1);
    this.#named.set(text, { name, shape, wasUsed: true });
    this.#runs.delete(text);
    return name;
  }

  /** Takes the name of a statement that has not run since room was last needed; false if there is none. */
  #makeRoom(): boolean {
    let hasRoom = false;
    for (const [text, named] of this.#named) {
      if (!named.wasUsed && !hasRoom) {
        this.#named.delete(text);
        this.#namesOfShape.set(named.shape, (this.#namesOfShape.get(named.shape) ?? 1) - 1);
        hasRoom = true;
      }
      named.wasUsed = false;
    }
    // Statements earn a name anew.
    if (!hasRoom) this.#runs.clear();
    return hasRoom;
  }

  #forget(): void {
    this.#named.clear();
    this.#namesOfShape.clear();
    this.#runs.clear();
    this.#counted = 0;
  }
}

/** Returns the statement with lists of parameters, and lists of such lists, shortened to one. */
export function shapeOf(text: string): string {
  return text
    .replaceAll(/\$\d+/g, '$')
    .replaceAll(/\$(?:, ?\$)+/g, '$')
    .replaceAll(/\(\$\)(?:, ?\(\$\))+/g, '($)');
}
