const DEPTH_MAX = 40;
/** Stands for what is nested more deeply. */
const TOO_DEEP = '…';

/** A value that fits, and about how many characters of JSON it takes. */
interface Shrunk {
  readonly value: unknown;
  readonly size: number;
}

/**
 * Returns a JSON value of about `sizeMax` characters at most: short values come before long ones, no value takes more than
 * half of the room that is left, and what finds no room is left out. A value that fits is returned as it is.
 */
export function shrinkJson(value: unknown, sizeMax: number): unknown {
  return shrink(value, sizeMax, 0).value;
}

function shrink(value: unknown, room: number, depth: number): Shrunk {
  if (typeof value === 'string') {
    const text = value.length + 2 <= room ? value : value.slice(0, Math.max(0, room - 2)).toWellFormed();
    return { value: text, size: text.length + 2 };
  }
  if (typeof value !== 'object' || value === null) return { value, size: 8 };
  if (depth >= DEPTH_MAX) return { value: TOO_DEEP, size: 4 };
  return Array.isArray(value) ? shrinkList(value, room, depth) : shrinkRecord({ ...value }, room, depth);
}

function shrinkList(list: readonly unknown[], room: number, depth: number): Shrunk {
  const kept: unknown[] = [];
  let size = 2;
  for (const item of list) {
    if (size >= room) break;
    const shrunk = shrink(item, shareOf(item, room - size), depth + 1);
    kept.push(shrunk.value);
    size += shrunk.size + 1;
  }
  return { value: kept, size };
}

function shrinkRecord(record: Readonly<Record<string, unknown>>, room: number, depth: number): Shrunk {
  const kept = new Map<string, unknown>();
  let size = 2;
  const entries = Object.entries(record);
  for (const isTurn of [isShort, (value: unknown) => !isShort(value)]) {
    for (const [name, value] of entries) {
      if (!isTurn(value)) continue;
      if (size + name.length >= room) break;
      const shrunk = shrink(value, shareOf(value, room - size - name.length), depth + 1);
      kept.set(name, shrunk.value);
      size += name.length + shrunk.size + 4;
    }
  }
  const inOrder = entries.filter(([name]) => kept.has(name)).map(([name]) => [name, kept.get(name)]);
  return { value: Object.fromEntries(inOrder) as unknown, size };
}

/** Returns a JSON value in which nothing is nested more than 40 deep, so that whatever reads or writes it may recurse. */
export function cutDepth(value: unknown): unknown {
  return isDeeperThan(value, DEPTH_MAX) ? cutBelow(value, DEPTH_MAX) : value;
}

function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((inner) => isDeeperThan(inner, levels - 1));
}

function cutBelow(value: unknown, levels: number): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (levels === 0) return TOO_DEEP;
  if (Array.isArray(value)) return value.map((inner) => cutBelow(inner, levels - 1));
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, cutBelow(inner, levels - 1)]));
}

const SHORT_LENGTH_MAX = 2_000;

function isShort(value: unknown): boolean {
  return typeof value === 'string' ? value.length <= SHORT_LENGTH_MAX : typeof value !== 'object' || value === null;
}

function shareOf(value: unknown, room: number): number {
  return isShort(value) ? room : Math.floor(room / 2);
}
