import { AppError, isUnavailable } from '#kernel/errors.ts';

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
