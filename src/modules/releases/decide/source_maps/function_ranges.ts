import { parse } from 'acorn';

/** Beginning and end of a function in the code that runs, lines and columns from 0, and its name in the source. */
export type FunctionRange = readonly [
  startLine: number,
  startColumn: number,
  endLine: number,
  endColumn: number,
  name: string | null,
];

/** A name as it stands in the code that runs. Keys of objects and classes keep theirs; others are made shorter. */
export interface WrittenName {
  readonly text: string;
  readonly line: number;
  readonly column: number;
  readonly isKey: boolean;
}

/** Limit on the size of code whose functions are named; larger code is mapped without their names. */
export const CODE_BYTES_MAX = 4 * 1024 * 1024;
const RANGES_MAX = 200_000;

type Syntax = Readonly<Record<string, unknown>> & {
  readonly type: string;
  readonly start: number;
  readonly end: number;
};

interface Found {
  readonly start: number;
  readonly end: number;
  readonly name: Syntax | null;
  readonly isKey: boolean;
}

/**
 * Finds the functions of a script or module, in the order in which they begin. `nameOf` gives the name in the source.
 * Empty for code that cannot be parsed.
 */
export function findFunctions(code: string, nameOf: (written: WrittenName) => string | null): FunctionRange[] {
  const program = parseCode(code);
  if (program === null) return [];
  const lineStarts = startsOfLines(code);
  const functions = collect(program).sort((a, b) => a.start - b.start || b.end - a.end);
  return functions.slice(0, RANGES_MAX).map(({ start, end, name, isKey }): FunctionRange => {
    const [startLine, startColumn] = placeOf(start, lineStarts);
    const [endLine, endColumn] = placeOf(end, lineStarts);
    return [startLine, startColumn, endLine, endColumn, name === null ? null : nameIn(name, isKey)];
  });

  function nameIn(name: Syntax, isKey: boolean): string | null {
    const [line, column] = placeOf(name.start, lineStarts);
    const text = name.type === 'Identifier' || name.type === 'PrivateIdentifier' ? name['name'] : name['value'];
    return typeof text === 'string' && text !== '' ? nameOf({ text: text.slice(0, 200), line, column, isKey }) : null;
  }
}

function parseCode(code: string): Syntax | null {
  for (const sourceType of ['module', 'script'] as const) {
    try {
      const program: unknown = parse(code, { ecmaVersion: 'latest', sourceType, allowHashBang: true });
      return isSyntax(program) ? program : null;
    } catch {
      // The code is not of this kind; the next is tried.
    }
  }
  return null;
}

function isSyntax(value: unknown): value is Syntax {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';
}

/** Collects functions without recursion: code may be nested as deep as the parser can follow. */
function collect(program: Syntax): Found[] {
  const functions: Found[] = [];
  const waiting: [node: Syntax, name: Syntax | null, isKey: boolean][] = [[program, null, false]];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const [node, name, isKey] = next;
    if (/Function/.test(node.type)) {
      const identifier = isSyntax(node['id']) ? node['id'] : null;
      functions.push({
        start: node.start,
        end: node.end,
        name: identifier ?? name,
        isKey: identifier === null && isKey,
      });
    }
    const named = namedBy(node);
    for (const value of Object.values(node)) {
      const children: readonly unknown[] = Array.isArray(value) ? value : [value];
      for (const child of children) {
        if (!isSyntax(child)) continue;
        if (child === named?.value) waiting.push([child, named.name, named.isKey]);
        else waiting.push([child, null, false]);
      }
    }
  }
  return functions;
}

/** Returns the name of a function from its position: `const pay = () => …`, `shop.pay = function …`, `{ pay() … }`. */
function namedBy(node: Syntax): { name: Syntax; value: unknown; isKey: boolean } | null {
  const [target, value] = partsOf(node);
  if (!isSyntax(target)) return null;
  if (target.type === 'MemberExpression') {
    const { property, computed } = target;
    return isSyntax(property) && computed !== true ? { name: property, value, isKey: true } : null;
  }
  const isName = /^(?:Private)?Identifier$|^Literal$/.test(target.type);
  const isKey = node.type === 'Property' || node.type.endsWith('Definition');
  return isName && node['computed'] !== true ? { name: target, value, isKey } : null;
}

function partsOf(node: Syntax): readonly [unknown, unknown] {
  switch (node.type) {
    case 'VariableDeclarator':
      return [node['id'], node['init']];
    case 'AssignmentExpression':
    case 'AssignmentPattern':
      return [node['left'], node['right']];
    case 'Property':
    case 'MethodDefinition':
    case 'PropertyDefinition':
      return [node['key'], node['value']];
    default:
      return [null, null];
  }
}

function startsOfLines(code: string): number[] {
  const starts = [0];
  for (let at = code.indexOf('\n'); at !== -1; at = code.indexOf('\n', at + 1)) starts.push(at + 1);
  return starts;
}

function placeOf(offset: number, starts: readonly number[]): readonly [line: number, column: number] {
  let [low, high] = [0, starts.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((starts[middle] ?? 0) <= offset) low = middle;
    else high = middle - 1;
  }
  return [low, offset - (starts[low] ?? 0)];
}
