import { AppError, isUnavailable } from '#kernel/errors.ts';

type OnFree = () => void;

/**
 * Lets jobs over which a worker may have died run while no others run in this process. Were others running, they would be
 * blamed as well when one kills this worker, too. `onFree` is called once it is worth asking again; the same function stands
 * for the same runner.
 */
export class PoisonJobIsolation {
  #running = 0;
  #isApart = false;
  /** Caller that waits to run jobs apart. Meanwhile nobody else begins any; null when nobody waits. */
  #next: OnFree | null = null;
  readonly #blocked = new Set<OnFree>();

  /** Whether so many jobs may begin. `leave` has to be called for each. */
  enter(jobs: number, onFree: OnFree): boolean {
    if (this.#isApart || this.#isTaken(onFree)) return this.#block(onFree);
    this.#next = null;
    this.#running += jobs;
    return true;
  }

  /** Whether so many jobs may begin apart from all others. If not, no others begin before they may. */
  enterApart(jobs: number, onFree: OnFree): boolean {
    if (this.#running > 0 || this.#isTaken(onFree)) {
      this.#next ??= onFree;
      return this.#block(onFree);
    }
    this.#next = null;
    this.#running = jobs;
    this.#isApart = true;
    return true;
  }

  leave(jobs = 1): void {
    if (jobs === 0) return;
    this.#running -= jobs;
    if (this.#running > 0) return;
    this.#isApart = false;
    this.#tell();
  }

  /** Gives up waiting to run jobs apart. */
  cancel(onFree: OnFree): void {
    this.#blocked.delete(onFree);
    if (this.#next !== onFree) return;
    this.#next = null;
    this.#tell();
  }

  #isTaken(onFree: OnFree): boolean {
    return this.#next !== null && this.#next !== onFree;
  }

  #block(onFree: OnFree): false {
    this.#blocked.add(onFree);
    return false;
  }

  #tell(): void {
    const blocked = [...this.#blocked];
    this.#blocked.clear();
    for (const onFree of blocked) onFree();
  }
}

interface Faulty<Item> {
  readonly item: Item;
  readonly error: unknown;
}

/** Failures in a row, without a success, after which the items are not taken to be the cause. */
const FAULTS_IN_A_ROW_MAX = 16;
/** About a minute. An item that still fails while others succeed is given up. */
const ATTEMPTS_MAX = 10;

/**
 * Runs the work on smaller and smaller parts of the items, so that an item that fails does not block the others. Returns
 * the items that are given up: those whose content the stores reject, and those that still fail at the tenth attempt
 * while others succeed. In any other case it throws, and everything is to be tried again: the work must run safely twice.
 */
export async function isolateFaults<Item>(
  items: readonly Item[],
  attempt: number,
  work: (part: readonly Item[]) => Promise<void>,
): Promise<readonly Faulty<Item>[]> {
  const faulty: Faulty<Item>[] = [];
  let isAnyDone = false;
  const doPart = async (part: readonly Item[]): Promise<void> => {
    try {
      await work(part);
      isAnyDone = true;
    } catch (error) {
      if (isUnavailable(error)) throw error;
      if (part.length > 1) await halves(part);
      else faulty.push(...part.map((item) => ({ item, error })));
      if (!isAnyDone && faulty.length >= FAULTS_IN_A_ROW_MAX) throw error;
    }
  };
  const halves = async (part: readonly Item[]): Promise<void> => {
    const middle = Math.ceil(part.length / 2);
    await doPart(part.slice(0, middle));
    await doPart(part.slice(middle));
  };
  if (items.length > 0) await doPart(items);
  const doubtful = faulty.find(({ error }) => !isAboutContent(error));
  if (doubtful !== undefined && !(isAnyDone && attempt >= ATTEMPTS_MAX)) throw doubtful.error;
  return faulty;
}

/** PostgreSQL: data exceptions, nulls and checks. ClickHouse: values that it cannot parse or store. */
const CONTENT_CODES = /^(22[0-9A-Z]{3}|23502|23514)$/;
const CONTENT_TYPES =
  /^(CANNOT_(PARSE|READ|CONVERT)|INCORRECT_DATA|TYPE_MISMATCH|TOO_LARGE_|ARGUMENT_OUT_OF_BOUND|VALUE_IS_OUT)/;

function isAboutContent(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof AppError) return error.code === 'invalid_input';
  const { code, type } = error as { code?: unknown; type?: unknown };
  return (
    (typeof code === 'string' && CONTENT_CODES.test(code)) || (typeof type === 'string' && CONTENT_TYPES.test(type))
  );
}
